"""The other replacements: what each shows, and who can reverse it."""

import json
import re
from datetime import date, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import InputError
from shoal.evidence.language import Language
from shoal.identifiers import (
    REPLACEMENTS,
    Clip,
    Context,
    Fake,
    FormatPreserving,
    Key,
    Mask,
    Round,
    Shift,
)
from shoal.projects import Project, release_project

CONTEXT = Context(Key(bytes(range(32))), "study")
CARDS = ["4024-0071-6478", "4024-0071-6479", None, "4024-0071-6478"]


def test_encryption_keeps_the_format_and_only_the_key_reverses_it():
    pytest.importorskip("cryptography")
    made = FormatPreserving().publish("card", pa.array(CARDS), CONTEXT).cells
    assert all(re.fullmatch(r"\d{4}-\d{4}-\d{4}", cell) for cell in made.drop_null().to_pylist())
    assert made[0] == made[3] != made[1]
    assert not set(made.to_pylist()) & set(CARDS[:2])
    assert FormatPreserving().reveal("card", made, CONTEXT).to_pylist() == CARDS
    for other in [Context(Key.new(), "study"), Context(CONTEXT.key, "elsewhere")]:
        assert not set(FormatPreserving().reveal("card", made, other).to_pylist()) & set(CARDS[:2])


def test_different_lengths_and_letters_are_encrypted_without_collisions():
    pytest.importorskip("cryptography")
    texts = [f"{number:0{6 + number % 5}}-ä" for number in range(3000)]
    made = FormatPreserving().publish("n", pa.array(texts), CONTEXT).cells.to_pylist()
    assert len(set(made)) == 3000
    assert [len(text) for text in made] == [len(text) for text in texts]


def test_numbers_too_short_to_hide_are_refused_with_their_count():
    pytest.importorskip("cryptography")
    with pytest.raises(InputError, match="2 values have fewer than 6 characters"):
        FormatPreserving().publish("pin", pa.array(["1234", "5678", "123456"]), CONTEXT)


def valid_iban(text):
    moved = text[4:] + text[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def test_fake_values_look_real_and_join_in_one_domain():
    pytest.importorskip("faker")
    people = pa.array(["ann", "bob", None, "ann"])
    ibans = Fake(kind="iban", locale="de_DE").publish("account", people, CONTEXT).cells
    assert all(valid_iban(cell) for cell in ibans.drop_null().to_pylist())
    assert ibans[0] == ibans[3] != ibans[1]
    assert ibans[2].as_py() is None
    other = Fake(kind="iban", locale="de_DE").publish("a", people, Context(CONTEXT.key, "b")).cells
    assert not set(ibans.drop_null().to_pylist()) & set(other.drop_null().to_pylist())


def test_fake_values_that_would_mix_people_are_refused():
    pytest.importorskip("faker")
    people = pa.array([str(number) for number in range(5000)])
    with pytest.raises(InputError, match="would stand for two people"):
        Fake(kind="first_name").publish("name", people, CONTEXT)


def test_random_fake_values_need_no_key_and_do_not_join():
    pytest.importorskip("faker")
    made = Fake(kind="iban", locale="de_DE", consistent=False).publish(
        "account", pa.array(["ann", "ann", None]), Context()
    )
    assert made.cells[0] != made.cells[1]
    assert made.cells[2].as_py() is None
    assert not made.links


@pytest.mark.parametrize("options", [{"kind": "password"}, {"locale": "xx_XX"}])
def test_an_unknown_kind_or_locale_is_refused(options):
    pytest.importorskip("faker")
    with pytest.raises(InputError, match=r"kind|locale"):
        Fake(**options).publish("name", pa.array(["ann"]), CONTEXT)


def hash_in_a_call(path, stated):
    rows = pq.read_table(path).select(["id", "age"])
    shoal.anonymize(rows, k=2, quasi="age", identifier="id", replace={"id": stated})


def hash_in_roles(path, stated):
    shoal.read(path, roles={"age": "quasi", "id": {"role": "identifier", "replace": stated}})


def hash_on_disk(path, stated):
    shoal.open(path, roles={"age": "quasi", "id": {"role": "identifier", "replace": stated}})


def hash_in_a_schema(path, stated):
    schema = path.with_suffix(".yaml")
    columns = {"age": "quasi", "id": {"role": "identifier", "replace": stated}}
    schema.write_text(json.dumps({"columns": columns}))
    shoal.read(path, schema)


def hash_in_a_project(path, stated):
    project = path.with_name("project.yaml")
    columns = {"age": "quasi", "id": {"role": "identifier", "replace": stated}}
    people = {"key": "number", "from": path.name, "columns": columns}
    project.write_text(json.dumps({"person": "people", "tables": {"people": people}}))
    release_project(Project.read(project), path.with_name("out"), "k-anonymity(2)")


ASKED = [hash_in_a_call, hash_in_roles, hash_on_disk, hash_in_a_schema, hash_in_a_project]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("stated", ["hash", {"hash": {}}, {"hash": None}], ids=repr)
def test_a_hash_without_a_key_is_refused_for_any_values(ask, stated, tmp_path):
    path = tmp_path / "people.parquet"
    ids = [f"https://portal.example.org/patients/{number}" for number in range(4)]
    pq.write_table(pa.table({"number": range(4), "id": ids, "age": [30, 31, 40, 41]}), path)
    with pytest.raises(InputError, match=r"column 'id': a hash without a key .* use pseudonym"):
        ask(path, stated)
    assert "hash" not in REPLACEMENTS


def test_dates_of_a_person_move_together():
    days = [date(2024, 1, 1), date(2024, 1, 11), date(2024, 1, 1), None]
    context = Context(CONTEXT.key, "study", pa.array(["a", "a", "b", "b"]))
    made = Shift(days=1000).publish("visit", pa.array(days), context).cells.to_pylist()
    assert (made[1] - made[0]).days == 10
    assert made[0] != days[0]
    assert made[2] - days[2] != made[0] - days[0]
    assert made[3] is None


def test_shifts_reach_both_ends_and_never_zero():
    people = pa.array([str(number) for number in range(2000)])
    context = Context(CONTEXT.key, "study", people)
    made = Shift(days=3).publish("d", pa.array([date(2024, 1, 10)] * 2000), context).cells
    assert {day.day - 10 for day in made.to_pylist()} == {-3, -2, -1, 1, 2, 3}


def test_shifts_of_whole_weeks_reach_both_ends_and_keep_the_day_of_the_week():
    days = [date(2024, 1, 10) + timedelta(n % 9) for n in range(2000)]
    context = Context(CONTEXT.key, "study", pa.array([str(number) for number in range(2000)]))
    made = Shift(days=27, whole_weeks=True).publish("d", pa.array(days), context)
    moved = [(new - old).days for new, old in zip(made.cells.to_pylist(), days, strict=True)]
    assert set(moved) == {-21, -14, -7, 7, 14, 21}
    assert made.record["whole_weeks"] is True


def test_shifts_of_days_and_of_weeks_have_nothing_in_common():
    context = Context(CONTEXT.key, "study", pa.array([str(number) for number in range(2000)]))
    cells = pa.array([date(2024, 1, 10)] * 2000)
    days, weeks = (
        Shift(days=7, whole_weeks=whole).publish("d", cells, context).cells.to_pylist()
        for whole in (False, True)
    )
    pairs = set(zip(days, weeks, strict=True))
    assert len(pairs) == 14 * 2


@pytest.mark.parametrize("code", ["en", "de", "fr"])
@pytest.mark.parametrize("whole", [False, True])
def test_evidence_says_how_dates_were_shifted_in_every_language(code, whole):
    context = Context(CONTEXT.key, "study", pa.array(["a"]))
    made = Shift(days=365, whole_weeks=whole).publish("d", pa.array(["2024-01-10"]), context)
    said = Language.read(code).say(made.treatment)
    assert ("52" if whole else "365") in said
    assert "lang=" not in said


def test_dates_without_people_or_that_are_no_dates_are_refused():
    with pytest.raises(InputError, match="declare the column that identifies people"):
        Shift().publish("visit", pa.array(["2024-01-01"]), CONTEXT)
    with pytest.raises(InputError, match="not dates"):
        Shift().publish("visit", pa.array(["soon"]), Context(CONTEXT.key, "s", pa.array(["a"])))


@pytest.mark.parametrize(
    ("kind", "cells", "shown"),
    [
        (Mask(last=4), ["0151234567", "123"], ["*****4567", "*****"]),
        (Mask(first=1, sign="#"), ["ann", None], ["a#####", None]),
        (Round(to=0.5), ["1.2", "1.3"], ["1", "1.5"]),
        (Clip(low=18, high=90), ["3", "47", "103", None], ["18", "47", "90", None]),
    ],
)
def test_coarser_cells(kind, cells, shown):
    assert kind.coarsen("column", pa.array(cells)).to_pylist() == shown


def test_coarser_identifiers_are_covered_by_the_guarantee():
    rows = pa.table({"phone": ["5550", "5551", "6660", "6661"], "age": [30, 31, 40, 41]})
    release = shoal.anonymize(
        rows, k=2, quasi="age", identifier="phone", replace={"phone": Mask(first=1)}
    )
    assert set(release.recodings) == {"age", "phone"}
    assert release.verify()
    assert sorted(release.to_arrow().column("phone").to_pylist()) == ["5*****"] * 2 + ["6*****"] * 2


@pytest.mark.parametrize(
    "make",
    [
        Clip,
        lambda: Clip(5, 3),
        lambda: Round(0),
        lambda: Mask(sign="**"),
        lambda: Shift(days=0),
        lambda: Shift(days=6, whole_weeks=True),
        lambda: Shift(whole_weeks=2),
    ],
)
def test_impossible_options_are_refused(make):
    with pytest.raises(InputError):
        make()


def test_a_dropped_column_is_not_published():
    rows = pa.table({"who": list("abcd"), "age": [30, 31, 40, 41]})
    release = shoal.anonymize(rows, k=2, quasi="age", identifier="who", replace={"who": "drop"})
    assert release.to_arrow().column_names == ["age"]
