# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: how many people fit a predicate; it stops at the second."""

from __future__ import annotations

from shoal.support.compiling import njit


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
        lead, least = -1, codes.shape[0] + 1
        for term in range(indptr[predicate], indptr[predicate + 1]):
            base, covered = bases[columns[term]], 0
            for run in range(first_run[term], last_run[term]):
                covered += begins[base + stops[run]] - begins[base + starts[run]]
            if covered < least:
                lead, least = term, covered
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
