from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.table.column import Column, Kind, Role
from shoal.table.hierarchy import Hierarchy


def test_missing_has_the_last_code():
    column = Column.encode("age", [30, None, 20, 30])
    assert column.codes.tolist() == [1, 2, 0, 1]
    assert column.labels == ("20", "30", None)
    assert (column.domain, column.known, column.missing) == (3, 2, 2)
    assert column.positions[:2].tolist() == [20, 30]
    assert np.isnan(column.positions[2])
    assert column.extent == (20, 30)


def test_a_column_without_missing_values_has_no_code_for_them():
    column = Column.encode("age", [30, 20])
    assert (column.domain, column.known, column.missing) == (2, 2, None)


@pytest.mark.parametrize("kind", [None, "nominal", "numeric", "ordinal"])
def test_a_column_may_hold_nothing_but_missing_values(kind):
    order = [] if kind == "ordinal" else None
    column = Column.encode("age", [None, None], kind=kind, order=order)
    assert (column.domain, column.known, column.missing) == (1, 0, 0)
    assert column.codes.tolist() == [0, 0]
    assert column.extent == (0, 0)
    assert np.isnan(column.positions).all()


def test_a_column_may_hold_no_rows():
    column = Column.encode("age", pa.array([], pa.int64()))
    assert (len(column), column.domain, column.known, column.missing) == (0, 0, 0, None)
    assert column.extent == (0, 0)
    assert column.to_arrow().to_pylist() == []


@pytest.mark.parametrize(
    ("cells", "kind"),
    [([1, 2], Kind.NUMERIC), (["a"], Kind.NOMINAL), ([True], Kind.NOMINAL)],
)
def test_kind_follows_from_the_values(cells, kind):
    assert Column.encode("c", cells).kind is kind


def test_an_order_makes_a_column_ordinal():
    column = Column.encode("stage", ["mid", "low", None, "high"], order=["low", "mid", "high"])
    assert column.kind is Kind.ORDINAL
    assert column.labels == ("low", "mid", "high", None)
    assert column.codes.tolist() == [1, 0, 3, 2]
    assert column.positions[:3].tolist() == [0, 1, 2]
    assert column.extent == (0, 2)


@pytest.mark.parametrize(
    ("cells", "order", "labels"),
    [
        ([1.0, 2.5], [2.5, 1.0], ("2.5", "1")),
        ([True, False], [True, False], ("true", "false")),
        ([1, 2], ["2", 7, 1], ("2", "1")),  # values that do not occur are passed over
    ],
)
def test_an_order_may_be_written_as_values(cells, order, labels):
    assert Column.encode("c", cells, order=order).labels == labels


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": ["a"]}, "leaves out 1 of 2 values"),
        ({"order": ["a", "b", "a"]}, "names a value twice"),
        ({"order": ["a", "b"], "kind": "nominal"}, "order needs kind ordinal"),
        ({"kind": "ordinal"}, "needs its order"),
        ({"kind": "numeric"}, "kind numeric, but"),
        ({"bounds": (0, 1)}, "bounds need kind numeric"),
        ({"weight": -1}, "weight must be from 0 to 1e"),
        ({"weight": 1e308}, "weight must be from 0 to 1e"),
        ({"weight": float("nan")}, "weight must be from 0 to 1e"),
        ({"weight": "heavy"}, "weight must be a number from 0 to 1e"),
    ],
)
def test_options_that_do_not_fit_text_are_refused(options, message):
    with pytest.raises(InputError, match=f"column 'c': .*{message}"):
        Column.encode("c", ["a", "b"], **options)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((20, 30), "3 of 5 cells are outside the bounds, the first in row 1;"),
        ((30, 20), "finite and in ascending order"),
        ((0, float("inf")), "finite and in ascending order"),
        ((0, float("nan")), "finite and in ascending order"),
    ],
)
def test_bounds_must_hold_the_values_which_are_not_quoted(bounds, message):
    with pytest.raises(InputError, match=message) as caught:
        Column.encode("c", [19, 25, 77777, None, 77777], bounds=bounds)
    assert "77777" not in str(caught.value)


def test_bounds_widen_the_extent():
    assert Column.encode("age", [20, 30], bounds=(0, 100)).extent == (0, 100)


def test_infinite_numbers_are_refused_unless_nominal():
    with pytest.raises(InputError, match="1 distinct value is infinite"):
        Column.encode("c", [1.0, float("inf")])
    assert Column.encode("c", [1.0, float("inf")], kind="nominal").domain == 2


@pytest.mark.parametrize("role", ["identifier", "insensitive"])
def test_a_carried_column_keeps_its_rows_as_they_are(role):
    column = Column.encode("c", [["x"], ["x"], None], role)  # lists cannot be compared
    assert column.role is Role(role)
    assert column.to_arrow().to_pylist() == [["x"], ["x"], None]


def test_take_keeps_the_ground_domain():
    column = Column.encode("c", ["a", "b", "c"]).take(np.array([2, 2]))
    assert column.to_arrow().to_pylist() == ["c", "c"]
    assert column.domain == 3


def test_a_hierarchy_is_given_as_such_or_as_a_recipe():
    rows = [("a", "*"), ("b", "*")]
    for told in (Hierarchy.from_rows(rows), {"suppression": True}):
        assert Column.encode("c", ["b", "a"], hierarchy=told).hierarchy.rows() == rows


def test_repr_tells_no_value():
    assert repr(Column.encode("c", ["secret"])) == "Column('c', quasi, nominal, rows=1, values=1)"


cells = st.one_of(
    st.lists(st.none() | st.text(max_size=3), max_size=10),
    st.lists(st.none() | st.integers(-(2**100), 2**100), max_size=10),
    st.lists(
        st.none() | st.decimals(allow_nan=False, allow_infinity=False, places=3, max_value=10**20),
        max_size=10,
    ),
    st.lists(st.none() | st.datetimes(), max_size=10),
)


@given(cells)
def test_every_cell_comes_back_exactly(given_cells):
    back = Column.encode("c", given_cells).to_arrow().to_pylist()
    expected = [None if c == "" else c for c in given_cells]  # an empty text is missing
    assert back == [Decimal(c) if isinstance(c, int) else c for c in expected]


@pytest.mark.parametrize(
    ("option", "huge", "message"),
    [
        ("weight", 10**400, "weight must be a number from 0 to 1e"),
        ("bounds", (0, 10**400), "bounds contain a number that is too large"),
    ],
    ids=["weight", "bounds"],
)
def test_a_number_beyond_floats_is_refused(option, huge, message):
    with pytest.raises(InputError, match=f"column 'c': {message}"):
        Column.encode("c", [1, 2], **{option: huge})


@pytest.mark.parametrize(
    ("word", "role"),
    [
        ("quasi-identifier", Role.QUASI),
        ("quasi_identifier", Role.QUASI),
        ("Quasi-Identifying", Role.QUASI),
        ("QI", Role.QUASI),
        ("qid", Role.QUASI),
        ("Identifying", Role.IDENTIFIER),
        ("direct identifier", Role.IDENTIFIER),
        ("sensitive attribute", Role.SENSITIVE),
        ("non-sensitive", Role.INSENSITIVE),
    ],
)
def test_roles_are_known_in_other_spellings(word, role):
    assert Role(word) is role
    assert Column.encode("a", ["x"], word).role is role
    assert shoal.read(pa.table({"a": ["x"]}), roles={"a": word})["a"].role is role
    schema = {"columns": {"a": {"role": word}}}
    assert shoal.read(pa.table({"a": ["x"]}), schema)["a"].role is role


def test_an_unknown_role_is_refused_with_those_there_are():
    allowed = "is not one of identifier, quasi, sensitive, insensitive"
    with pytest.raises(InputError, match=rf"role 'sensitve' \(did you mean .*\) {allowed}"):
        Column.encode("a", ["x"], "sensitve")
    with pytest.raises(InputError, match=f"column 'a': role 'public' {allowed}"):
        shoal.read(pa.table({"a": ["x"]}), roles={"a": "public"})
