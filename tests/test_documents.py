"""Documents that a person may edit: a wrong part is an error that names it, never a trace.

Good documents are mutated: any part is replaced by a value of another type, dropped or renamed.
"""

from __future__ import annotations

import copy
import csv
import json
import warnings

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.mutants import at, mutants, places, put
from tests.projects.test_projects import OPTIONS, SCHEMA, written

import shoal
from shoal.dp import DP, Ledger
from shoal.dp.ledger import _seal
from shoal.errors import InputError, ShoalError
from shoal.evidence import Questionnaire
from shoal.identifiers.replacements import REPLACEMENTS
from shoal.projects import Project, check_set, release_project
from shoal.support.documents import check_shape, read_json
from shoal.table.recipes import RECIPES

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")

COLUMNS = {
    "person": "id",
    "household": ["home"],
    "file": {"delimiter": ",", "quote": '"', "encoding": "utf-8", "missing": ["?"], "header": True},
    "columns": {
        "id": {"role": "identifier", "replace": {"pseudonym": {"length": 20}}},
        "home": "identifier",
        "age": {
            "role": "quasi",
            "type": "integer",
            "bounds": [0, 120],
            "weight": 2,
            "hierarchy": {"intervals": [5, 10], "origin": 0},
        },
        "size": {"role": "quasi", "kind": "ordinal", "order": ["s", "m", "l"], "missing": ["-"]},
        "town": {"role": "quasi", "hierarchy": "town.csv"},
        "area": {"role": "quasi", "hierarchy": {"tree": {"west": ["a"], "east": ["b", "c"]}}},
        "born": {"role": "quasi", "type": "date", "hierarchy": {"dates": ["month", "year"]}},
        "ill": {"role": "sensitive", "values": ["flu", "gout"]},
        "share": {"role": "weight", "publish": True},
        "note": {"role": "insensitive"},
    },
}
ROWS = [
    {
        "id": 1000000 + n, "home": f"h{n // 2}", "age": 30 + n, "size": "sml"[n % 3],
        "town": "xyz"[n % 3], "area": "abc"[n % 3], "born": f"19{60 + n}-0{1 + n}-01",
        "ill": ["flu", "gout"][n % 2], "share": 1 + n % 2, "note": f"note {n}",
    }
    for n in range(8)
]  # fmt: skip
RECIPE = {
    "intervals": ("age", {"intervals": [5, 10], "origin": 1}),
    "quantiles": ("age", {"quantiles": [4, 2]}),
    "frequency": ("town", {"frequency": [0.1, 0.4]}),
    "mask": ("town", {"mask": "right", "length": 3}),
    "dates": ("born", {"dates": ["month", "year", "decade"]}),
    "tree": ("area", {"tree": {"west": ["a"], "east": {"n": ["b"], "s": ["c"]}}}),
    "ordering": ("area", {"ordering": {"fanout": 2}}),
    "random": ("area", {"random": {"seed": 3, "ordered": False}}),
    "suppression": ("area", {"suppression": None}),
    "from": ("area", {"from": ["town"]}),
    "file": ("town", {"file": "town.csv", "origin": "data"}),
}
REPLACEMENT = {
    "pseudonym": {"length": 20, "space": "a"},
    "token": {},
    "ff1": {"alphabet": "0123456789"},
    "fake": {"kind": "name", "locale": "en_US", "consistent": True},
    "shift": {"days": 30, "whole_weeks": True},
    "mask": {"first": 1, "last": 0, "sign": "*"},
    "round": {"to": 5},
    "clip": {"low": 1, "high": 5},
    "redact": {"engine": "shoal"},
    "drop": {},
}
PROJECT = copy.deepcopy({**SCHEMA, "domain": "study", "source": "."})
PROJECT["tables"]["labs"] |= {"file": {"delimiter": ","}, "from": "labs.csv"}
PROJECT["tables"]["patients"]["columns"] = {
    "age": {"role": "quasi", "type": "integer", "hierarchy": {"intervals": [5, 10]}},
    "sex": "quasi",
    "name": {"role": "identifier", "replace": {"pseudonym": {"length": 20}}},
}
ANSWERS = {
    "purpose": "research", "recipient": "a hospital", "controls": ["a contract"],
    "adversaries": "a neighbour", "maximum_risk": 0.1, "population": 100,
    "area_populations": {"036": 12000}, "review_date": "2030-01-01", "columns": {"age": "known"},
}  # fmt: skip


def tried(read, document):
    """Read a document, and return the message if it is refused in a sentence of Shoal.

    Any other error fails the test.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(document)
    except ShoalError as error:
        message = str(error)
        assert message, "a refusal says why"
        return message
    return ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, a hierarchy, and a table of each kind of a project."""
    made = tmp_path_factory.mktemp("documents")
    with (made / "rows.csv").open("w", newline="") as handle:
        rows = csv.DictWriter(handle, list(ROWS[0]))
        rows.writeheader()
        rows.writerows(ROWS)
    (made / "town.csv").write_text("x;west;*\ny;west;*\nz;east;*\n")
    written(made, "csv")
    return made


def read_schema(folder):
    def read(document):
        (folder / "schema.yaml").write_text(yaml.safe_dump(document, allow_unicode=True))
        shoal.read(folder / "rows.csv", shoal.Schema.read(folder / "schema.yaml"))

    return read


def test_the_documents_are_good_before_they_are_mutated(folder):
    assert tried(read_schema(folder), COLUMNS) == ""
    assert set(RECIPE) == {*RECIPES, "from", "file"}
    assert set(REPLACEMENT) == set(REPLACEMENTS)
    for column, recipe in RECIPE.values():
        document = copy.deepcopy(COLUMNS)
        document["columns"][column]["hierarchy"] = recipe
        assert tried(read_schema(folder), document) == ""
    for name, options in REPLACEMENT.items():
        document = copy.deepcopy(COLUMNS)
        document["columns"]["id"]["replace"] = {name: options}
        assert tried(read_schema(folder), document) == ""
    assert tried(lambda document: Project.of(document, folder), PROJECT) == ""
    assert tried(Questionnaire.of, ANSWERS) == ""


@examples(60, 3000)
@given(mutants(COLUMNS, [recipe for _, recipe in RECIPE.values()]))
def test_a_wrong_schema_is_refused_by_its_part(folder, document):
    tried(read_schema(folder), document)


@pytest.mark.parametrize("name", RECIPE)
@examples(15, 800)
@given(data=st.data())
def test_a_wrong_recipe_is_refused(folder, name, data):
    column, recipe = RECIPE[name]
    document = copy.deepcopy(COLUMNS)
    document["columns"][column]["hierarchy"] = data.draw(mutants(recipe))
    tried(read_schema(folder), document)


@pytest.mark.parametrize("name", REPLACEMENT)
@examples(15, 800)
@given(data=st.data())
def test_a_wrong_replacement_is_refused(folder, name, data):
    document = copy.deepcopy(COLUMNS)
    document["columns"]["id"]["replace"] = data.draw(mutants({name: REPLACEMENT[name]}))
    tried(read_schema(folder), document)


@examples(100, 5000)
@given(mutants(PROJECT))
def test_a_wrong_project_is_refused_by_its_part(folder, document):
    (folder / "project.yaml").write_text(yaml.safe_dump(document, allow_unicode=True))
    found = tried(lambda _: Project.read(folder / "project.yaml"), document)
    assert not found or found.startswith(str(folder / "project.yaml"))


@examples(15, 800)
@given(mutants(PROJECT))
def test_a_wrong_project_is_not_released(folder, tmp_path_factory, document):
    output = tmp_path_factory.mktemp("out") / "released"

    def release(document):
        release_project(Project.of(document, folder), output, **OPTIONS)

    assert (tried(release, document) == "") == output.exists()


@pytest.fixture(scope="module")
def released(folder):
    project = Project.of(PROJECT, folder)
    release_project(project, folder / "released", **OPTIONS)
    return folder / "released", json.loads((folder / "released" / "release.json").read_text())


@examples(100, 5000)
@given(data=st.data())
def test_a_wrong_record_is_refused_by_its_part(released, data):
    place, record = released
    models = ["k-anonymity(2)", "k-anonymity(0)", "l-diversity(2, nothing)", "visits"]
    document = data.draw(mutants(record, models))
    (place / "release.json").write_text(json.dumps(document))
    tried(lambda _: check_set(place), document)


@pytest.mark.parametrize(
    ("place", "part", "said"),
    [
        (("model",), None, "release.json: model must be a list of texts"),
        (("model",), [], "release.json: model must state the guarantee"),
        (("model", 0), 5, "model[0] must be text"),
        (("person",), {"table": "patients"}, "person must be text"),
        (("person",), "nobody", "person must name a table: no table 'nobody'"),
        (("tables", "patients", "file"), 5, "tables.patients.file must be text"),
        (("tables", "patients", "file"), "release.json", "tables.patients.file must end in .csv"),
        (("tables", "patients", "quasi"), [], "tables.patients.quasi must not be empty"),
        (("tables", "visits", "quasi"), ["no"], "the file of table 'visits' has no column 'no'"),
        (("tables", "visits", "foreign", "patient_id"), "labs", "foreign.patient_id names no tab"),
        (("tables", "visits", "people"), ["ward_id"], "tables.visits.people does not lead to"),
        (("tables", "visits", "rows"), True, "tables.visits.rows must be a whole number"),
    ],
)
def test_a_record_is_refused_with_the_name_of_its_part(released, place, part, said):
    folder, record = released
    document = put(copy.deepcopy(record), place, part)
    (folder / "release.json").write_text(json.dumps(document))
    with pytest.raises(InputError) as raised:
        check_set(folder)
    assert said in str(raised.value)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"PAR1", b'a,b\n"', b"\n\n"])
def test_a_damaged_file_of_a_set_is_named(tmp_path, kind, content):
    release_project(written(tmp_path, kind), tmp_path / "out", **OPTIONS)
    (tmp_path / "out" / f"visits.{kind}").write_bytes(content)
    message = tried(lambda _: check_set(tmp_path / "out"), None)
    assert "visits" in message or "file" in message


@pytest.mark.parametrize(
    ("place", "part", "said"),
    [
        (("person",), {"table": "patients"}, "person must be text"),
        (("tables", "visits", "foreign", "patient_id"), [1], "foreign.patient_id must be text"),
        (("tables", "visits", "columns"), ["sex"], "tables.visits.columns must be a mapping"),
        (("tables", "visits", "key"), 7, "tables.visits.key must be text or null; put it in quote"),
        (("tables", "visits", "colums"), {}, "tables.visits: no entry 'colums' (did you mean 'col"),
        (("tables", "visits", "columns", "sex"), 1, "table 'visits': column 'sex' needs a mapping"),
        (("tables", "labs", "file"), {"sheet": 5}, "table 'labs': file: sheet must be text"),
    ],
)
def test_a_project_is_refused_with_the_name_of_its_part(folder, place, part, said):
    with pytest.raises(InputError) as raised:
        Project.of(put(copy.deepcopy(PROJECT), place, part), folder)
    assert said in str(raised.value)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    path = tmp_path_factory.mktemp("ledger") / "ledger.json"
    with Ledger.open(path, (2.0, 1e-6), when="2024", table="visits").spend(
        DP(0.5, 0.0, "a"), what="ages"
    ):
        pass
    document = json.loads(path.read_text())
    del document["seal"]
    return path, {**document, "schemas": ["0123"]}


def spend(path):
    def use(document):
        if isinstance(document, dict):
            document = {**document, "seal": _seal(document, None).decode()}
        path.write_text(json.dumps(document))
        ledger = Ledger.open(path)
        repr(ledger), ledger.spent(), ledger.left()
        with ledger.spend(DP(0.1, 0.0, "a count"), what="more"):
            pass
        Ledger.open(path)

    return use


@examples(100, 5000)
@given(data=st.data())
def test_a_wrong_ledger_is_refused_by_its_part(book, data):
    path, document = book
    tried(spend(path), data.draw(mutants(document)))


def test_a_damaged_ledger_names_its_part(book):
    path, document = book
    for place, part, said in (
        (("grants", 0, "epsilon"), True, "grants[0].epsilon must be a number"),
        (("entries", 0, "delta"), "0", "entries[0].delta must be a number"),
        (("entries", 0, "state"), "spent", "state must be one of reserved, released, failed"),
        (("table",), ["a"], "table must be text"),
        (("entries", 0, "what"), None, "entries[0].what must be text"),
    ):
        message = tried(spend(path), put(copy.deepcopy(document), place, part))
        assert message.startswith(f"{path}: the ledger is damaged: {said}")
        assert message.endswith("restore a copy of it")


def test_what_a_ledger_could_not_read_again_is_not_written(tmp_path):
    ledger = Ledger.open(tmp_path / "ledger.json", (2.0, 0.0))
    before = (tmp_path / "ledger.json").read_bytes()
    for wrong in ({"what": 5}, {"what": "ages", "when": 2024}):
        with (
            pytest.raises(InputError, match=r"entries\[0\]\.wh.* must be text"),
            ledger.spend(DP(0.5, 0.0, "a"), **wrong),
        ):
            pytest.fail("the release was made")
    assert (tmp_path / "ledger.json").read_bytes() == before


@examples(60, 3000)
@given(mutants(ANSWERS))
def test_a_wrong_questionnaire_is_refused_by_its_part(document):
    tried(lambda found: Questionnaire.of(found).to_dict(), document)


SHAPE = {"name": str, "rows?": int, "parts": {str: [(float, None)]}, "deep?": ({"a": bool}, None)}
SHAPED = {"name": "a", "rows": 3, "parts": {"x": [1, 2.5, None], "y": []}, "deep": {"a": True}}


def fits(data, shape):
    """A naive reading of a shape."""
    if isinstance(shape, tuple):
        return any(fits(data, each) for each in shape)
    if isinstance(shape, list):
        return isinstance(data, list) and all(fits(part, shape[0]) for part in data)
    if isinstance(shape, dict):
        named = {name.strip("?"): part for name, part in shape.items() if name is not str}
        return (
            isinstance(data, dict)
            and all(isinstance(n, str) and (n in named or str in shape) for n in data)
            and all(name.endswith("?") or name in data for name in shape if name is not str)
            and all(fits(part, named.get(n, shape.get(str))) for n, part in data.items())
        )
    if shape is None or data is None:
        return shape is data
    numbers = {float: (int, float), int: (int,), bool: (bool,), str: (str,)}
    return type(data) in numbers[shape]


@given(mutants(SHAPED))
def test_a_document_is_refused_if_and_only_if_it_has_another_shape(document):
    check_shape(SHAPED, SHAPE, "it")
    message = tried(lambda found: check_shape(found, SHAPE, "it"), document)
    assert (message == "") == fits(document, SHAPE)
    for place in places(document):
        part = at(document, place)
        assert not isinstance(part, str) or len(part) < 20 or part not in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1,}', "line 1 is not valid JSON"),
        ('{\n"a": 1\n"b": 2}', "line 3 is not valid JSON"),
        ('{"a": 1, "a": 2}', "a name is given twice"),
        ('{"a": NaN}', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("\ufeff{}", "a is missing"),
        ("[]", "must be a mapping with a"),
        ("", "the file is empty"),
    ],
)
def test_text_that_is_no_json_is_refused(tmp_path, text, said):
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_json(tmp_path / "a.json", {"a": int})
    assert said in str(raised.value)
