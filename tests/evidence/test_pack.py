"""Evidence packs: their contents, statuses of crosswalks, and a folder that is whole or absent."""

import json
import re

import pyarrow as pa
import pytest
from tests.evidence.packs import packed, release

import shoal
from shoal.evidence import Questionnaire, pack, verify, write_evidence
from shoal.evidence.crosswalk_rows import IDENTIFIERS, kind_of


def evidence_of(folder):
    return json.loads((folder / "evidence.json").read_bytes())


def statuses(evidence, title):
    (found,) = [each for each in evidence["crosswalks"] if each["title"] == title]
    return {row["asks"]: row["status"] for row in found["rows"]}


def test_risk_is_stated_before_and_after(tmp_path):
    rows = [{"age": 30 + i, "ill": "ab"[i % 2]} for i in range(4)]
    table = shoal.Table.from_arrow(pa.Table.from_pylist(rows), {"age": "quasi", "ill": "sensitive"})
    made = shoal.anonymize(table, shoal.KAnonymity(2))
    evidence = evidence_of(packed(tmp_path, made=made))
    assert evidence["risk"]["before"] == {"maximum": 1.0, "average": 1.0}
    assert evidence["risk"]["after"] == {"maximum": 0.5, "average": 0.5}
    assert evidence["threshold"]["maximum_risk"] == 0.5
    assert evidence["context"]["recipient"] == evidence["review"]["date"] == "not stated"


def test_every_column_has_a_technique_and_a_reason(tmp_path):
    answers = Questionnaire(columns={"town": "the study compares towns"})
    evidence = evidence_of(packed(tmp_path, questionnaire=answers))
    found = {each["column"]: each for each in evidence["inventory"]}
    assert list(found) == ["name", "age", "town", "ill"]
    assert found["name"]["technique"] == "left out: it names a person"
    assert (found["town"]["reason"], found["town"]["stated_by_owner"]) == (
        "the study compares towns",
        True,
    )
    assert all(each["technique"] and each["reason"] for each in found.values())


@pytest.mark.parametrize(("copies", "status"), [(11, "not met"), (12, "met")])
def test_ema_needs_classes_of_twelve(tmp_path, copies, status):
    evidence = evidence_of(packed(tmp_path, made=release(copies)))
    found = statuses(evidence, "EMA Policy 0070 and Health Canada")
    assert found["Is the highest risk of a person at most 0.09?"] == status
    assert found["Does every class have at least 12 people?"] == status


def test_several_rows_of_a_person_do_not_count_as_people(tmp_path):
    rows = [
        {"id": f"p{i % 6}", "age": 30, "ill": "ab"[i % 2]} for i in range(24)
    ]  # one class: 24 rows of 6 people
    roles = {"id": "identifier", "age": "quasi", "ill": "sensitive"}
    table = shoal.Table.from_arrow(pa.Table.from_pylist(rows), roles, person=["id"])
    evidence = evidence_of(packed(tmp_path, made=shoal.anonymize(table, shoal.KAnonymity(5))))
    assert evidence["measured"]["classes"]["smallest"] == 24
    assert evidence["unit"]["smallest_class"] == 6
    assert evidence["risk"]["after"]["maximum"] == 0.167
    found = statuses(evidence, "EMA Policy 0070 and Health Canada")
    assert found["Does every class have at least 12 people?"] == "not met"


def test_a_value_that_a_whole_class_shares_is_not_met(tmp_path):
    rows = [
        {"age": age, "ill": "flu" if age == 30 else "ab"[i]} for age in (30, 50) for i in (0, 1)
    ]
    table = shoal.Table.from_arrow(pa.Table.from_pylist(rows), {"age": "quasi", "ill": "sensitive"})
    evidence = evidence_of(packed(tmp_path, made=shoal.anonymize(table, shoal.KAnonymity(2))))
    asks = "WP216, inference: can the value of ill be derived?"
    assert statuses(evidence, "GDPR")[asks] == "not met"


def test_safe_harbor_asks_for_all_eighteen_identifiers(tmp_path):
    assert [each.letter for each in IDENTIFIERS] == list("ABCDEFGHIJKLMNOPQR")
    rows = [{"age": 30, "e-mail": "none", "note": "x@example.org"} for _ in range(6)]
    roles = {"age": "quasi", "e-mail": "insensitive", "note": "insensitive"}
    table = shoal.Table.from_arrow(pa.Table.from_pylist(rows), roles)
    evidence = evidence_of(packed(tmp_path, made=shoal.anonymize(table, shoal.KAnonymity(2))))
    found = statuses(evidence, "HIPAA Safe Harbor")
    assert found["(F) e-mail addresses"] == "not met"
    assert found["(O) IP addresses"] == "met"
    assert found["(A) names"] == "for a person to judge"


@pytest.mark.parametrize(
    ("name", "letter"),
    [("Last Name", "A"), ("ZIP", "B"), ("date_of_birth", "C"), ("mobile", "D"), ("SSN", "G"),
     ("patient_id", "H"), ("IBAN", "J"), ("ip", "O"), ("uuid", "R"), ("zipped", None),
     ("diagnosis", None), ("ship", None)],
)  # fmt: skip
def test_identifiers_are_known_by_the_names_of_columns(name, letter):
    assert kind_of(name) == letter


def test_answers_of_the_questionnaire_are_for_a_person_to_judge(tmp_path):
    asks = "Was a motivated intruder test done, and with which result?"
    title = "UK ICO, motivated intruder"
    assert statuses(evidence_of(packed(tmp_path)), title)[asks] == "not met"
    answers = Questionnaire(intruder_test="two analysts tried for a day and found nobody")
    made = release()
    write_evidence(made, tmp_path / "other", tmp_path / "released.csv", questionnaire=answers)
    found = statuses(evidence_of(tmp_path / "other"), title)
    assert found[asks] == "for a person to judge"


def test_nothing_is_called_compliant(tmp_path):
    folder = packed(tmp_path)
    texts = [file.read_text(encoding="utf-8").lower() for file in folder.iterdir()]
    assert not [text for text in texts if "compliant" in text or "compliance" in text]


def test_the_page_needs_no_network_and_runs_no_script(tmp_path):
    page = (packed(tmp_path) / "index.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<link|<img|@import|src=|https?://", page)
    assert "@media print" in page


def test_the_sections_that_the_limits_name_exist(tmp_path):
    rows = [{"age": 30 + i // 6, "ill": "flu", "note": f"n{i}"} for i in range(12)]
    roles = {"age": "quasi", "ill": "sensitive", "note": "insensitive"}
    made = shoal.anonymize(
        shoal.Table.from_arrow(pa.Table.from_pylist(rows), roles), shoal.KAnonymity(2)
    )
    page = (packed(tmp_path, made=made) / "index.html").read_text(encoding="utf-8")
    sections = dict(re.findall(r"<h2[^>]*>(\d+)\. ([^<]*)", page))
    assert set(re.findall(r"[Ss]ection (\d+)", page)) == {"3", "4"}
    assert sections["3"] == "Threshold and risk"
    assert sections["4"] == "What an attacker can learn about sensitive columns"
    assert "single out, of 12" in page
    assert "12 of 12 people" in page  # all are ill with the same disease


def test_risk_in_a_stated_population_is_lower(tmp_path):
    answers = Questionnaire(population=500)
    evidence = evidence_of(packed(tmp_path, made=release(6), questionnaire=answers))
    found = evidence["risk"]["population"]
    assert found["people"] == 500
    assert 0 < found["maximum"] < evidence["risk"]["after"]["maximum"]


def test_a_population_smaller_than_the_release_is_refused(tmp_path):
    with pytest.raises(shoal.InputError, match="population must not be smaller"):
        packed(tmp_path, questionnaire=Questionnaire(population=3))
    assert not (tmp_path / "pack").exists()


def test_a_reason_for_an_unknown_column_is_refused(tmp_path):
    with pytest.raises(shoal.InputError, match=r"no column 'twn' \(did you mean 'town'"):
        packed(tmp_path, questionnaire=Questionnaire(columns={"twn": "typing error"}))


def test_a_claim_of_differential_privacy_withholds_the_table(tmp_path):
    rows = [{"age": 20 + i % 4, "sex": "fm"[i % 2]} for i in range(400)]
    tree = {"role": "quasi", "type": "integer", "bounds": [0, 99]}
    roles = {"age": {**tree, "hierarchy": {"intervals": [50, 100]}},
             "sex": {"role": "quasi", "type": "text", "values": ["f", "m"],
                     "hierarchy": {"tree": {"any": ["f", "m"]}}}}  # fmt: skip
    table = shoal.Table.from_arrow(pa.Table.from_pylist(rows), roles, rows_are_people=True)
    made = shoal.anonymize(table, shoal.KAnonymity(20), "safe-la", beta=0.3, epsilon=1.0, seed=1)
    evidence = evidence_of(packed(tmp_path, made=made))
    assert evidence["risk"]["before"] is None
    assert evidence["utility"]["metrics"] == []
    found = statuses(evidence, "NIST SP 800-226")
    assert found["Is it impossible to repeat the random draws?"] == "not met"  # a seed was given


def test_an_existing_folder_is_refused_and_replaced_only_if_it_is_a_pack(tmp_path):
    folder = packed(tmp_path)
    before = verify.digest(folder / "manifest.json")
    made, file = release(), tmp_path / "released.csv"
    with pytest.raises(shoal.OutputError, match="exists already"):
        write_evidence(made, folder, file)
    assert write_evidence(made, folder, file, title="Another", force=True) != before
    (folder / "thesis.txt").write_text("ten years of work")
    with pytest.raises(shoal.OutputError, match="contains other files"):
        write_evidence(made, folder, file, force=True)
    assert (folder / "thesis.txt").exists()


def test_a_release_inside_the_folder_is_refused(tmp_path):
    made = release()
    (tmp_path / "pack").mkdir()
    made.write(tmp_path / "pack" / "evidence.json.csv")
    with pytest.raises(shoal.OutputError, match="contains other files"):
        write_evidence(made, tmp_path / "pack", tmp_path / "pack" / "evidence.json.csv", force=True)


@pytest.mark.parametrize("step", ["evidence_page", "_write"])
def test_an_interrupted_run_leaves_nothing(tmp_path, monkeypatch, step):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pack, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        packed(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["released.csv"]


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("30,Ulm,flu\n", "", shoal.InputError, "does not have the rows of the release"),
        ("ill", "well", shoal.NotAnonymous, "has no column 'ill'"),
        ("30,Ulm,flu", "31,Ulm,flu", shoal.NotAnonymous, "smaller than the guarantee allows"),
    ],
)
def test_a_file_that_is_not_the_release_gets_no_pack(tmp_path, old, new, error, message):
    made = release()
    made.write(tmp_path / "released.csv")
    text = (tmp_path / "released.csv").read_text()
    assert old in text
    (tmp_path / "released.csv").write_text(text.replace(old, new, 1))
    with pytest.raises(error, match=message):
        write_evidence(made, tmp_path / "pack", tmp_path / "released.csv")
    assert not (tmp_path / "pack").exists()


def test_a_pseudonym_is_in_the_inventory_and_makes_no_record_unique(tmp_path):
    key = shoal.identifiers.Key.new()
    made = release(replace={"name": "pseudonym"}, key=key, domain="study")
    folder = packed(tmp_path, made=made)
    evidence = evidence_of(folder)
    found = {each["column"]: each for each in evidence["inventory"]}["name"]
    assert found["technique"].startswith("replaced")
    assert found["reason"] == "it names a person, so other values are released in its place"
    assert evidence["roles"]["name"] == "identifier"
    (tmp_path / "without").mkdir()
    without = evidence_of(packed(tmp_path / "without"))
    assert evidence["measured"]["unique_records"] == without["measured"]["unique_records"]
    assert verify.main([str(folder)]) == 0
