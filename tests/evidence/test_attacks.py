"""Attacks and the rehearsal inside a pack: measured with a control group, otherwise stated."""

import json

import pytest
from tests.evidence.packs import crowd_control, crowd_release, packed

from shoal.evidence import Questionnaire, contents, verify, write_evidence
from shoal.risk.release_attacks.four_attacks import ATTACKS


def evidence_of(folder):
    return json.loads((folder / "evidence.json").read_bytes())


def rows_of(evidence, title):
    (found,) = [each for each in evidence["crosswalks"] if each["title"] == title]
    return {row["asks"]: row for row in found["rows"]}


SINGLING = "WP216, singling out: do predicates from the release isolate released people?"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    return packed(folder, made=crowd_release(), control=crowd_control())


def test_a_pack_with_a_control_group_has_four_attacks_with_intervals(attacked):
    found = evidence_of(attacked)["attacks"]
    assert (found["measured"], found["people"], found["control"]) == (True, 400, 200)
    for name in ATTACKS:
        assert 0 <= found[name]["low"] <= found[name]["risk"] <= found[name]["high"] <= 1
    assert found["singling_out"]["flagged"] is False
    assert [way["way"] for way in found["inference"]["ways"]] == ["ill"]
    assert verify.main([str(attacked)]) == 0


def test_attacks_decide_rows_of_crosswalks(attacked, tmp_path):
    row = rows_of(evidence_of(attacked), "GDPR")[SINGLING]
    assert (row["status"], row["figure"]["value"]) == ("met", 0.0)
    without = rows_of(evidence_of(packed(tmp_path)), "GDPR")[SINGLING]
    assert (without["status"], without["figure"]["value"]) == ("for a person to judge", None)


def test_a_flagged_attack_is_not_met(attacked, tmp_path, monkeypatch):
    made = crowd_release()
    leaking = contents.attack(made.original, made.original, control=crowd_control())
    monkeypatch.setattr(contents, "attack", lambda *_, **__: leaking)
    found = evidence_of(packed(tmp_path, made=made, control=crowd_control()))
    assert rows_of(found, "GDPR")[SINGLING]["status"] == "not met"
    assert found["attacks"]["singling_out"]["low"] > 0.5


def test_without_a_control_group_the_pack_says_so(tmp_path):
    folder = packed(tmp_path, made=crowd_release(k=2))
    found = evidence_of(folder)["attacks"]
    assert (found["measured"], found["reason"]) == (False, "no control group")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "no control group was held back before anonymizing" in page


def test_figures_of_few_people_are_not_measured(tmp_path):
    found = evidence_of(packed(tmp_path, made=crowd_release(60), control=crowd_control(60)))
    assert found["attacks"]["reason"] == found["rehearsal"]["reason"] == "too few people"


def test_the_rehearsal_finds_nearly_nobody_in_large_classes_and_many_in_small_ones(tmp_path):
    shares = {}
    for k in (2, 40):
        (tmp_path / str(k)).mkdir()
        found = evidence_of(packed(tmp_path / str(k), made=crowd_release(k=k)))["rehearsal"]
        assert found["measured"]
        assert found["listed"] == 200
        shares[k] = found["high"]
    assert shares[2] > 2 * shares[40]


def test_a_small_count_of_the_rehearsal_is_in_words(tmp_path):
    found = evidence_of(packed(tmp_path, made=crowd_release(200, k=100)))["rehearsal"]
    assert found["found"] in (0, "fewer than 5")
    if found["found"]:
        assert (found["share"], found["low"]) == (None, 0.0)


@pytest.mark.parametrize(
    ("areas", "status"),
    [
        ({"100": 30_000, "101": 30_000, "102": 20_001, "103": 99_999}, "met"),
        ({"100": 30_000, "101": 20_000, "102": 30_000, "103": 30_000}, "not met"),
        (None, "for a person to judge"),
    ],
)
def test_postal_codes_are_judged_by_a_table_of_populations(tmp_path, areas, status):
    made = crowd_release(400, k=5)
    rows = made.to_arrow()
    zips = [f"10{i % 4}" for i in range(rows.num_rows)]
    table = crowd_table(rows.num_rows, zips)
    answers = Questionnaire(area_populations=areas)
    found = evidence_of(packed(tmp_path, made=table, questionnaire=answers))
    asks = "(B) Does zip show at most three digits, of areas with more than 20,000 people?"
    assert rows_of(found, "HIPAA Safe Harbor")[asks]["status"] == status


def crowd_table(count, zips):
    import pyarrow as pa

    import shoal

    data = pa.table({"age": [30] * count, "zip": zips, "ill": ["a", "b"] * (count // 2)})
    roles = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
    return shoal.anonymize(shoal.Table.from_arrow(data, roles), shoal.KAnonymity(5))


def test_areas_are_read_from_a_csv_file_beside_the_questionnaire(tmp_path):
    (tmp_path / "areas.csv").write_text('zip3,people\n036,"14,000"\n100,1500000\n')
    (tmp_path / "q.yaml").write_text("area_populations: areas.csv\n")
    found = Questionnaire.read(tmp_path / "q.yaml")
    assert found.area_populations == {"036": 14_000, "100": 1_500_000}
    assert found.large_areas == ["100"]


def test_the_control_group_of_a_pack_may_be_a_part_of_the_original(tmp_path):
    made, control = crowd_release(), crowd_control()
    made.write(tmp_path / "released.csv")
    write_evidence(made, tmp_path / "pack", tmp_path / "released.csv", control=control)
    assert evidence_of(tmp_path / "pack")["attacks"]["measured"]
