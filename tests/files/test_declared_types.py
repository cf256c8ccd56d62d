"""A declared column is read as declared, whatever the other records hold."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal.table.declared import undeclared

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")


def read(write, text, **columns):
    return shoal.read(write(text), roles={"sex": "quasi", **columns})


def test_a_decimal_is_published_as_it_is_written_whatever_others_are(write, tmp_path):
    path = write("sex,cost\nf,12.50\nf,12.50\nm,9.125\nm,9.125\n")
    table = shoal.read(path, roles={"sex": "quasi", "cost": "quasi"})
    assert table["cost"].labels == ("9.125", "12.50")
    release = shoal.anonymize(table, shoal.KAnonymity(2))
    release.write(tmp_path / "out.csv")
    assert "12.500" not in (tmp_path / "out.csv").read_text()
    assert (tmp_path / "out.csv").read_text().count("12.50\n") == 2


def test_a_sensitive_decimal_is_published_as_it_is_written(write, tmp_path):
    path = write("sex,cost\nf,12.50\nf,9.125\n")
    release = shoal.anonymize(
        shoal.read(path, roles={"sex": "quasi", "cost": "sensitive"}), shoal.KAnonymity(2)
    )
    assert release.write(tmp_path / "out.csv").holds
    assert "f,12.50\n" in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("decimal", ("9.1", "12.50")),
        ("decimal(2)", ("9.10", "12.50")),
        ("decimal(3)", ("9.100", "12.500")),
        ("float", ("9.1", "12.5")),
        ("text", ("12.50", "9.1")),
    ],
)
def test_the_declared_type_settles_the_text(write, kind, labels):
    table = read(write, "sex,cost\nf,12.50\nf,9.1\n", cost={"role": "quasi", "type": kind})
    assert table["cost"].labels == labels
    assert table["cost"].type == kind


def test_a_word_among_declared_integers_is_refused_by_count_and_row(write):
    cells = "31\n" * 16 + "n/a\n" + "40\n" * 1182 + "none\n"
    age = {"role": "quasi", "type": "integer"}
    with pytest.raises(shoal.InputError) as caught:
        shoal.read(write(f"age\n{cells}"), roles={"age": age})
    assert str(caught.value).endswith(
        "column 'age': 2 of 1,200 cells are not integers, the first in row 17; "
        "fix them or declare their text with missing=…"
    )
    table = shoal.read(write(f"age\n{cells}"), roles={"age": age}, missing=["n/a", "none"])
    assert table["age"].labels == ("31", "40", None)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("integer", "007"),
        ("integer", "3.0"),
        ("integer", "9" * 19),
        ("decimal", "1e3"),
        ("decimal", "9" * 77),
        ("decimal(2)", "12.505"),
        ("decimal(0)", "12.5"),
        ("float", "1e999"),
        ("float", "nan"),
        ("date", "2024-02-30"),
        ("date", "09.03.2024"),
        ("datetime", "2024-01-02"),
        ("datetime", "2024-03-09 25:00:00"),
        ("boolean", "maybe"),
    ],
)
def test_a_cell_that_does_not_fit_is_counted_and_not_shown(write, kind, cell):
    with pytest.raises(shoal.InputError, match=r"1 of 1 cells are not .* row 1;") as caught:
        read(write, f"sex,c\nf,{cell}\n", c={"role": "quasi", "type": kind})
    assert cell not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "cell", "label"),
    [
        ("integer", "-7", "-7"),
        ("decimal(2)", "12.5000", "12.50"),
        ("decimal(0)", "12", "12"),
        ("float", "1e3", "1000"),
        ("date", "2024-03-09", "2024-03-09"),
        ("datetime", "2024-03-09T14:30:00", "2024-03-09 14:30:00"),
        ("boolean", "Yes", "true"),
        ("text", "007", "007"),
        ("category", "007", "007"),
    ],
)
def test_a_cell_that_fits_is_read_as_its_type(write, kind, cell, label):
    table = read(write, f"sex,c\nf,{cell}\n", c={"role": "quasi", "type": kind})
    assert label in table["c"].labels
    carried = read(write, f"sex,c\nf,{cell}\n", c={"role": "insensitive", "type": kind})
    assert carried["c"].labels == (label,)


def test_numbers_and_dates_are_declared_in_the_notation_of_the_file(write):
    specs = {"c": {"role": "quasi", "type": "decimal(2)"}, "d": {"role": "quasi", "type": "date"}}
    options = {"decimal": ",", "dates": "DD.MM.YYYY"}
    table = shoal.read(write("c;d\n1.234,5;9.3.2024\n"), roles=specs, delimiter=";", **options)
    assert (table["c"].labels, table["d"].labels) == (("1234.50",), ("2024-03-09",))
    with pytest.raises(shoal.InputError, match=r"column 'c': 1 of 2 cells .* in row 2"):
        shoal.read(write("c;d\n1,5;9.3.2024\n12.50;9.3.2024\n"), roles=specs, **options)


@pytest.mark.parametrize("source", ["missing", "outside"])
def test_values_outside_a_closed_list_are_refused_by_count_and_row(write, source):
    cells = {"missing": "f\n\n", "outside": "f\nx\nm\ny\n"}[source]
    sex = {"role": "quasi", "values": ["f", "m"]}
    path = write(f"age,sex\n{''.join(f'1,{cell}' for cell in cells.splitlines(True))}")
    if source == "missing":
        assert shoal.read(path, roles={"sex": sex})["sex"].labels == ("f", "m", None)
        return
    with pytest.raises(shoal.InputError, match="2 of 4 cells are not among the declared values, "):
        shoal.read(path, roles={"sex": sex})


def test_one_foreign_byte_makes_the_encoding_a_guess(write):
    specs = {"town": {"role": "quasi", "values": ["Orléans", "Nîmes"]}}
    path = write("town\nOrléans\n".encode() + b"N\xeemes\n")
    with (
        pytest.raises(shoal.InputError, match="column 'town': 1 of 2 cells are not among"),
        pytest.warns(UserWarning, match="not UTF-8"),
    ):
        shoal.read(path, roles=specs)
    with pytest.raises(shoal.InputError, match="line 3 is not utf-8 text"):
        shoal.read(path, roles=specs, encoding="utf-8")
    latin = write("town\nOrléans\n".encode("latin-1"))
    with pytest.warns(UserWarning, match="not UTF-8"):
        guessed = shoal.read(latin, roles=specs)
    assert undeclared(guessed) == ("file: declare its encoding",)
    assert undeclared(shoal.read(latin, roles=specs, encoding="latin-1")) == ()


def test_an_unusual_delimiter_is_a_guess_until_it_is_declared(write):
    specs = {name: {"role": "quasi", "values": ["x"]} for name in "ab"}
    assert shoal.read(write("a;b\nx;x\n"), roles=specs).guessed == ("delimiter",)
    assert shoal.read(write("a;b\nx;x\n"), roles=specs, delimiter=";").guessed == ()
    assert shoal.read(write("a,b\nx,x\n"), roles=specs).guessed == ()


def test_a_schema_file_declares_types_and_values(write, tmp_path):
    schema = tmp_path / "s.yaml"
    schema.write_text(
        "columns:\n"
        "  age: {role: quasi, type: integer, bounds: [0, 110]}\n"
        "  sex: {role: quasi, values: [no, yes]}\n"
    )
    table = shoal.read(write("age,sex\n31,no\n"), schema)
    assert table["sex"].labels == ("no", "yes", None)
    assert undeclared(table) == ()
    schema.write_text("columns: {age: {role: quasi, type: number}}")
    with pytest.raises(shoal.InputError, match="column 'age': type 'number' is not one of integer"):
        shoal.read(write("age\n31\n"), schema)


def test_a_frame_takes_declared_types_too():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [31.0, None], "cost": [12.5, 3.0]})
    roles = {
        "age": {"role": "quasi", "type": "integer"},
        "cost": {"role": "quasi", "type": "decimal(2)"},
    }
    table = shoal.read(frame, roles=roles)
    assert (table["age"].labels, table["cost"].labels) == (("31", None), ("3.00", "12.50"))


SCHEMA = {
    "age": {"role": "quasi", "type": "integer", "bounds": [0, 110]},
    "sex": {"role": "quasi", "values": ["f", "m", "x"]},
    "grade": {"role": "quasi", "kind": "ordinal", "values": ["low", "mid", "high"]},
    "cost": {"role": "quasi", "type": "decimal(2)", "bounds": [0, 1000]},
    "seen": {"role": "quasi", "type": "date", "bounds": ["2020-01-01", "2024-12-31"]},
    "smokes": {"role": "sensitive", "type": "boolean"},
}
HIERARCHIES = {
    "age": {"intervals": [5, 10, 20]},
    "grade": {"ordering": 2},
    "cost": {"intervals": [50, 100]},
    "seen": {"dates": ["month", "year"]},
}
RECORD = st.tuples(
    st.integers(0, 110).map(str) | st.just(""),
    st.sampled_from(["f", "m", "x", ""]),
    st.sampled_from(["low", "mid", "high", ""]),
    st.decimals(0, 1000, places=2).map(str) | st.integers(0, 1000).map(str) | st.just(""),
    st.dates(min_value=date(2020, 1, 1), max_value=date(2024, 12, 31)).map(str) | st.just(""),
    st.sampled_from(["true", "false", ""]),
)


@examples(60)
@given(st.lists(RECORD, min_size=1, max_size=6), RECORD)
def test_another_record_changes_nothing_about_the_others(tmp_path_factory, records, another):
    folder = tmp_path_factory.mktemp("declared")
    one, two = (
        declared_table(folder / name, rows)
        for name, rows in (("one.csv", records), ("two.csv", [*records, another]))
    )
    assert undeclared(one) == undeclared(two) == ()
    for column, other in zip(one, two, strict=True):
        assert (column.values.type, column.type, column.kind) == (
            other.values.type,
            other.type,
            other.kind,
        )
        assert paths(column, len(records)) == paths(other, len(records))
        if column.hierarchy is not None:
            assert column.hierarchy.height == other.hierarchy.height
            assert column.hierarchy.origin == other.hierarchy.origin == "declared"


def declared_table(path, records):
    path.write_text("\n".join([",".join(SCHEMA), *map(",".join, records)]) + "\n")
    return shoal.read(path, roles=SCHEMA, hierarchies=HIERARCHIES)


def paths(column, rows):
    """Return what is published of the first rows at every level, with the values in each group."""
    levels = () if column.hierarchy is None else column.hierarchy.levels
    return [
        [
            (column.labels[code], *((level.labels[g], int(level.leaves[g]))))
            for level in levels
            for g in [level.groups[code]]
        ]
        or [column.labels[code]]
        for code in column.codes[:rows].tolist()
    ]
