"""The fingerprint of a schema follows from what is declared, and from nothing else."""

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal import Hierarchy, Table
from shoal.table.declared import schema_fingerprint

TOWNS = Hierarchy.from_rows([("a", "north", "*"), ("b", "north", "*"), ("c", "south", "*")])
ROLES = {
    "who": "identifier",
    "town": {"role": "quasi", "type": "text", "values": ["a", "b", "c"], "hierarchy": TOWNS},
    "age": {
        "role": "quasi", "type": "integer", "bounds": [0, 99], "hierarchy": {"intervals": [10, 20]},
    },
    "ill": {"role": "sensitive", "type": "text", "values": ["flu", "gout"]},
    "pay": {"role": "insensitive", "type": "integer", "bounds": [0, 9]},
}  # fmt: skip
ROWS = [("p", "a", 30, "flu", 3), ("q", "b", 41, "gout", 4)]


def table(rows=ROWS, person="who", **changed):
    cells = dict(zip(ROLES, zip(*rows, strict=True), strict=True))
    return Table.from_arrow(pa.table(cells), {**ROLES, **changed}, person=person)


people = st.tuples(
    st.sampled_from("pqrs"),
    st.sampled_from("abc"),
    st.integers(0, 99),
    st.sampled_from(["flu", "gout"]),
    st.integers(0, 9),
)


@examples(40)
@given(st.lists(people, min_size=1, max_size=8))
def test_records_do_not_change_it(rows):
    assert schema_fingerprint(table(rows)) == schema_fingerprint(table())
    assert schema_fingerprint(table(rows).take([0])) == schema_fingerprint(table())


TREE = Hierarchy.from_rows([("a", "north", "*"), ("b", "south", "*"), ("c", "south", "*")])


@pytest.mark.parametrize(
    "changed",
    [
        {"town": {**ROLES["town"], "role": "sensitive", "hierarchy": None}},
        {"town": {**ROLES["town"], "hierarchy": TREE}},
        {"town": {"role": "quasi", "type": "text", "values": ["a", "b", "c"]}},
        {"age": {**ROLES["age"], "bounds": [0, 120]}},
        {"age": {**ROLES["age"], "hierarchy": {"intervals": [5, 20]}}},
        {"ill": {**ROLES["ill"], "values": ["cold", "flu", "gout"]}},
        {"pay": {"role": "insensitive", "type": "float", "bounds": [0, 9]}},
        {"person": ()},
    ],
)
def test_every_declared_thing_changes_it(changed):
    assert schema_fingerprint(table(**changed)) != schema_fingerprint(table())


def test_so_does_a_name():
    renamed = replace(table()["ill"], name="illness")
    columns = tuple(renamed if c.name == "ill" else c for c in table())
    assert schema_fingerprint(Table(columns)) != schema_fingerprint(Table(table().columns))
