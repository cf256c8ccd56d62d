"""The report says what the release is: section by section, as data and as a file."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.report.report_tables import made, table

import shoal
from shoal import KAnonymity, LDiversity, OutputError, Recoding, Release, Role
from shoal.release.released_files import read_released
from shoal.report import contents
from shoal.report.document import _REACHED
from shoal.report.page import page
from shoal.report.released import treatment

PAGE = Path(__file__).parents[2] / "docs" / "report.md"
BY_NAME = {"options", "versions", "undefined", "figures", "levels"}  # their keys are names


def patients():
    """Return patients whose exact costs are published."""
    some = shoal.datasets.patients(400, seed=2)
    return some.with_column(replace(some["cost"], role=Role.INSENSITIVE))


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(patients(), KAnonymity(4) & LDiversity(2, "diagnosis"))


@pytest.fixture(scope="module")
def told(release):
    return contents(release)


def by_name(entries, key="name"):
    return {entry[key]: entry for entry in entries}


def test_the_verdict_says_it_all_at_once(told):
    assert told["verdict"] == (
        "400 records are released, under k-anonymity (k = 4) and l-diversity (l = 2, column "
        "diagnosis). We regrouped the released rows and checked the guarantee: it holds, but cost "
        "is published unchanged and singles out 400 of 400 people (100 %): nobody else has their "
        "value."
    )


def test_the_guarantee_is_told_with_what_is_reached(told, release):
    checked = release.verify()
    guarantee = told["guarantee"]
    assert guarantee["promise"] == release.model.describe()
    assert (guarantee["verified"], guarantee["truthful"]) == (True, True)
    assert guarantee["classes"] == checked.classes
    assert [p["reached"] for p in guarantee["parts"]] == list(checked.levels.values())
    assert all(part["reached_is"] for part in guarantee["parts"])


def test_what_every_model_reaches_is_explained():
    assert set(_REACHED) == {model.name for model in shoal.MODELS.values()}


def test_roles_and_hierarchies_are_told(told, release):
    columns = by_name(told["columns"])
    assert list(columns) == [column.name for column in release.original]
    assert columns["patient_id"]["treatment"] == "left out: it names a person"
    assert columns["cost"]["treatment"] == "released unchanged, neither generalized nor checked"
    assert columns["birth_date"]["treatment"].startswith("generalized by its hierarchy (levels ")
    heights = [len(level) for level in release.original["postcode"].hierarchy.levels]
    assert columns["postcode"]["levels"] == heights


def test_a_column_without_a_role_is_told_as_left_out():
    data = pa.table({"age": [1, 1, 2, 2], "shoe": [40, 41, 42, 43]})
    some = shoal.Table.from_arrow(data, {"age": "quasi"})
    found = by_name(contents(shoal.anonymize(some, KAnonymity(2)))["columns"])["shoe"]
    assert (found["role"], found["treatment"]) == (None, "left out: it has no role")


@pytest.mark.parametrize(
    ("recode", "words"),
    [
        (Recoding.identity, "kept exactly"),
        (Recoding.suppressed, "hidden entirely"),
        (lambda c: Recoding.at_level(c, 1), "generalized by its hierarchy (level 1 of 2)"),
        (
            lambda c: Recoding.of_groups(c, np.array([0, 0, 1, 1], np.int32), 2),
            "generalized by its hierarchy (levels 0 to 1 of 2)",
        ),
        (
            lambda c: Recoding.of_groups(
                c, np.array([0, 0, 1, 1], np.int32), 2, use_hierarchy=False
            ),
            "published as sets of values",
        ),
        (
            lambda c: Recoding.of_groups(c, np.array([0, 0, 1, 1], np.int32), 2, "representative"),
            "published as one typical value for each group",
        ),
    ],
)
def test_what_became_of_a_column_is_told_in_words(recode, words):
    tree = {"ab": ["a", "b"], "cd": ["c", "d"]}
    column = shoal.Column.encode("x", ["a", "b", "c", "c"], hierarchy={"tree": tree})
    assert treatment(recode(column)) == words


def test_risk_and_uniqueness_by_hand():
    """Ages 1 1 2 3, published as 1, 1, [2, 3], [2, 3]: two were alone, nobody is."""
    some = shoal.Table.from_arrow(pa.table({"age": [1, 1, 2, 3] * 5}), {"age": "quasi"})
    ids = np.tile(np.array([0, 0, 1, 1], np.int32), 5)
    found = contents(Release.of_groups(some, ids, 2, KAnonymity(6)))["risk"]
    assert (found["fewest_candidates"], found["highest"], found["average"]) == (10, 0.1, 0.1)
    before, after = found["uniqueness"]
    assert (before["alone"], before["below_k"], before["below_k_share"]) == (0, 10, 0.5)
    assert before["average"] == 7.5  # ten people among ten alike, ten among five
    assert (after["alone"], after["below_k"], after["average"]) == (0, 0, 10)
    assert found["sizes"] == [{"from": 10, "to": 10, "number": 2, "share": 1.0}]


def test_classes_are_told_by_size(told, release):
    bars = told["risk"]["sizes"]
    assert sum(bar["number"] for bar in bars) == len(release.classes)
    assert sum(bar["share"] for bar in bars) == pytest.approx(1, abs=0.01)
    for bar in bars:
        most = np.inf if bar["to"] is None else bar["to"]
        sizes = release.classes.sizes
        assert ((sizes >= bar["from"]) & (sizes <= most)).sum() == bar["number"]


def test_a_freeform_release_is_told_by_whom_each_person_fits():
    release = made(table(), "doka-sort-greedy")
    found = contents(release)
    assert found["risk"]["by_class"] is False
    assert found["risk"]["fewest_candidates"] >= 3
    assert sum(bar["number"] for bar in found["risk"]["sizes"]) == 61
    assert all(bar["number"] >= 5 for bar in found["risk"]["sizes"])
    assert "Records without groups" in [limit["title"] for limit in found["limits"]]
    assert found["attacks"]["checks"]


def test_freeform_risk_is_no_lower_than_the_model_reaches():
    release = made(table(), "doka-greedy")
    reached = release.verify().levels["freeform-anonymity(k=3)"]
    assert contents(release)["risk"]["fewest_candidates"] <= reached


def test_losses_are_those_of_the_metrics(told, release):
    expected = shoal.metrics.evaluate(release)
    found = {m["name"]: m["value"] for m in told["losses"]["metrics"]}
    assert found == pytest.approx(expected, abs=6e-4)
    assert all(m["title"] and m["meaning"] for m in told["losses"]["metrics"])
    assert told["losses"]["undefined"] == shoal.metrics.undefined(release)


def test_losses_by_attribute_are_told_for_all_and_for_the_hardest_hit(told, release):
    expected = shoal.metrics.ncp_by_attribute(release)
    found = by_name(told["losses"]["attributes"], "column")
    assert {n: a["loss"] for n, a in found.items()} == pytest.approx(expected, abs=6e-4)
    lost = shoal.metrics.ncp_by_record(release)
    weights = {c.name: c.weight for c in release.original.quasi_columns}
    hard = sum(weights[n] * a["hardest_hit"] for n, a in found.items()) / sum(weights.values())
    last = np.sort(lost)[-20]  # a twentieth of 400
    assert hard == pytest.approx(lost[lost > last - 1e-9].mean(), abs=2e-3)


def test_a_release_that_treats_all_alike_has_no_hardest_hit():
    found = contents(made(table(), "flash"))["losses"]["attributes"]
    assert {a["hardest_hit"] for a in found} == {None}


def test_correlations_are_those_of_the_metric(told, release):
    expected = shoal.metrics.bivariate_correlation_by_pair(release, corrected=True)
    found = {(p["first"], p["second"]): p for p in told["correlations"]["pairs"]}
    assert list(found) == list(expected)
    for pair, both in expected.items():
        assert found[pair]["before"] == pytest.approx(both.before, abs=6e-4)
        assert found[pair]["after"] == pytest.approx(both.after, abs=6e-4)


def test_without_a_second_column_there_are_no_correlations():
    some = shoal.Table.from_arrow(pa.table({"age": [1, 1, 2, 2]}), {"age": "quasi"})
    found = contents(shoal.anonymize(some, KAnonymity(2)))["correlations"]
    assert found == {"pairs": [], "reason": "needs at least two quasi-identifiers"}


def test_attacks_are_those_of_the_checks(told, release):
    expected = shoal.risk.checks(release)
    assert [c["name"] for c in told["attacks"]["checks"]] == [c.name for c in expected]
    assert [c["severity"] for c in told["attacks"]["checks"]] == [c.severity for c in expected]


def test_a_sensitive_column_that_nothing_guards_is_named():
    release = made(table(), "mondrian")
    found = contents(release)
    alike = "in 12 of 17 groups, with 45 of 61 people (74 %), everyone has the same disease"
    assert found["sensitive"] == [
        {"column": "disease", "guarded_by": [], "same_value": alike},
        {"column": "income", "guarded_by": [], "same_value": None},
    ]
    assert found["warnings"][-1] == alike
    assert "disease and income" in found["limits"][0]["text"]


def test_the_limits_of_every_release_are_told(told):
    titles = " ".join(limit["title"] for limit in told["limits"])
    for word in ("homogeneity", "skewness", "Background", "Several releases", "minimality"):
        assert word in titles


def test_the_run_is_told_so_that_it_can_be_repeated(told, release):
    again = told["repeat"]
    assert again["versions"]["shoal"] == shoal.__version__
    assert again["options"] == dict(release.run.options)
    names = {name: getattr(shoal, name) for name in ("KAnonymity", "LDiversity")}
    repeated = eval(again["call"], {"shoal": shoal, "table": release.original, **names})
    assert repeated.to_arrow().equals(release.to_arrow())


def test_the_released_file_is_known_by_its_digest(release, tmp_path):
    release.write(tmp_path / "out.csv")
    content = (tmp_path / "out.csv").read_bytes()
    assert contents(release, released=tmp_path / "out.csv")["repeat"]["file"] == {
        "name": "out.csv",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def test_equal_releases_give_equal_reports(release, tmp_path):
    again = shoal.anonymize(patients(), release.model)
    release.report(tmp_path / "a.html")
    again.report(tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_the_json_form_says_the_same(release, told, tmp_path):
    release.report(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(json.dumps(told))


def test_a_report_is_html_or_json_and_overwrites_nothing(release, tmp_path):
    with pytest.raises(OutputError, match=r"must end in \.html or \.json"):
        release.report(tmp_path / "report.pdf")
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        release.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == "mine"
    release.report(tmp_path / "report.html", force=True)
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_a_release_of_nothing_has_a_report():
    some = table()
    hidden = {c.name: Recoding.suppressed(c) for c in some.quasi_columns}
    release = Release(some, hidden, KAnonymity(3), np.ones(len(some), dtype=bool))
    found = contents(release)
    assert found["records"]["released"] == 0
    assert (found["distributions"], found["losses"]["metrics"]) == ([], [])


def test_a_weighted_table_has_the_report_of_its_records():
    rows = {"age": [1, 2, 3, 4], "ill": ["x", "y", "x", "y"]}
    roles = {"age": "quasi", "ill": "sensitive"}
    counts = [6, 7, 8, 9]
    light = shoal.Table.from_arrow(pa.table(rows), roles, counts=counts)
    heavy = shoal.Table.from_arrow(
        pa.table({n: np.repeat(cells, counts) for n, cells in rows.items()}), roles
    )
    first, second = (contents(shoal.anonymize(t, KAnonymity(10))) for t in (light, heavy))
    assert first == second


def test_a_release_read_from_elsewhere_can_be_reported():
    some = shoal.Table.from_arrow(pa.table({"age": [1, 1, 2, 2, 3, 3]}), {"age": "quasi"})
    found = contents(read_released(pa.table({"age": ["1-2"] * 4 + ["3"] * 2}), some))
    assert found["guarantee"]["parts"] == []
    assert found["verdict"] == "6 records are released, without a guarantee."
    assert found["repeat"]["call"] is None
    assert "without a guarantee" in page(found)


def test_a_proven_release_says_how_near_the_best_it_is(release):
    near = replace(release, proof=shoal.Proof(loss=2.0, bound=1.5))
    assert contents(near)["repeat"]["gap"] == 0.25


def paths(value, path=""):
    if isinstance(value, dict) and path.rpartition(".")[2] not in BY_NAME:
        for key, entry in value.items():
            yield from paths(entry, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for entry in value:
            yield from paths(entry, f"{path}[]")
    else:
        yield path


def test_the_page_documents_every_field(release, tmp_path):
    release.write(tmp_path / "out.csv")
    found = set(paths(contents(release, released=tmp_path / "out.csv")))
    lines = PAGE.read_text(encoding="utf-8").partition("| field | is |")[2].splitlines()
    shown = {p for line in lines if line for p in re.findall(r"`([^`]+)`", line.split("|")[1])}
    assert found == shown


def test_every_method_can_be_reported():
    for method in shoal.METHODS:
        told = contents(made(table(), method))
        assert told["repeat"]["method"] == method
        json.dumps(told, allow_nan=False)


def test_attacks_are_tried_where_a_column_came_without_a_hierarchy_and_rows_are_left_out():
    cells = {"town": list("aaaabbbbcd"), "ill": list("xyxyxyxyxy")}
    table = shoal.Table.from_arrow(pa.table(cells), {"town": "quasi", "ill": "sensitive"})
    model = shoal.KAnonymity(2) & shoal.LDiversity(2, "ill")
    release = shoal.anonymize(table, model, "flash", max_suppression=0.2)
    assert (release.node, release.classes.suppressed) == ({"town": 0}, 2)
    assert contents(release)["attacks"]["checks"][-1]["name"] == "minimality"
