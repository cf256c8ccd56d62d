# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the sets of columns on which rows are unique, and the minimal ones among them.

Sets are visited depth first; a set extends the set without its last column. A row that is unique on
a set is unique on every extension of it, so it leaves the search there, and the groups of the other
rows do not contain it.
"""

from __future__ import annotations

from shoal.support.compiling import njit


@njit(cache=True, nogil=True)
def split_groups(
    codes, person, several, rows, starts, groups, blank, count, owner, mixed, place, touched,
    finer_rows, finer_starts, fresh,
):  # fmt: skip
    """Split groups of rows by one column; return the number of groups with several people.

    codes: (table rows,) the values of the column.
    person: (table rows,) the person of each row.
    several: (table rows,) whether the row stands for several people.
    rows: the rows of all groups, those of one group next to each other.
    starts: (groups + 1,) where the rows of each group begin in `rows`.
    blank: the code of the missing value if rows without a value are left out, else −1.
    count, owner, mixed, place: (domain,) scratch: of the rows of a group with a value, the number,
        the first person, whether there are several people, and the next position in `finer_rows`,
        −1 if there is only one person. `count` is 0 everywhere on entry and on return.
    touched: (domain,) scratch: the values that occur in a group.
    finer_rows, finer_starts: results, as `rows` and `starts`.
    fresh: (words,) result: a bit is set for each row that is unique on the set and was in a group.
    """
    finer, end = 0, 0
    for group in range(groups):
        begin, stop = starts[group], starts[group + 1]
        used = 0
        # count the values of the group; touched[:used] are those that occurred
        for i in range(begin, stop):
            row = rows[i]
            code = codes[row]
            if count[code] == 0:
                touched[used] = code
                used += 1
                owner[code] = person[row]
                mixed[code] = several[row]
            elif owner[code] != person[row] or several[row]:
                mixed[code] = True
            count[code] += 1
        # values of several people become the next groups; place: where their first row goes
        for i in range(used):
            code = touched[i]
            place[code] = -1
            if mixed[code] and code != blank:
                place[code] = end
                finer_starts[finer] = end
                finer += 1
                end += count[code]
        # a counting sort by value; rows of a single person leave the search and set their bit
        for i in range(begin, stop):
            row = rows[i]
            code = codes[row]
            if place[code] >= 0:
                finer_rows[place[code]] = row
                place[code] += 1
            elif code != blank:
                fresh[row >> 6] |= 1 << (row & 63)
        for i in range(used):
            count[touched[i]] = 0
    finer_starts[finer] = end
    return finer


@njit(cache=True, nogil=True)
def find_uniques(
    codes, person, several, blanks, sizes_below, first, second, number, rows, starts, groups, path,
    numbers, count, owner, mixed, place, touched, spare, fresh,
):  # fmt: skip
    """Mark the rows that become unique on each set that begins with one or two given columns.

    codes: (columns, table rows) the values.
    blanks: (columns,) the code of missing values that are left out, −1 if none is.
    sizes_below: (columns, depths) number of sets in the subtree of a set whose last column is the
        index, with so many columns still to be added, itself included.
    first, second: the first two columns of the sets; with −1 for the second, only the set of the
        first column is visited.
    number: the number of the set of the first column; sets are numbered depth first.
    rows, starts: (depths, …) the groups at each depth; depth 0 has one group of all rows.
    groups: (depths,) the number of groups at each depth.
    path: (depths,) the column last tried at each depth.
    numbers: (depths,) the number of the next set at each depth.
    spare: (words,) scratch: takes the result of a set that another call visits.
    fresh: (sets, words) result, see `split_groups`.
    """
    columns, most = codes.shape[0], rows.shape[0] - 1
    only = second < 0
    groups[1] = split_groups(
        codes[first], person, several, rows[0], starts[0], groups[0], blanks[first], count, owner,
        mixed, place, touched, rows[1], starts[1], fresh[number] if only else spare,
    )  # fmt: skip
    if only or most < 2 or groups[1] == 0:
        return
    depth = 1
    path[1] = second - 1
    numbers[1] = number + 1
    for column in range(first + 1, second):
        numbers[1] += sizes_below[column, most - 2]
    # depth first: path[1 … depth] are the columns of the current set behind the first one; going
    # deeper adds columns to the right of the last, and groups at each depth are kept for going back
    while depth:
        column = path[depth] + 1
        if column == columns or (depth == 1 and column > second):
            depth -= 1
            continue
        path[depth] = column
        here = numbers[depth]
        numbers[depth] += sizes_below[column, most - depth - 1]
        groups[depth + 1] = split_groups(
            codes[column], person, several, rows[depth], starts[depth], groups[depth],
            blanks[column], count, owner, mixed, place, touched, rows[depth + 1],
            starts[depth + 1], fresh[here],
        )  # fmt: skip
        if depth + 1 < most and groups[depth + 1]:
            depth += 1
            path[depth] = column
            numbers[depth] = here + 1


@njit(cache=True, nogil=True)
def score_rows(
    unique, parents, subsets, members, sizes, points, begin, end, scores, contributions, found
):
    """Add up the scores of the rows whose bits are in some words.

    unique: (sets, words) the rows that become unique on each set; on return all unique rows.
    parents: (sets,) the set without the last column, −1 for a set of one column.
    subsets: (sets, columns of a set) the sets without one column, −1 where there is none.
    members: (sets, columns of a set) the columns of each set.
    sizes: (sets,) the number of columns of each set.
    points: (sizes + 1,) the score of a minimal set by its size.
    begin, end: the first word, and the one behind the last.
    scores: (rows,) result.
    contributions: (rows, columns) result: the score of the minimal sets with the column.
    found: (rows, sizes) result: the number of minimal sets of each size.
    """
    for number in range(len(parents)):  # a parent comes before its extensions
        if parents[number] >= 0:
            for word in range(begin, end):
                unique[number, word] |= unique[parents[number], word]
    for number in range(len(parents)):
        size = sizes[number]
        # minimal: unique on the set, and on none of the sets without one of its columns
        for word in range(begin, end):
            bits = unique[number, word]
            if size > 1:
                for i in range(size):
                    bits &= ~unique[subsets[number, i], word]
            row = word << 6
            while bits:
                if bits & 1:
                    scores[row] += points[size]
                    found[row, size - 1] += 1
                    for i in range(size):
                        contributions[row, members[number, i]] += points[size]
                bits = (bits >> 1) & 0x7FFFFFFFFFFFFFFF  # int64: the sign bit must not stay
                row += 1
