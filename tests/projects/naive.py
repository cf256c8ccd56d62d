"""A project checked by dictionaries and loops, table by table."""

from __future__ import annotations

from collections import Counter, defaultdict

import pyarrow.csv
import pyarrow.parquet as pq


def rows_of(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    return pyarrow.csv.read_csv(path, convert_options=options).to_pylist()


def joins(child, column, parent, key):
    """The number of rows of a child that join, and of those that do not."""
    keys = {str(row[key]) for row in parent}
    found = [row[column] is not None and str(row[column]) in keys for row in child]
    return sum(found), len(found) - sum(found)


def fewest_alike(tables, person, key, quasi, linked):
    """The fewest people whose quasi-identifiers in all tables together look the same.

    linked: {table: (foreign key, quasi-identifiers)}. Who has no rows in a table fits everybody who
    is otherwise alike.
    """
    shown = defaultdict(dict)
    for row in tables[person]:
        shown[row[key]][person] = tuple(row[name] for name in quasi)
    for name, (foreign, columns) in linked.items():
        cells = defaultdict(set)
        for row in tables[name]:
            cells[row[foreign]].add(tuple(row[column] for column in columns))
        for who, values in cells.items():
            shown[who][name] = frozenset(values)
    fewest = len(shown)
    for mine in shown.values():
        alike = sum(
            all(mine[name] == other[name] for name in mine.keys() & other.keys())
            for other in shown.values()
        )
        fewest = min(fewest, alike)
    return fewest


def rows_per_person(table, column):
    return sorted(Counter(row[column] for row in table).values())
