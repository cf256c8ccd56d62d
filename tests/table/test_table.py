from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.table.column import Column
from shoal.table.hierarchy import Hierarchy
from shoal.table.table import Table

DATA = {
    "name": ["Ada", "Bob", "Cyd"],
    "age": [30, None, 20],
    "city": ["Ghent", "Nice", None],
    "ill": ["flu", "flu", "cold"],
    "note": ["x", "y", "z"],
}
ROLES = {"name": "identifier", "age": "quasi", "city": "quasi", "ill": "sensitive"}


def pandas_frame():
    frame = pd.DataFrame(DATA)
    frame["city"] = frame["city"].astype("category")  # age is float with NaN
    frame.index = [7, 7, 3]  # rows go by position
    return frame


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(DATA),
        pa.table(DATA).to_reader(),
        pa.record_batch(DATA),
        pandas_frame(),
        pd.DataFrame(DATA).convert_dtypes(),
        pl.DataFrame(DATA),
        pl.DataFrame(DATA).with_columns(pl.col("city").cast(pl.Categorical)),
        pl.concat([pl.DataFrame(DATA)[:1], pl.DataFrame(DATA)[1:]], rechunk=False),
    ],
    ids=lambda frame: type(frame).__module__.split(".")[0] + type(frame).__name__,
)
def test_any_frame_makes_the_same_table(frame):
    table = Table.from_arrow(frame, ROLES)
    assert [c.name for c in table] == ["name", "age", "city", "ill"]
    assert table["age"].labels == ("20", "30", None)
    assert table["age"].codes.tolist() == [1, 2, 0]
    assert table["city"].labels == ("Ghent", "Nice", None)
    assert table["ill"].to_arrow().to_pylist() == DATA["ill"]
    assert table.unassigned == ("note",)
    assert (table.quasi, table.sensitive) == (("age", "city"), ("ill",))
    assert (len(table), table.records) == (3, 3)


def test_repr_tells_names_and_counts_only():
    told = repr(Table.from_arrow(pa.table(DATA), ROLES))
    assert told == ("Table(rows=3, identifier=['name'], quasi=['age', 'city'], sensitive=['ill'])")


@pytest.mark.parametrize(
    "frame",
    [
        pa.table([[1], [2]], names=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
    ],
    ids=["pyarrow", "pandas"],
)
def test_a_name_that_occurs_twice_is_refused(frame):
    with pytest.raises(InputError, match="column 'a' occurs more than once"):
        Table.from_arrow(frame, {"a": "quasi"})


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({}, "no column has a role"),
        ({"agee": "quasi"}, "column 'agee' is given a role but not in the data"),
        ({"AGE": "quasi"}, r"not in the data \(did you mean 'age'\?\); is its header line"),
        ({"AGE": "quasi", "city": "quasi"}, r"did you mean .age.\?\): name, age, "),
        ({"age": "shy"}, "column 'age': role 'shy' is not one of identifier, quasi"),
        ({"age": {"kind": "numeric"}}, "column 'age': no role"),
        ({"age": {"role": "quasi", "kind": "round"}}, "column 'age': kind 'round' is not one of"),
        ({"age": {"role": "quasi", "colour": 1}}, "column 'age': unknown option 'colour'"),
    ],
)
def test_roles_that_do_not_fit_are_refused(roles, message):
    with pytest.raises(InputError, match=message):
        Table.from_arrow(pa.table(DATA), roles)


def test_hierarchies_go_to_columns_with_a_role():
    tree = Hierarchy.from_rows([("Ghent", "*"), ("Nice", "*")])
    table = Table.from_arrow(pa.table(DATA), {"city": "quasi"}, {"city": tree})
    assert table["city"].hierarchy.height == 1
    with pytest.raises(InputError, match="column 'note' has a hierarchy but no role"):
        Table.from_arrow(pa.table(DATA), {"city": "quasi"}, {"note": tree})
    with pytest.raises(InputError, match="column 'town' is given a hierarchy but not in the data"):
        Table.from_arrow(pa.table(DATA), {"city": "quasi"}, {"town": tree})


def test_what_is_no_frame_is_refused():
    with pytest.raises(InputError, match="cannot read a table from dict"):
        Table.from_arrow(DATA, ROLES)


def test_a_frame_of_mixed_cells_is_refused_without_quoting_them():
    with pytest.raises(InputError, match="mixes types") as caught:
        Table.from_arrow(pd.DataFrame({"a": [1, "secret"]}), {"a": "quasi"})
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_columns_must_be_of_one_length():
    with pytest.raises(InputError, match="differ in length"):
        Table((Column.encode("a", [1]), Column.encode("b", [1, 2])))


@pytest.mark.parametrize("counts", [[1, 2], [1, 0, 1], [1, -1, 1], [1.5, 1.0, 1.0]])
def test_counts_are_whole_and_one_for_each_row(counts):
    with pytest.raises(InputError, match="a weighted table needs one whole count"):
        Table.from_arrow(pa.table(DATA), ROLES, counts=counts)


def test_counts_are_records():
    table = Table.from_arrow(pa.table(DATA), ROLES, counts=[2, 3, 4])
    assert (len(table), table.records) == (3, 9)
    assert table.shares("ill").tolist() == [4 / 9, 5 / 9]
    assert table.take(np.array([2, 0])).records == 6


def test_an_unknown_column_is_named_with_those_that_are_there():
    table = Table.from_arrow(pa.table(DATA), ROLES)
    with pytest.raises(InputError, match="no column 'zip' with a role; there are name, age"):
        table["zip"]
    assert "age" in table
    assert "zip" not in table


def test_a_column_is_replaced_by_name():
    table = Table.from_arrow(pa.table(DATA), ROLES)
    changed = table.with_column(Column.encode("age", [1, 2, 3]))
    assert changed["age"].labels == ("1", "2", "3")
    assert changed.quasi == table.quasi
    with pytest.raises(InputError, match="no column 'zip'"):
        table.with_column(Column.encode("zip", [1, 2, 3]))


def test_its_owner_gets_back_what_was_read():
    roles = dict.fromkeys(DATA, "insensitive") | ROLES
    assert Table.from_arrow(pa.table(DATA), roles).to_arrow().to_pydict() == DATA


def test_a_table_may_hold_no_rows():
    table = Table.from_arrow(pa.table(DATA).slice(0, 0), ROLES)
    assert (len(table), table.records) == (0, 0)
    assert table.shares("ill").tolist() == []
    assert len(table.distinct()) == 0


def test_many_columns_of_large_domains_are_told_apart():
    # 12 columns of 1,000 values: keys of 120 bits
    numbers = np.random.default_rng(1).integers(0, 1000, (12, 1000))
    numbers[:, ::2] = numbers[:, 1::2]  # each row twice
    numbers[-1, 0] += 1  # but one
    data = {f"c{j}": [*row.tolist(), *range(1001)] for j, row in enumerate(numbers)}
    table = Table.from_arrow(pa.table(data), dict.fromkeys(data, "quasi"))
    assert len(table.distinct()) == len(set(zip(*data.values(), strict=True)))


cells = st.tuples(
    st.none() | st.integers(0, 2), st.none() | st.sampled_from("ab"), st.sampled_from("xy")
)


@given(st.lists(st.tuples(cells, st.integers(1, 3)), max_size=20))
def test_distinct_tuples_are_those_of_a_counter(rows):
    columns = list(zip(*(row for row, _ in rows), strict=True)) or [(), (), ()]
    kinds = [pa.int64(), pa.string(), pa.string()]
    arrays = [pa.array(c, kind) for c, kind in zip(columns, kinds, strict=True)]
    data = pa.table(arrays, names=["a", "b", "s"])
    table = Table.from_arrow(
        data, {"a": "quasi", "b": "quasi", "s": "sensitive"}, counts=[n for _, n in rows]
    )
    for also, width in (((), 2), (("s",), 3)):
        expected = Counter()
        for row, n in rows:
            expected[row[:width]] += n
        distinct = table.distinct(*also)
        assert table.distinct(*also) is distinct  # computed once
        arrow = distinct.table.to_arrow()
        tuples = [tuple(row.values()) for row in arrow.to_pylist()]
        assert dict(zip(tuples, distinct.table.counts.tolist(), strict=True)) == expected
        assert [tuples[i] for i in distinct.inverse] == [row[:width] for row, _ in rows]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 2**31 - 1], pa.date32()),
        pa.array([-(2**31), None], pa.date32()),
        pa.array([2**62, 0], pa.timestamp("us")),
        pa.array([0, 1], pa.timestamp("us", "Nowhere/Atall")),
        pa.array([0, 2**31 - 1], pa.date32()).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_times_outside_the_calendar_are_refused_where_they_are_studied(column):
    data = pa.table({"seen": column})
    for role in ("quasi", "sensitive"):
        with pytest.raises(InputError, match="column 'seen': holds times outside the years"):
            Table.from_arrow(data, {"seen": role})
    assert len(Table.from_arrow(data, {"seen": "insensitive"})) == 2
