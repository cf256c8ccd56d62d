# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: Glynn's sum of signed products, with what each factor leaves when it is taken out.

Many signs are worked on side by side, one in each lane. Four rows at a time lie together in one
flat array, LANES numbers each: what the lane's own signs add to the four row sums, the four sums
of products without that row, the products of all rows before and after, and the bound's part. So
all distances inside a loop are constants, and the compiler uses vectors without asking further.
"""

from __future__ import annotations

from shoal.support.compiling import njit

LANES = 32
LANE_COLUMNS = 5  # their signs differ from lane to lane
GROUP = 11 * LANES
STEPS = 10  # columns whose signs flip inside a chunk
_LEFT_OUT = 4 * LANES  # where in a group those begin: products without one row,
_BEFORE = 8 * LANES  # of the rows before the group,
_AFTER = 9 * LANES  # of those after it,
_BOUND = 10 * LANES  # and absolute products without two


@njit(cache=True, nogil=True, error_model="numpy")
def sum_chunks(first, last, matrix, offsets, work, base, signs, lane_signs, sums):
    """Sum over the signs of the chunks first … last − 1; each is a row of `sums`.

    matrix: (n, n), n the columns; the pair (i, i) is the one asked for.
    offsets: (groups, 4, LANES) what the lanes' signs add to the row sums.
    lane_signs: (1 + LANE_COLUMNS, LANES) the lanes' signs, their product first.
    work: (groups + 2, GROUP) room, flat; base: (4 groups,) and signs: (n,) likewise.
    sums: (chunks, 1 + n + groups) signed products, those without each row, the bound by group.
    """
    for chunk in range(first, last):
        sign = _start(chunk, matrix, offsets, work, base, signs)
        sign = _one_sign(work, base, sign)
        flipping = min(STEPS, len(matrix) - 1 - LANE_COLUMNS)
        for step in range(1, 1 << flipping):
            column, rest = 1 + LANE_COLUMNS, step
            while rest & 1 == 0:
                column += 1
                rest >>= 1
            _flip(column, matrix, work, base, signs)
            sign = _one_sign(work, base, -sign)
        _collect(work, signs, lane_signs, sums[chunk])


@njit(cache=True, nogil=True, error_model="numpy")
def _start(chunk, matrix, offsets, work, base, signs):
    """Lay out a chunk, whose number is the signs of the columns that it does not flip."""
    columns, groups = len(matrix), len(offsets)
    sign = 1.0
    signs[:] = 1.0
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
    """Turn a column's sign, and with it that of the sums without the row of its pair."""
    for i in range(len(matrix)):
        base[i] -= 2.0 * signs[column] * matrix[i, column]
    signs[column] = -signs[column]
    begin = (column // 4 + 1) * GROUP + _LEFT_OUT + column % 4 * LANES
    for lane in range(LANES):
        work[begin + lane] = -work[begin + lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _one_sign(work, base, sign):
    """Add the products at the signs as they stand; return their product."""
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
    """Multiply a group's row sums into the product before the next group."""
    for lane in range(LANES):
        one = (base0 + near[lane]) * (base1 + near[LANES + lane])
        two = (base2 + near[2 * LANES + lane]) * (base3 + near[3 * LANES + lane])
        near[GROUP + _BEFORE + lane] = near[_BEFORE + lane] * (one * two)


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(near, base0, base1, base2, base3):
    """Add the products without each row of a group, and multiply it into the one after."""
    for lane in range(LANES):
        row0 = base0 + near[GROUP + lane]
        row1 = base1 + near[GROUP + LANES + lane]
        row2 = base2 + near[GROUP + 2 * LANES + lane]
        row3 = base3 + near[GROUP + 3 * LANES + lane]
        one, two = row0 * row1, row2 * row3
        after = near[GROUP + _AFTER + lane]
        others = near[GROUP + _BEFORE + lane] * after
        near[_AFTER + lane] = after * (one * two)
        one *= others
        two *= others
        near[GROUP + _BOUND + lane] += abs(one) + abs(two)
        near[GROUP + _LEFT_OUT + lane] += two * row1
        near[GROUP + _LEFT_OUT + LANES + lane] += two * row0
        near[GROUP + _LEFT_OUT + 2 * LANES + lane] += one * row3
        near[GROUP + _LEFT_OUT + 3 * LANES + lane] += one * row2


@njit(cache=True, nogil=True, error_model="numpy")
def _collect(work, signs, lane_signs, sums):
    """Add up the lanes, each by its sign."""
    columns = len(signs)
    sums[:] = 0.0
    for lane in range(LANES):
        sums[0] += lane_signs[0, lane] * work[lane]
    for i in range(columns):
        begin = (i // 4 + 1) * GROUP + _LEFT_OUT + i % 4 * LANES
        for lane in range(LANES):
            own = lane_signs[i, lane] if 0 < i <= LANE_COLUMNS else signs[i]
            sums[1 + i] += lane_signs[0, lane] * own * work[begin + lane]
    for g in range(len(sums) - 1 - columns):
        begin = (g + 1) * GROUP + _BOUND
        for lane in range(LANES):
            sums[1 + columns + g] += work[begin + lane]
