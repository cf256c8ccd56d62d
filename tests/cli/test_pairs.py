"""A release beside its original: the order of the files, and files that are written differently."""

import json

import pytest

SCHEMA = """
file: {delimiter: ';', encoding: latin-1, missing: [k.A.], decimal: ',', dates: DD.MM.YYYY}
columns:
  Nummer: {role: identifier}
  Größe: {role: quasi, hierarchy: {intervals: [10, 20]}}
  Geburt: {role: quasi, hierarchy: {dates: [year, decade]}}
  Befund: {role: sensitive}
  Kosten: {role: sensitive}
"""


@pytest.fixture
def clinic(folder, shoal):
    """A table as a German hospital writes it, and its release as Shoal does."""
    rows = ["Nummer;Größe;Geburt;Befund;Kosten"]
    rows += [
        f"P{i};{'k.A.' if i == 7 else f'{150 + 2 * i},5'};{1 + i:02}.03.{1950 + 3 * (i % 6)};"
        f"{'Erkältung' if i % 2 else 'Übelkeit'};1.{i:03},{i:02}"
        for i in range(16)
    ]
    (folder / "klinik.csv").write_text("\r\n".join(rows) + "\r\n", encoding="latin-1")
    (folder / "klinik.yaml").write_text(SCHEMA, encoding="utf-8")
    done = shoal("anonymize", "klinik.csv", "--schema", "klinik.yaml", "-k", 4, "-o", "out.csv")
    assert (done.status, done.err) == (0, "")


BOTH = ("klinik.csv", "out.csv", "--schema", "klinik.yaml")


@pytest.mark.parametrize(
    "asked",
    [
        ("verify", "out.csv", "--schema", "klinik.yaml", "-k", 4),
        ("verify", "out.csv", "--schema", "klinik.yaml", "-k", 4, "--original", "klinik.csv"),
        ("verify", "klinik.csv", "--schema", "klinik.yaml"),
        ("metrics", *BOTH),
        ("metrics", *BOTH, "--delimiter", ";", "--encoding", "latin-1"),
        ("utility", *BOTH, "--target", "Befund", "--models", "k-nearest-neighbours", "--folds", 2),
        ("risk", "assess", *BOTH),
        ("risk", "link", *BOTH),
        ("risk", "records", "out.csv", "--schema", "klinik.yaml"),
        ("risk", "records", "klinik.csv", "--schema", "klinik.yaml"),
        ("risk", "intersect", "out.csv", "out.csv", "--schema", "klinik.yaml", "--same-order"),
        ("risk", "intersect", "out.csv", "out.csv", "--schema", "klinik.yaml",
         "--original", "klinik.csv"),
    ],
    ids=lambda asked: " ".join(map(str, asked)),
)  # fmt: skip
def test_a_schema_of_the_original_serves_its_release_too(shoal, clinic, asked):
    found = shoal(*asked, "--json")
    assert (found.status, found.err) == (0, "")
    json.loads(found.out)


@pytest.mark.parametrize(
    ("command", "first"),
    [
        (("metrics",), "ORIGINAL"),
        (("utility", "--target", "Befund"), "ORIGINAL"),
        (("risk", "assess"), "ORIGINAL"),
        (("risk", "link"), "IDENTIFIED"),
    ],
    ids=["metrics", "utility", "assess", "link"],
)
def test_files_in_the_wrong_order_are_told(shoal, clinic, command, first):
    found = shoal(*command, "out.csv", "klinik.csv", "--schema", "klinik.yaml")
    assert (found.status, found.out) == (2, "")
    assert found.err == (
        f"shoal: out.csv looks like a release, and klinik.csv does not; {first} comes first and "
        "RELEASED second: swap the two files\n"
    )


def test_another_fault_is_not_taken_for_the_order(shoal, clinic, folder):
    lines = (folder / "out.csv").read_text(encoding="utf-8").splitlines()
    (folder / "more.csv").write_text("\n".join([*lines, lines[-1]]) + "\n", encoding="utf-8")
    found = shoal("metrics", "klinik.csv", "more.csv", "--schema", "klinik.yaml")
    assert found.status == 0  # a file of other people too can be compared by its distributions
    assert "has 17 rows, more than the original's 16" in found.err
    assert "Hellinger" in found.out
