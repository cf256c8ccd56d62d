"""The first look: types in words, roles with reasons, and a schema that works as it stands."""

from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest
import yaml

import shoal
from shoal.files.formats import Format
from shoal.files.reading import read_arrow
from shoal.inspection import describe, suggest_recipe, suggest_schema, type_words
from shoal.table.column import Column


def looked_at(**columns):
    """Return what is reported of each column, by name, in a table with a quasi-identifier."""
    rows = len(next(iter(columns.values())))
    data = pa.table({**columns, "sex": ["fmmf"[i % 4] for i in range(rows)]})
    return {column["name"]: column for column in describe(data)["columns"]}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (pa.int8(), "whole number"),
        (pa.float64(), "number"),
        (pa.decimal128(9, 2), "exact decimal, 2 places"),
        (pa.decimal128(30, 0), "whole number"),
        (pa.string(), "text"),
        (pa.dictionary(pa.int32(), pa.large_string()), "text"),
        (pa.date32(), "date"),
        (pa.timestamp("us"), "date and time"),
        (pa.time64("us"), "time"),
        (pa.bool_(), "true/false"),
        (pa.list_(pa.int64()), "list"),
        (pa.binary(), "other"),
    ],
)
def test_types_are_told_in_words(kind, words):
    assert type_words(kind) == words


def test_the_type_is_told_to_machines_too():
    age = looked_at(age=[1, 2])["age"]
    assert (age["type"], age["arrow_type"]) == ("whole number", "int64")


@pytest.mark.parametrize(
    ("name", "values", "recipe"),
    [
        ("born", [date(1950, 1, 2), date(1999, 1, 2)], {"dates": ["month", "year", "decade"]}),
        (
            "seen",
            [datetime(2020, 1, 2, 3), datetime(2021, 1, 2, 3)],
            {"dates": ["day", "month", "year", "decade"]},
        ),
        ("postcode", ["01304", "20024"], {"mask": "right"}),
        ("postcode", ["01304", "2002"], None),  # of different lengths
        ("zip", ["01304", "20024", "20024-1234"], {"mask": "right", "keep": 5}),
        ("zip", ["01304", "20024-1", "20024-1234"], None),  # most go on: what is the code?
        ("town", ["Bonn", "Lyon"], None),  # no digits
        ("zip", [13040, 20024], {"mask": "right"}),  # read as numbers, yet codes
        ("income", [13040, 20024], {"intervals": [500, 1000, 2000, 4000]}),
        ("age", [0, 99], {"intervals": [5, 10, 20, 40]}),
        ("height", [1.5, 1.9], {"intervals": [0.05, 0.1, 0.2]}),
        ("children", [0, 3], None),  # too few to need widths
        ("children", [2, 2], None),
        ("arrival", [time(1), time(2)], None),
        ("sex", ["f", "m"], None),
        ("age", [None, None], None),
    ],
)
def test_recipes_suit_the_values(name, values, recipe):
    assert suggest_recipe(Column.encode(name, values)) == recipe


def test_amounts_that_all_differ_are_left_out():
    told = looked_at(cost=[Decimal(i) / 100 for i in range(60)], serial=list(range(60)))
    assert told["cost"]["role"] == "leave out"
    assert "100 % of the rows have a value of their own" in told["cost"]["reason"]
    assert told["serial"]["role"] == "identifier"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        (" age", "quasi"),
        ("Alter", "quasi"),
        ("Âge", "quasi"),
        ("Geburtsdatum", "quasi"),
        ("dateOfBirth", "quasi"),
        ("Stra\N{LATIN SMALL LETTER SHARP S}e", "identifier"),
        ("Patienten-Nr.", "identifier"),
        ("patientId", "identifier"),
        ("an_nais", "quasi"),
        ("Ingresos", "sensitive"),
        ("fecha_nacimiento", "quasi"),
        ("Estado civil", "quasi"),
        ("codice_fiscale", "identifier"),
        ("Salario", "sensitive"),
        ("Woonplaats", "quasi"),
        ("Płeć", "quasi"),
        ("Dochód", "sensitive"),
        ("two_year_recid", "sensitive"),
        ("balance", "sensitive"),
        ("fare", "sensitive"),
        ("sampling_weight", "weight"),
        ("drug_code", "sensitive"),
        ("Gehalt", "sensitive"),
        ("Diagnóstico", "sensitive"),
        ("salt", "decide"),  # when in doubt
    ],
)
def test_names_are_known_in_other_spellings_and_languages(name, role):
    assert looked_at(**{name: [1, 1, 2, 2]})[name]["role"] == role


@pytest.mark.parametrize(
    "values",
    [
        [i % 90 for i in range(200)],  # years, or marks
        [date(1950 + i % 60, 1, 2) for i in range(200)],
    ],
)
def test_unknown_whole_numbers_and_dates_are_not_passed_for_measurements(values):
    role = "quasi" if isinstance(values[0], date) else "decide"
    assert looked_at(unheard=values)["unheard"]["role"] == role


def test_the_suggested_schema_has_one_line_a_column():
    found = describe(pa.table({"age": [0, 99], "yes": ["x", "y"], "income": [1, 2]}))
    assert suggest_schema(found) == (
        "# Check every role, and replace each ? with what you know, not with what the data shows.\n"
        "columns:\n"
        "  age: {role: quasi, type: integer, hierarchy: {intervals: [5, 10, 20, 40]}}"
        "  # bounds: [?, ?]\n"
        "  # 'yes': {role: '?', type: text}  # decide: the name does not say what it is; 2 values\n"
        "  income: {role: sensitive, type: integer}  # bounds: [?, ?]\n"
    )


def test_the_suggested_schema_lists_small_categories_and_nothing_else():
    rows = 60
    data = pa.table(
        {
            "sex": ["f", "m"] * (rows // 2),
            "name": ["Kim", "Lee"] * (rows // 2),
            "town": [f"t{i}" for i in range(21)] + ["t20"] * (rows - 21),
            "cost": pa.array([Decimal(i % 7) for i in range(rows)], pa.decimal128(9, 2)),
            "seen": pa.nulls(rows, pa.string()),
        }
    )
    found = describe(data)
    schema = yaml.safe_load(suggest_schema(found))["columns"]
    assert {name: spec.get("values") for name, spec in schema.items()} == {
        **dict.fromkeys(schema),
        "sex": ["f", "m"],
    }
    assert {name: spec.get("type") for name, spec in schema.items()} == {
        "sex": "category",
        "name": "text",
        "town": "text",
        "cost": "decimal(2)",
    }
    assert "protect this file like the data" in suggest_schema(found)
    shown = suggest_schema(found, list_values=False)
    assert "values: [f, m]" not in shown
    assert "protect this file like the data" not in shown


def test_what_may_be_numbers_or_dates_gets_no_type_yet():
    found = describe(pa.table({"paid": ["12,50", "7,00", "1,25"], "age": [31, 33, 47]}))
    columns = yaml.safe_load(suggest_schema(found))["columns"]
    assert columns["paid"] == {"role": "sensitive"}


def test_numbers_that_keep_their_text_are_described_as_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("cost,dose\n12.50,1e-3\n9.125,2e-3\n")
    columns = describe(read_arrow(path, Format()))["columns"]
    assert [(c["type"], c["declare"]) for c in columns] == [
        ("exact decimal", "decimal"),
        ("number", "float"),
    ]


@pytest.mark.filterwarnings("ignore::shoal.table.roles.UnassignedColumns")
def test_the_suggested_schema_of_the_patients_is_read_and_gives_labels(tmp_path):
    raw = pa.concat_tables(shoal.datasets.patient_chunks(400))
    text = suggest_schema(describe(raw))
    (tmp_path / "s.yaml").write_text(text)
    assert yaml.safe_load(text)["columns"]["postcode"]["hierarchy"] == {"mask": "right"}
    release = shoal.anonymize(shoal.read(raw, tmp_path / "s.yaml"), shoal.KAnonymity(5))
    assert release.verify().holds
    published = release.to_arrow()
    assert "patient_id" not in published.column_names
    assert all(cell is None or "," not in cell for cell in published["birth_date"].to_pylist())
    assert any("*" in (cell or "") for cell in published["postcode"].to_pylist())


def test_suggested_recipes_can_be_built_and_used():
    raw = pa.table(
        {"zip": [10000 + i for i in range(40)], "height": [1.5 + i / 100 for i in range(40)]}
    )
    schema = yaml.safe_load(suggest_schema(describe(raw)))
    schema["columns"] = {
        "zip": {"role": "quasi", "hierarchy": suggest_recipe(Column.encode("zip", raw["zip"]))},
        "height": {
            "role": "quasi",
            "hierarchy": suggest_recipe(Column.encode("height", raw["height"])),
        },
    }
    assert shoal.anonymize(shoal.read(raw, schema), shoal.KAnonymity(4)).verify().holds


def hinted(**columns):
    """Return the hints, with the columns that they are about."""
    return [(hint["columns"], hint["hint"]) for hint in describe(pa.table(columns))["hints"]]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["01.02.2024", "17.02.2024"], "dates: add dates='DD.MM.YYYY'"),
        (["01/02/2024", "17/02/2024"], "dates: add dates='DD/MM/YYYY'"),
        (["01/02/2024", "02/17/2024"], "dates: add dates='MM/DD/YYYY'"),
        (["01/02/2024", "03/04/2024"], "dates: add dates='DD/MM/YYYY' or dates='MM/DD/YYYY'"),
        (["1,5", "2"], "numbers with a decimal comma: add decimal=','"),
        ([f"{i},5" for i in range(20)] + ["n"], "numbers with a decimal comma, except for 1 value; "
         "fix or declare with missing=…: add decimal=','"),
        ([" a", " b", "c "], "spaces around names or cells: add trim=True"),
        ([f"{i:>3}" for i in range(200)], "numbers with spaces around them: add trim=True"),
        ([str(i) for i in range(20)] + ["?"], "numbers, except for 1 value; fix or declare with "
         "missing=…"),
    ],
)  # fmt: skip
def test_text_that_looks_like_numbers_or_dates_is_pointed_out(values, told):
    assert hinted(a=values) == [(["a"], told)]


@pytest.mark.parametrize(
    "values",
    [
        ["north", "south"],
        ["01234", *map(str, range(10_000, 10_020))],  # codes, one with a zero
        ["31.02.2024", "30.02.2024"],
        [None, "5"],
        ["1", "x", "y"],
    ],
)
def test_text_that_is_but_text_is_not(values):
    assert hinted(a=pa.array(values, pa.string())) == []


def test_rows_that_repeat_and_people_with_several_are_pointed_out():
    once = hinted(patient_id=["a", "b", "c"], age=[1, 2, 3])
    assert once == []
    repeated = hinted(patient_id=["a", "b", "c", "c"], age=[1, 2, 3, 3])
    assert [columns for columns, _ in repeated] == [[], ["patient_id"]]
    assert repeated[0][1].startswith("1 row repeats another row in every column")
    several = hinted(patient_id=["a", "b", "c", "c"], age=[1, 2, 3, 4])
    assert [columns for columns, _ in several] == [["patient_id"]]


def test_numbers_of_people_and_free_text_are_identifiers_though_they_repeat():
    numbers = [f"P{i}" for i in range(99)] + ["P0"]
    found = looked_at(Patientennummer=numbers, Bemerkung=[f"so {n}" for n in numbers], code=numbers)
    assert {found[name]["role"] for name in found if name != "sex"} == {"identifier"}
    assert found["code"]["reason"] == "98 % of the rows have a value of their own"
