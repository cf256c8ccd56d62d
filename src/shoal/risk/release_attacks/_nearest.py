# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the nearest released rows of people, and how many people fit a predicate.

    find_nearest   released rows lie in bins of one column; a person visits the bins in the order of
                   a lower bound of the distance, and stops when no bin can contain a nearer row
    count_people   people of the term that fits fewest are tried on all other terms, up to the
                   second person who fits

Distances are sums over columns of any kind.
"""

from __future__ import annotations

import numpy as np

from shoal.support.compiling import njit


@njit(cache=True)
def find_nearest(
    entries, offsets, ordered, low, high, blank, breadth, points, apart, begins, visits, bounds,
    changes, skips, slack, partial, priority, distances, rows,
):  # fmt: skip
    """Write the nearest rows of each person, nearest first.

    entries: (rows, columns) the cell of each released row, sorted by bin.
    offsets: (columns,) where the cells of a column start in the arrays of cells; for a nominal
        column, where they start in a row of `apart`.
    ordered: (columns,) whether the column has an order.
    low, high: (cells,) the ends of each cell of an ordered column in units of the distance, NaN if
        it stands for no number.
    blank: (cells,) whether the cell stands for a missing value, too.
    breadth: (rows,) a tiny cost of rows whose cells stand for many values.
    points: (people, columns) the value of each person in units of the distance, NaN if missing.
    apart: (people, nominal cells) 1 if the cell does not stand for the person's value, else 0.
    begins: (bins + 1,) the first row of each bin.
    visits: (people, bins) the bins in the order of their bounds.
    bounds: (people, bins) lower bounds of the distance, in the order of `visits`.
    changes: (rows,) the first column in which a row differs from the row before it; 0 in a new bin.
    skips: (rows, columns) the first later row that differs from a row in this column or one before.
    slack: how much farther than the nearest row another neighbour may be.
    partial: (columns + 1,) scratch: the distance of the visited row in the columns before each one.
    priority: (rows,) which of several equally near rows comes first: the least.
    distances, rows: (people, neighbours) results; a distance is infinite if there is no row.
    """
    columns = entries.shape[1]
    neighbours = distances.shape[1]
    partial[0] = 0.0
    for person in range(points.shape[0]):
        for turn in range(visits.shape[1]):
            farthest = min(distances[person, neighbours - 1], distances[person, 0] + slack)
            if bounds[person, turn] > farthest:
                break
            group = visits[person, turn]
            following = begins[group]
            while following < begins[group + 1]:
                row = following
                following += 1
                total = partial[changes[row]]  # the columns before are as in the last visited row
                for column in range(changes[row], columns):
                    cell = offsets[column] + entries[row, column]
                    if not ordered[column]:
                        total += apart[person, cell]
                    else:
                        point = points[person, column]
                        if np.isnan(point):
                            total += 0.0 if blank[cell] else 1.0
                        elif np.isnan(low[cell]):
                            total += 1.0
                        else:
                            gap = max(low[cell] - point, point - high[cell], 0.0)
                            total += min(gap, 1.0)
                    partial[column + 1] = total
                    if total > farthest:  # so are all rows that are equal so far
                        following = skips[row, column]
                        break
                if total > farthest:
                    continue
                total += breadth[row]
                # insertion into the sorted neighbours: not better than the last one, or moved up as
                # far as it is better; ties by priority
                last = neighbours - 1
                if total > distances[person, last] or (
                    total == distances[person, last]
                    and rows[person, last] >= 0
                    and priority[row] > priority[rows[person, last]]
                ):
                    continue
                while last > 0 and (
                    total < distances[person, last - 1]
                    or (
                        total == distances[person, last - 1]
                        and (
                            rows[person, last - 1] < 0
                            or priority[row] < priority[rows[person, last - 1]]
                        )
                    )
                ):
                    distances[person, last] = distances[person, last - 1]
                    rows[person, last] = rows[person, last - 1]
                    last -= 1
                distances[person, last] = total
                rows[person, last] = row
                farthest = min(distances[person, neighbours - 1], distances[person, 0] + slack)


@njit(cache=True)
def count_people(
    indptr, columns, first_run, last_run, starts, stops, begins, bases, by_code, codes, who, fits
):
    """Write the number of people who fit each predicate: 0, 1, or 2 for two or more.

    indptr: (predicates + 1,) the first term of each predicate; all its terms must hold.
    columns: (terms,) the column of each term.
    first_run, last_run: (terms,) the runs of codes of the term, the last one excluded.
    starts, stops: (runs,) the codes of a run, the last one excluded.
    begins: (codes of all columns in turn,) the position of the first row of a code in `by_code`.
    bases: (columns,) where the codes of a column start in `begins`.
    by_code: (columns, rows) the rows in the order of their codes.
    codes: (rows, columns) the values of each row.
    who: (rows,) the person of each row.
    fits: (predicates,) the result.
    """
    for predicate in range(len(indptr) - 1):
        # lead: the term that the fewest rows meet; only these rows are tried on the other terms
        lead, least = -1, codes.shape[0] + 1
        for term in range(indptr[predicate], indptr[predicate + 1]):
            base, covered = bases[columns[term]], 0
            for run in range(first_run[term], last_run[term]):
                covered += begins[base + stops[run]] - begins[base + starts[run]]
            if covered < least:
                lead, least = term, covered
        # person: the only one who fits so far; further rows of theirs do not count
        count, person = 0, -1
        base = bases[columns[lead]]
        for run in range(first_run[lead], last_run[lead]):
            for place in range(begins[base + starts[run]], begins[base + stops[run]]):
                row = by_code[columns[lead], place]
                inside = True
                for term in range(indptr[predicate], indptr[predicate + 1]):
                    if term == lead:
                        continue
                    code, inside = codes[row, columns[term]], False
                    for other in range(first_run[term], last_run[term]):
                        if starts[other] <= code < stops[other]:
                            inside = True
                            break
                    if not inside:
                        break
                if inside and count == 0:
                    count, person = 1, who[row]
                elif inside and who[row] != person:
                    count = 2
                    break
            if count == 2:
                break
        fits[predicate] = count
