import pyarrow as pa
import pytest

from shoal import metrics
from shoal.errors import InputError
from shoal.methods import anonymize
from shoal.methods.lattice.lattice import Lattice
from shoal.privacy.k_anonymity import KAnonymity
from shoal.table.column import Column, Kind
from shoal.table.recoding import Recoding
from shoal.table.table import Table


def test_a_closed_list_is_the_ground_domain_used_or_not():
    column = Column.encode("sex", ["m", None, "m"], values=["x", "m", "f"])
    assert column.labels == ("f", "m", "x", None)
    assert column.codes.tolist() == [1, 3, 1]
    assert (column.declared, column.closed, column.type) == (True, True, "category")


@pytest.mark.parametrize("cells", [[], [None], ["m"], ["f", "m", None]])
def test_the_domain_of_a_closed_list_does_not_depend_on_the_cells(cells):
    column = Column.encode("sex", pa.array(cells, pa.string()), values=["m", "f"])
    assert column.labels == ("f", "m", None)


def test_an_ordinal_column_takes_the_order_of_its_values():
    column = Column.encode("school", ["mid"], kind="ordinal", values=["low", "mid", "high"])
    assert (column.labels, column.kind) == (("low", "mid", "high", None), Kind.ORDINAL)


def test_an_order_sorts_the_declared_values():
    options = {"values": ["high", "low", "mid"], "order": ["low", "mid", "high"]}
    assert Column.encode("school", ["mid"], **options).labels == ("low", "mid", "high", None)
    with pytest.raises(InputError, match="its order leaves out 1 of 3 values"):
        Column.encode("school", ["mid"], values=options["values"], order=["low", "mid"])


def test_an_order_alone_does_not_close_the_domain():
    column = Column.encode("school", ["mid"], order=["low", "mid", "high"])
    assert (column.labels, column.closed) == (("mid",), False)


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        ([10, 9], "integer", ("9", "10", None)),
        (["2024-03-09"], "date", ("2024-03-09", None)),
        (["01", "2"], "category", ("01", "2", None)),
    ],
)
def test_the_type_of_listed_values_is_theirs(values, kind, labels):
    column = Column.encode("c", pa.array([], pa.string()), values=values)
    assert (column.type, column.labels) == (kind, labels)


def test_listed_decimals_keep_their_text_and_match_by_number():
    column = Column.encode("c", ["9.1000", "12.5"], type="decimal", values=["12.50", "9.1"])
    assert (column.labels, column.codes.tolist()) == (("9.1", "12.50", None), [0, 1])


def test_a_boolean_is_closed_by_nature():
    column = Column.encode("smokes", ["yes", None], type="boolean")
    assert (column.labels, column.codes.tolist()) == (("false", "true", None), [1, 2])
    assert column.closed


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "values must be a list of one or more values"),
        (["f", None], "must not list a missing value"),
        (["f", "f"], "contain a value twice"),
        (["f", "m"], "3 of 4 cells are not among the declared values, the first in row 2; fix"),
    ],
)
def test_values_that_are_no_domain_of_the_cells_are_refused(values, message):
    with pytest.raises(InputError, match=f"column 'c': .*{message}") as caught:
        Column.encode("c", ["f", "secret", "secret", "other"], values=values)
    assert "secret" not in str(caught.value)


def test_declared_values_must_be_of_the_declared_type():
    with pytest.raises(InputError, match="its declared values are not all integers"):
        Column.encode("c", [1], type="integer", values=["one"])


@pytest.mark.parametrize(
    ("options", "cells"),
    [
        ({"type": "integer", "bounds": [0, 30]}, ["5", "31", "99"]),
        ({"type": "decimal", "bounds": [0, 30]}, ["5.5", "30.01", "99"]),
        ({"type": "date", "bounds": ["2024-01-01", "2024-12-31"]}, ["2024-05-05", "2025-01-01"]),
    ],
)
@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
def test_cells_outside_the_bounds_are_refused_by_count_and_row(options, cells, role):
    wrong = len(cells) - 1
    with pytest.raises(InputError, match=rf"{wrong} of {len(cells)} cells are outside .* row 2;"):
        Column.encode("c", cells, role, **options)


@pytest.mark.parametrize("kind", ["whole", "decimal(2", "decimal(31)", "integer(2)", "", "Text"])
def test_a_type_that_does_not_exist_is_refused(kind):
    with pytest.raises(InputError, match=r"column 'c': type .* is not one of integer, decimal"):
        Column.encode("c", [1], type=kind)


def test_lists_have_no_declared_type():
    with pytest.raises(InputError, match="column 'c': lists and records cannot be read as text"):
        Column.encode("c", [["x"]], type="text")


def test_a_release_over_unused_values_names_only_what_occurs():
    table = Table(
        (
            Column.encode("sex", ["f", "m"] * 4, values=["f", "m", "x"]),
            Column.encode("age", [30, 31] * 4, type="integer", bounds=[0, 99]),
        )
    )
    release = anonymize(table, KAnonymity(8))
    assert release.verify().holds
    assert set(release.to_arrow().column("sex").to_pylist()) == {"{f, m}"}
    assert all(0 <= loss <= 1 for loss in metrics.evaluate(release).values())


def test_unused_values_stand_in_the_hierarchy_of_a_lattice():
    tree = {"tree": {"known": ["f", "m"], "other": ["x", "y"]}}
    full = Column.encode("sex", ["f", "m"], values=["f", "m", "x", "y"]).with_hierarchy(tree)
    lattice = Lattice.of(Table((full,)))
    assert lattice.heights == (2,)
    assert Recoding.at_level(full, 1).to_arrow().to_pylist() == ["known", "known"]
    with pytest.raises(InputError, match="its hierarchy lacks 1 of 3 values"):
        Column.encode("sex", ["f"], values=["f", "m", "z"]).with_hierarchy(tree)
