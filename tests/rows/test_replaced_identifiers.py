"""Replaced identifiers give the same release on disk as in memory, and leave no secret behind."""

from __future__ import annotations

import hashlib
import json
import logging
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal import InputError
from shoal.files.writing import write_table
from shoal.identifiers import Key, Lookup
from shoal.risk.singling_out import count_linked
from shoal.rows import duckdb_session

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
KEY = Key(hashlib.sha256(b"a key of tests").digest())
TREES = {"age": {"intervals": [5, 10, 20]}, "month": {"intervals": [3, 6]}}


def visits(rows=200, people=60, seed=3, constant=False):
    """Return visits of people with a number, a phone that some share, and a unique number."""
    draw = random.Random(seed)
    who = [draw.randrange(people) for _ in range(rows)]
    return pa.table(
        {
            "visit": [f"v-{10**6 + n}" for n in range(rows)],
            "who": [f"patient {person}" for person in who],
            "age": [20 + person % 40 for person in who],
            "month": [w % 12 if constant else draw.randrange(12) for w in who],
            "phone": [None if w % 7 == 0 else f"0151 {w // 2:06}" for w in who],
            "day": [f"2024-0{1 + draw.randrange(9)}-1{draw.randrange(9)}" for _ in who],
            "note": [f"call 0151 2345{w:03} about {draw.randrange(9)}" for w in who],
            "ill": [draw.choice(["flu", "gout", "cold"]) for _ in who],
        }
    )


def stored(data, path):
    if path.suffix == ".csv":
        write_table(data, path)
    else:
        pq.write_table(data, path)
    return path


def roles(replaced, quasi=("age",)):
    """Return the roles of columns; identifiers that are not replaced are left out."""
    named = dict.fromkeys(["visit", "who", "phone", "day", "note"], "drop") | replaced
    identifiers = {n: {"role": "identifier", "replace": kind} for n, kind in named.items()}
    return identifiers | dict.fromkeys(quasi, "quasi") | {"ill": "sensitive"}


def outcome(read, source, described, output, model, method, units=None, **options):
    """Return the bytes of a release, its check and its records, or the kind of error."""
    try:
        trees = {n: tree for n, tree in TREES.items() if described.get(n) == "quasi"}
        units = {"person": "who"} if units is None else units
        table = read(source, roles=described, hierarchies=trees, **units)
        secrets = {"key": KEY, "domain": "study", **options}
        release = shoal.anonymize(table, model, method=method, **secrets)
        checked = release.write(output, force=True)
        records = {name: (each.treatment, each.record) for name, each in release.replaced.items()}
        return checked, records, output.read_bytes()
    except shoal.ShoalError as error:
        return type(error), str(error).removeprefix(f"{source}: ")


REPLACED = {
    "unique pseudonyms": {"visit": {"pseudonym": {"length": 20}}},
    "encrypted numbers": {"visit": "ff1"},
    "a pseudonym of the person": {"who": "pseudonym"},
    "fake names of people": {"who": {"fake": {"kind": "address"}}},
    "shifted dates": {"day": "shift"},
    "dates shifted by whole weeks": {"day": {"shift": {"days": 30, "whole_weeks": True}}},
    "shifted dates of linked rows": {"who": "pseudonym", "day": {"shift": {"days": 9}}},
    "redacted text": {"note": "redact"},
    "a phone that people share": {"phone": "pseudonym"},
    "several that link": {"phone": "ff1", "who": "pseudonym", "visit": "pseudonym"},
    "phones and texts": {"phone": {"pseudonym": {"space": "phone"}}, "note": "pseudonym"},
}


@pytest.mark.parametrize("source", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("replaced", REPLACED.values(), ids=REPLACED)
def test_the_release_is_that_of_the_table_in_memory(replaced, source, tmp_path):
    path = stored(visits(), tmp_path / source)
    for quasi in (("age",), ("age", "month")):
        for method in ("mondrian", "flash"):
            model = "k-anonymity(3) & l-diversity(2, ill)" if quasi[1:] else "k-anonymity(4)"
            asked = (path, roles(replaced, quasi), tmp_path / "release.csv", model, method)
            assert outcome(shoal.open, *asked) == outcome(shoal.read, *asked)


@pytest.mark.parametrize("method", ["ola", "datafly", "samarati", "incognito"])
def test_full_domain_methods_anonymize_people_whose_rows_are_linked(method, tmp_path):
    path = stored(visits(constant=True), tmp_path / "rows.parquet")
    described = roles({"who": "pseudonym"}, ("age", "month"))
    asked = (path, described, tmp_path / "release.parquet", "k-anonymity(5)", method)
    found = outcome(shoal.open, *asked)
    assert found == outcome(shoal.read, *asked)
    assert found[0].holds


@examples(20)
@given(data=st.data())
def test_random_links_give_the_release_of_the_table_in_memory(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("random")
    rows = data.draw(st.integers(6, 40))

    def column(values):
        return data.draw(st.lists(values, min_size=rows, max_size=rows))

    table = pa.table(
        {
            "who": column(st.integers(0, 9).map("n{}".format)),
            "phone": pa.array(column(st.none() | st.integers(0, 15).map(str)), pa.string()),
            "age": column(st.integers(0, 3)),
            "month": column(st.integers(0, 2)),
            "ill": column(st.sampled_from("xyz")),
        }
    )
    linking = data.draw(st.sampled_from([["who"], ["phone"], ["who", "phone"]]))
    units = data.draw(st.sampled_from([{"person": "who"}, {"person": "who", "household": "phone"}]))
    if "household" in units:
        table = table.set_column(1, "phone", table["phone"].fill_null("0"))
    described = dict.fromkeys(["who", "phone"], "identifier")
    described |= {n: {"role": "identifier", "replace": "pseudonym"} for n in linking}
    described |= {"age": "quasi", "month": "quasi", "ill": "sensitive"}
    path = stored(table, folder / data.draw(st.sampled_from(["rows.csv", "rows.parquet"])))
    model = data.draw(st.sampled_from(["k-anonymity(2)", "k-anonymity(2) & l-diversity(2, ill)"]))
    method = data.draw(st.sampled_from(["mondrian", "flash"]))
    asked = (path, described, folder / "release.csv", model, method, units)
    found, expected = outcome(shoal.open, *asked), outcome(shoal.read, *asked)
    if len(expected) == 2:  # an error, which is about fewer people if a phone joins them
        assert len(found) == 2
    else:
        assert found == expected


def test_rows_that_are_linked_without_a_person_are_people(tmp_path):
    path = stored(visits(), tmp_path / "rows.parquet")
    described = roles({"phone": "pseudonym"}) | {"who": "insensitive"}
    asked = (path, described, tmp_path / "release.csv", "k-anonymity(4)", "mondrian", {})
    assert outcome(shoal.open, *asked) == outcome(shoal.read, *asked)
    asked = (*asked[:-1], {"rows_are_people": True})
    found = outcome(shoal.open, *asked)
    assert found == outcome(shoal.read, *asked)
    assert "so rows are not people" in found[1]


def test_tokens_stay_the_same_in_memory_and_on_disk(tmp_path):
    path, lookup = stored(visits(), tmp_path / "rows.csv"), Lookup(tmp_path / "tokens.sealed", KEY)
    asked = (path, roles({"who": "token"}), tmp_path / "release.csv", "k-anonymity(3)", "mondrian")
    found = outcome(shoal.open, *asked, lookup=lookup)
    assert len(lookup.tokens["study"]) == len(visits()["who"].unique())
    assert found == outcome(shoal.read, *asked, lookup=lookup)


def test_batches_do_not_change_the_release(tmp_path, monkeypatch):
    monkeypatch.setattr(duckdb_session, "_BATCH", 2_048)
    path = stored(visits(9_000, 5_000), tmp_path / "rows.parquet")
    replaced = {"visit": "pseudonym", "who": "pseudonym", "day": "shift", "note": "redact"}
    asked = (path, roles(replaced), tmp_path / "release.parquet", "k-anonymity(5)", "mondrian")
    assert outcome(shoal.open, *asked) == outcome(shoal.read, *asked)


def test_replacements_that_stand_for_two_people_are_noticed_across_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(duckdb_session, "_BATCH", 2_048)

    def cut(texts, key, length):
        return pa.array([text[-5:].rjust(length) for text in texts.to_pylist()], pa.string())

    monkeypatch.setattr("shoal.identifiers.pseudonym.codes", cut)
    data = pa.table(
        {"id": [f"{n // 5000} {n % 5000:05}" for n in range(10_000)], "age": [1] * 10_000}
    )
    path = stored(data, tmp_path / "rows.parquet")
    described = {"id": {"role": "identifier", "replace": "pseudonym"}, "age": "quasi"}
    table = shoal.open(path, roles=described)
    with pytest.raises(InputError, match="5,000 pseudonyms would stand for two people"):
        shoal.anonymize(table, k=2, key=KEY, domain="study")


def test_random_fakes_link_nothing(tmp_path):
    path = stored(visits(), tmp_path / "rows.parquet")
    described = roles({"who": {"fake": {"kind": "address", "consistent": False}}})
    with shoal.open(path, roles=described, person="who") as table:
        shoal.anonymize(table, k=3).write(tmp_path / "release.parquet")
    fakes = pq.read_table(tmp_path / "release.parquet")["who"]
    assert len(fakes.unique()) > 150


def test_a_table_has_the_replacements_of_one_domain(tmp_path):
    path = stored(visits(), tmp_path / "rows.parquet")
    with shoal.open(path, roles=roles({"who": "pseudonym"}), person="who") as table:
        first = shoal.anonymize(table, k=3, key=KEY, domain="study")
        shoal.anonymize(table, k=5, key=KEY, domain="study")
        with pytest.raises(InputError, match="another key, domain or lookup table"):
            shoal.anonymize(table, k=3, key=KEY, domain="clinic")
        first.write(tmp_path / "release.csv")
    in_memory = shoal.read(path, roles=roles({"who": "pseudonym"}), person="who")
    shoal.anonymize(in_memory, k=3, key=KEY, domain="study").write(tmp_path / "memory.csv")
    assert (tmp_path / "release.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()


def test_a_key_and_a_domain_are_needed_as_in_memory(tmp_path):
    path = stored(visits(), tmp_path / "rows.parquet")
    with shoal.open(path, roles=roles({"who": "pseudonym"}), person="who") as table:
        with pytest.raises(InputError, match="needs a key"):
            shoal.anonymize(table, k=3)
        with pytest.raises(InputError, match="needs a domain"):
            shoal.anonymize(table, k=3, key=KEY)
        assert shoal.anonymize(table, k=3, key=KEY, domain="study").verify().holds


def test_methods_on_partitions_replace_what_links_nothing(tmp_path):
    path = stored(visits(2_000, 2_000), tmp_path / "rows.parquet")
    described = roles({"visit": "pseudonym", "day": "shift"}, ("age", "month"))
    with shoal.open(path, roles=described, person="who", partition_rows=400) as table:
        release = shoal.anonymize(table, k=5, method="greedy", key=KEY, domain="study")
        assert release.write(tmp_path / "release.parquet").holds
    written = pq.read_table(tmp_path / "release.parquet")
    assert written.column_names == ["visit", "age", "month", "day", "ill"]
    assert len(written["visit"].unique()) == 2_000
    table = shoal.open(path, roles=roles({"who": "pseudonym"}), person="who")
    with pytest.raises(InputError, match="who links the rows of a person"):
        shoal.anonymize(table, k=5, method="greedy", key=KEY, domain="study")


def test_spark_refuses_replacements_that_need_a_key(tmp_path):
    path = stored(visits(), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="its executors would need the key"):
        shoal.open(path, roles=roles({"who": "pseudonym"}), person="who", engine="spark")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_neither_the_key_nor_an_identifier_is_left_behind(ending, tmp_path, monkeypatch, caplog):
    working, statements = tmp_path / "working", []
    working.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(working))

    class Recorded(duckdb_session.Session):
        def run(self, statement, *rest):
            statements.append(statement)
            super().run(statement, *rest)

        def arrow(self, statement):
            statements.append(statement)
            return super().arrow(statement)

        def value(self, statement):
            statements.append(statement)
            return super().value(statement)

        def pour(self, statement, *rest):
            statements.append(statement)
            super().pour(statement, *rest)

    monkeypatch.setattr("shoal.rows.duckdb_engine.Session", Recorded)
    path = stored(visits(), tmp_path / f"rows.{ending}")
    replaced = {"who": "pseudonym", "visit": "ff1", "day": "shift"}
    replaced["phone"] = {"pseudonym": {"space": "phone"}}
    secrets = [KEY.secret, KEY.secret.hex().encode()]
    secrets += [
        KEY.derive(what, "study", *rest)
        for what, *rest in (
            ("pseudonym",),
            ("pseudonym", "phone"),
            ("ff1", "0123456789"),
            ("shift", "365"),
        )
    ]
    originals = [text.encode() for text in visits()["visit"].to_pylist()]
    caplog.set_level(logging.DEBUG)
    with shoal.open(path, roles=roles(replaced), person="who") as table:
        release = shoal.anonymize(table, k=3, key=KEY, domain="study")
        release.write(tmp_path / "release")
        held = b"".join(f.read_bytes() for f in working.rglob("*") if f.is_file())
        assert held
        assert not any(secret in held for secret in secrets)
    assert not list(working.iterdir())
    parts = sorted((tmp_path / "release").iterdir())
    cells = [pq.read_table(p).to_pylist() for p in parts if p.suffix == ".parquet"]
    published = b"".join(p.read_bytes() for p in parts) + repr(cells).encode()
    published += caplog.text.encode() + "".join(statements).encode() + repr(release).encode()
    known = [*secrets, *originals, b"patient 1", b"0151 0000"]
    assert not any(each in published for each in known)


@pytest.mark.parametrize("quasi", [("age",), ("age", "month")])
def test_the_report_is_that_of_the_release_in_memory(quasi, tmp_path):
    path = stored(visits(), tmp_path / "rows.parquet")
    described = roles({"who": "pseudonym", "visit": "ff1"}, quasi)
    found = []
    for read in (shoal.read, shoal.open):
        table = read(path, roles=described, person="who")
        release = shoal.anonymize(table, k=3, key=KEY, domain="study")
        release.report(tmp_path / "report.json", force=True)
        found.append(json.loads((tmp_path / "report.json").read_text()))
        assert "who links the rows of a person" in " ".join(found[-1]["warnings"])
    for each in found:
        del each["repeat"], each["risk"]["expected"]  # the notes of the run, and a sampled figure
    assert found[0] == found[1]


def test_people_who_are_singled_out_by_linked_rows_are_counted_as_in_memory(tmp_path):
    path = stored(visits(300, 20), tmp_path / "rows.parquet")
    described = roles({"who": "pseudonym"}) | {"month": "insensitive"}
    options = {"k": 3, "key": KEY, "domain": "study"}
    expected = count_linked(
        shoal.anonymize(shoal.read(path, roles=described, person="who"), **options)
    )
    with shoal.open(path, roles=described, person="who") as table:
        assert shoal.anonymize(table, **options).linked_rows == expected
    assert expected.by_count
    assert expected.by_values
