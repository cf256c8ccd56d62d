# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels of permanents: Glynn's signs, Ryser's subsets, and sets of columns.

    sum_chunks    Glynn: signed products over the signs of all columns but the first, and the same
                  sums without each row. The signs of LANE_COLUMNS columns differ from lane to lane,
                  those of STEPS columns flip inside a chunk in the order of a Gray code, and the
                  remaining signs are the bits of the number of the chunk
    sum_subsets   Ryser: zeros and ones, in integers modulo 2⁶⁴, over all subsets of columns. Those
                  of the first LANE_COLUMNS columns differ from lane to lane; those of the later
                  columns follow a Gray code, which changes one column at a time
    fill, empty   weights of matchings of the first rows with each set of columns. A set is an
                  integer whose bits are its members; sets of m columns are matched with the first m
                  rows

Memory layout of `work` in Glynn's sum: one flat array of (groups + 2) blocks of GROUP = 11 · LANES
numbers. Rows come in groups of four; group g has block g + 1, the first and last block are borders.
A block has eleven fields of LANES numbers, one for each lane:

    0–3   what the lane's own signs add to the sum of each of the four rows (constant in a chunk)
    4–7   _LEFT_OUT: sums of products without that row, for each of the four rows (accumulated)
    8     _BEFORE: product of the sums of all rows before the group
    9     _AFTER: product of the sums of all rows after the group, times the sign
    10    _BOUND: sum of absolute products without two rows (accumulated)

The first block's field 0 accumulates the signed products of all rows. All distances inside a loop
over lanes are constants, so that the compiler vectorizes it without checks for overlap.
"""

from __future__ import annotations

import numpy as np

from shoal.support.compiling import njit

LANES = 32
LANE_COLUMNS = 5  # their signs differ from lane to lane
GROUP = 11 * LANES
STEPS = 10  # columns whose signs flip inside a chunk
_LEFT_OUT = 4 * LANES  # fields of a block, see above
_BEFORE = 8 * LANES
_AFTER = 9 * LANES
_BOUND = 10 * LANES


@njit(cache=True, nogil=True, error_model="numpy")
def sum_chunks(first, last, matrix, offsets, work, base, signs, lane_signs, sums):
    """Sum over the signs of the chunks first … last − 1; each is a row of `sums`.

    matrix: (n, n) the weights; the true pairs are (i, i).
    offsets: (groups, 4, LANES) what the lanes' signs add to the row sums.
    lane_signs: (1 + LANE_COLUMNS, LANES) the product of the lane's signs, then the signs.
    work: ((groups + 2) · GROUP,) scratch, laid out as above.
    base: (4 · groups,) scratch: the sum of each row over the columns that lanes share, with the
        current signs; 1 for rows that only fill the last group.
    signs: (n,) scratch: the current sign of each column.
    sums: (chunks, 1 + n + groups) written: the signed products, those without each row, and the
        bound by group.
    Invariant: before each step `base` and `signs` are those of the Gray code of step − 1, `sign` is
    the product of the signs that lanes share, and `work` has the sums of all steps so far.
    """
    for chunk in range(first, last):
        sign = _start(chunk, matrix, offsets, work, base, signs)
        sign = _one_sign(work, base, sign)
        flipping = min(STEPS, len(matrix) - 1 - LANE_COLUMNS)
        for step in range(1, 1 << flipping):
            # Gray code: the bit that flips at a step is the lowest set bit of the step's number
            column, rest = 1 + LANE_COLUMNS, step
            while rest & 1 == 0:
                column += 1
                rest >>= 1
            _flip(column, matrix, work, base, signs)
            sign = _one_sign(work, base, -sign)
        _collect(work, signs, lane_signs, sums[chunk])


@njit(cache=True, nogil=True, error_model="numpy")
def _start(chunk, matrix, offsets, work, base, signs):
    """Set all scratch arrays to the first signs of a chunk; return the product of the signs."""
    columns, groups = len(matrix), len(offsets)
    sign = 1.0
    signs[:] = 1.0
    # the last columns: neither flipped inside a chunk nor different from lane to lane
    for bit in range(columns - 1 - LANE_COLUMNS - STEPS):
        if chunk >> bit & 1:
            signs[columns - 1 - bit] = -1.0
            sign = -sign
    base[:] = 1.0  # rows that only fill the last group
    for i in range(columns):
        base[i] = matrix[i, 0]
        for j in range(1 + LANE_COLUMNS, columns):
            base[i] += signs[j] * matrix[i, j]
    work[:] = 0.0
    for g in range(groups):
        for r in range(4):
            for lane in range(LANES):
                work[(g + 1) * GROUP + r * LANES + lane] = offsets[g, r, lane]
    work[GROUP + _BEFORE : GROUP + _BEFORE + LANES] = 1.0
    return sign


@njit(cache=True, nogil=True, error_model="numpy")
def _flip(column, matrix, work, base, signs):
    """Flip the sign of a column, and that of the sums without the row of its true pair.

    Those sums are kept relative to the current sign of their column; `_collect` multiplies it in.
    """
    # exact: entries are multiples of 2⁻⁵² and row sums at most 1, so nothing is ever rounded here
    for i in range(len(matrix)):
        base[i] -= 2.0 * signs[column] * matrix[i, column]
    signs[column] = -signs[column]
    begin = (column // 4 + 1) * GROUP + _LEFT_OUT + column % 4 * LANES
    for lane in range(LANES):
        work[begin + lane] = -work[begin + lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _one_sign(work, base, sign):
    """Add the products at the current signs; return the product of the signs.

    Forward, then backward: _BEFORE of each block is final when its group is reached from the end.
    """
    groups = len(base) // 4
    for g in range(groups):
        near = work[(g + 1) * GROUP : (g + 3) * GROUP]
        _forward(near, base[4 * g], base[4 * g + 1], base[4 * g + 2], base[4 * g + 3])
    begin = groups * GROUP + _AFTER
    for lane in range(LANES):
        work[begin + lane] = sign
    for back in range(groups):
        g = groups - 1 - back
        near = work[g * GROUP : (g + 2) * GROUP]
        _backward(near, base[4 * g], base[4 * g + 1], base[4 * g + 2], base[4 * g + 3])
    for lane in range(LANES):
        work[lane] += work[_AFTER + lane]
    return sign


@njit(cache=True, nogil=True, error_model="numpy")
def _forward(near, base0, base1, base2, base3):
    """Multiply the row sums of a group into _BEFORE of the next block.

    near: the block of the group and the one after it.
    """
    for lane in range(LANES):
        one = (base0 + near[lane]) * (base1 + near[LANES + lane])
        two = (base2 + near[2 * LANES + lane]) * (base3 + near[3 * LANES + lane])
        near[GROUP + _BEFORE + lane] = near[_BEFORE + lane] * (one * two)


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(near, base0, base1, base2, base3):
    """Add the products without each row of a group, and multiply the group into _AFTER before it.

    near: the block before that of the group, and that of the group.
    """
    for lane in range(LANES):
        row0 = base0 + near[GROUP + lane]
        row1 = base1 + near[GROUP + LANES + lane]
        row2 = base2 + near[GROUP + 2 * LANES + lane]
        row3 = base3 + near[GROUP + 3 * LANES + lane]
        one, two = row0 * row1, row2 * row3
        after = near[GROUP + _AFTER + lane]
        others = near[GROUP + _BEFORE + lane] * after
        near[_AFTER + lane] = after * (one * two)
        # from here on: two rows of the group, times all rows outside it
        one *= others
        two *= others
        near[GROUP + _BOUND + lane] += abs(one) + abs(two)
        near[GROUP + _LEFT_OUT + lane] += two * row1
        near[GROUP + _LEFT_OUT + LANES + lane] += two * row0
        near[GROUP + _LEFT_OUT + 2 * LANES + lane] += one * row3
        near[GROUP + _LEFT_OUT + 3 * LANES + lane] += one * row2


@njit(cache=True, nogil=True, error_model="numpy")
def _collect(work, signs, lane_signs, sums):
    """Add up the lanes with their signs, into one row of the sums of `sum_chunks`."""
    columns = len(signs)
    sums[:] = 0.0
    for lane in range(LANES):
        sums[0] += lane_signs[0, lane] * work[lane]
    for i in range(columns):
        begin = (i // 4 + 1) * GROUP + _LEFT_OUT + i % 4 * LANES
        # without row i goes without the sign of column i: both belong to the pair (i, i)
        for lane in range(LANES):
            own = lane_signs[i, lane] if 0 < i <= LANE_COLUMNS else signs[i]
            sums[1 + i] += lane_signs[0, lane] * own * work[begin + lane]
    for g in range(len(sums) - 1 - columns):
        begin = (g + 1) * GROUP + _BOUND
        for lane in range(LANES):
            sums[1 + columns + g] += work[begin + lane]


_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def sum_subsets(first, last, matrix, offsets, base, sums):
    """Return the sum over the subsets first … last − 1 of the later columns, over all lanes.

    matrix: (rows, n) uint64 of zeros and ones; rows is n, rounded up to a multiple of four.
    offsets: (rows · LANES,) row by row, what the columns of each lane add to the sum of the row.
    base: (rows,) scratch: the sum of each row over the later columns of the current subset; 1 for
        rows that only fill up.
    sums: (2 · LANES,) scratch: the products of the current subset, then the signed sums of lanes.
    Invariant: before each subset but the first `base` is that of the Gray code of subset − 1, and
    sums[LANES:] has the products of all earlier subsets, each with the sign of its later columns.
    """
    total = np.uint64(0)
    rows, columns = matrix.shape
    for row in range(rows):
        base[row] = np.uint64(0) if row < columns else _ONE
    # start from the Gray code of the first subset; each later one changes a single column
    before = first ^ (first >> 1)
    for j in range(LANE_COLUMNS, columns):
        if before >> (j - LANE_COLUMNS) & 1:
            for row in range(columns):
                base[row] += matrix[row, j]
    for lane in range(2 * LANES):
        sums[lane] = np.uint64(0)
    for subset in range(first, last):
        odd = subset & 1
        gray = subset ^ (subset >> 1)
        if subset > first:
            changed, rest = LANE_COLUMNS, subset
            while rest & 1 == 0:
                changed += 1
                rest >>= 1
            for row in range(columns):
                if gray >> (changed - LANE_COLUMNS) & 1:
                    base[row] += matrix[row, changed]
                else:
                    base[row] -= matrix[row, changed]
        for lane in range(LANES):
            sums[lane] = _ONE
        for r in range(0, rows, 4):
            near = offsets[r * LANES : (r + 4) * LANES]
            _multiply(near, base[r], base[r + 1], base[r + 2], base[r + 3], sums)
        for lane in range(LANES):
            if odd:
                sums[LANES + lane] -= sums[lane]
            else:
                sums[LANES + lane] += sums[lane]
    for lane in range(LANES):
        total += sums[LANES + lane] * _sign(lane)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply(near, base0, base1, base2, base3, sums):
    """Multiply the sums of four rows into the product of each lane; near: (4 · LANES,) offsets."""
    for lane in range(LANES):
        one = (base0 + near[lane]) * (base1 + near[LANES + lane])
        two = (base2 + near[2 * LANES + lane]) * (base3 + near[3 * LANES + lane])
        sums[lane] *= one * two


@njit(cache=True, nogil=True, error_model="numpy")
def _sign(subset):
    """Return 1 for an even number of members, −1 modulo 2⁶⁴ for an odd one."""
    sign = _ONE
    while subset:
        sign = np.uint64(0) - sign
        subset &= subset - 1
    return sign


@njit(cache=True, nogil=True, error_model="numpy")
def fill(matrix, ways):
    """Write, for each set of columns, the sum of the weights of its matchings with the first rows.

    matrix: (n, n). ways: (2ⁿ,) written. Subsets of a set have smaller numbers, so that ways[s] is
    final for all s below `chosen`.
    """
    ways[0] = 1.0
    for chosen in range(1, len(ways)):
        # the last of the first m rows takes each member in turn, the others have the rest
        row = _members(chosen) - 1
        total, rest = 0.0, chosen
        while rest:
            bit = rest & -rest
            total += matrix[row, _place(bit)] * ways[chosen ^ bit]
            rest ^= bit
        ways[chosen] = total


@njit(cache=True, nogil=True, error_model="numpy")
def empty(matrix, ways, shares):
    """Add the weight of all matchings through each pair to `shares`.

    matrix: (n, n). ways: (2ⁿ,) from `fill`, replaced. shares: (n, n) added to.
    Invariant: for sets above `chosen`, ways[s] is the weight of matching the remaining rows with
    the remaining columns; for the others it is still that of `fill`.
    """
    ways[len(ways) - 1] = 1.0
    for step in range(1, len(ways)):
        chosen = len(ways) - 1 - step
        row = _members(chosen)
        # the row after the first m takes each column outside the set in turn
        total, rest = 0.0, ~chosen & (len(ways) - 1)
        here = ways[chosen]
        while rest:
            bit = rest & -rest
            column = _place(bit)
            through = matrix[row, column] * ways[chosen | bit]
            total += through
            shares[row, column] += here * through
            rest ^= bit
        ways[chosen] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _members(chosen):
    """Return the number of bits that are set."""
    count = np.int64(0)
    while chosen:
        chosen &= chosen - 1
        count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _place(bit):
    """Return the position of the only set bit; the compiler replaces the loop by an instruction."""
    left, place = np.uint64(bit), np.int64(-1)
    while left:
        left >>= np.uint64(1)
        place += 1
    return place
