"""Nothing that is printed in passing shows a cell, and no evidence shows one of a single person."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from tests.cases import ON_SMALL_TABLES, ready_for
from tests.report import report_tables

import shoal
from shoal import KAnonymity, Table
from shoal.evidence import write_evidence
from shoal.evidence.language import codes
from shoal.methods.lattice.lattice import Lattice, view
from shoal.table.subsets import Subsets, set_labels

SECRETS = ("quokka", "wombat", "numbat", "bilby")
SPEC = {
    "animal": {"role": "quasi", "hierarchy": {"tree": {"marsupial-land": list(SECRETS)}}},
    "place": {"role": "quasi", "kind": "ordinal", "order": list(SECRETS)},
    "secret": "sensitive",
}


@pytest.fixture(scope="module")
def table():
    return Table.from_arrow(pa.table(dict.fromkeys(SPEC, list(SECRETS) * 2)), SPEC)


def printed(table):
    """Everything that a person may print while working with a release."""
    model = KAnonymity(2)
    column = table["animal"]
    yield from (table, column, column.hierarchy, column.hierarchy.levels[0], table.distinct())
    yield from (shoal.Classes.by_quasi(table), shoal.Schema.of({"columns": SPEC}))
    for method in shoal.METHODS:
        freeform = method.startswith("doka")
        asked = shoal.FreeformAnonymity(model.least_size) if freeform else model
        options = ON_SMALL_TABLES.get(method, {})
        release = shoal.anonymize(ready_for(method, table), asked, method, **options)
        yield from (release, release.run, release.verify(), release.classes, release.candidates)
        yield release.recodings["animal"]
    lattice = Lattice.of(table)
    yield from (lattice, view(lattice, (0, 0), model), release.classes.histogram("secret"))


def test_no_repr_shows_a_cell(table):
    for thing in printed(table):
        shown = f"{thing!r} {thing}".lower()
        assert not [s for s in (*SECRETS, "marsupial-land") if s in shown], type(thing).__name__


def test_the_labels_themselves_do_show_cells(table):
    """So the test above looks for the right thing."""
    assert set_labels(table["animal"], Subsets.singletons(4)) == tuple(sorted(SECRETS))


@pytest.mark.parametrize(
    "name",
    ["mondrian", "flash", "safe-la", "doka-greedy", "representatives", "telling labels", "diverse"],
)
def test_no_evidence_shows_a_cell_of_a_single_person(name, tmp_path):
    release = report_tables.release(name)
    release.write(tmp_path / "released.csv")
    for language in codes():
        write_evidence(release, tmp_path / language, tmp_path / "released.csv", language=language)
        assert not secrets_in(tmp_path / language)


@pytest.mark.parametrize("language", codes())
def test_no_evidence_with_attacks_shows_a_cell_of_a_single_person(language, tmp_path):
    odd = {"age": 9717, "town": "quokka", "ill": "wombat"}
    rows = [{"age": 20 + i % 50, "town": f"t{i % 7}", "ill": f"i{i % 5}"} for i in range(299)]
    roles = {"age": "quasi", "town": "quasi", "ill": "sensitive"}
    table = Table.from_arrow(pa.Table.from_pylist([*rows, odd]), roles)
    control = Table.from_arrow(pa.Table.from_pylist([*rows[:150], odd]), roles)
    release = shoal.anonymize(table, KAnonymity(5))
    release.write(tmp_path / "released.csv")
    folder = tmp_path / "pack"
    options = {"control": control, "language": language}
    write_evidence(release, folder, tmp_path / "released.csv", **options)
    assert '"measured": true' in (folder / "evidence.json").read_text(encoding="utf-8")
    assert not secrets_in(folder, ("9717", "quokka", "wombat"))


def secrets_in(folder, secrets=report_tables.SECRETS):
    """Return the secrets that the page or the data of a pack show, with any separators."""
    found = []
    for file in ("index.html", "evidence.json"):
        text = re.sub(r"(?<=\d)[,.\u202f](?=\d)", "", (folder / file).read_text(encoding="utf-8"))
        text = re.sub("[0-9a-f]{64}", "", text)  # digests contain any digits
        found += [secret for secret in secrets if secret in text]
    return found


@pytest.mark.parametrize("step", ["attack", "link"])
def test_an_error_while_evidence_is_written_shows_no_cell(step, table, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise shoal.InputError("the column holds quokka")

    monkeypatch.setattr(f"shoal.evidence.contents.{step}", fail)
    monkeypatch.setattr("shoal.evidence.contents.LEAST_PEOPLE", 2)
    release = shoal.anonymize(table, KAnonymity(2))
    release.write(tmp_path / "released.csv")
    write_evidence(release, tmp_path / "pack", tmp_path / "released.csv", control=table)
    assert not secrets_in(tmp_path / "pack", ("holds quokka",))
