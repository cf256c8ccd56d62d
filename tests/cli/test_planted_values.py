"""Values that no release may contain are planted in a table, and looked for in all that leaves.

They are in the identifier, in a column without a role, and in the row of a person who fits nobody
and is left out: on the screen, in files of every kind, and in what is not meant to be read.
"""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

PLANTED = "qxzw7301"  # part of every planted text
NUMBER = 97_301_459  # the left-out person's income
SCHEMA = {
    "columns": {
        "name": "identifier",
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20]}},
        "town": "quasi",
        "income": "quasi",
        "illness": "sensitive",
    }
}
WRITE = ("--schema", "people.json", "--rows-are-people", "-k", 3)


@pytest.fixture
def planted(folder):
    """60 people in classes of five, and one like nobody."""
    lines = ["name,age,town,income,illness,note"]
    for n in range(60):
        cells = (30 + n % 4, ("Ulm", "Kiel", "Bonn")[n // 20], 20 + n % 2, ("flu", "gout")[n // 30])
        lines.append(",".join(map(str, (f"{PLANTED}-{n}", *cells, f"{PLANTED} note {n}"))))
    lines.append(f"{PLANTED}-x,99,{PLANTED}-town,{NUMBER},{PLANTED}-illness,{PLANTED}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "people.json").write_text(json.dumps(SCHEMA))
    return folder


def shown_in(path):
    """Return all text of a file: of Parquet its cells, its names and its metadata."""
    if path.suffix != ".parquet":
        return path.read_bytes().decode("utf-8", "replace")
    table = pq.read_table(path)
    return f"{table.to_pylist()} {table.schema.to_string()} {pq.read_metadata(path).metadata}"


def found_in(texts):
    return [
        name
        for name, text in texts.items()
        if PLANTED in text.lower() or str(NUMBER) in text.replace(",", "").replace(".", "")
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("method", ["mondrian", "flash", "greedy"])
def test_nothing_that_leaves_contains_a_planted_value(shoal, planted, method, ending):
    before, out = {*planted.iterdir()}, f"out.{ending}"
    options = ("-O", "max_suppression=0.1") if method == "flash" else ()
    model = ("--model", "k-anonymity(3)")
    runs = [
        ("anonymize", "people.csv", *WRITE, "--method", method, *options, "-o", out,
         "--report", "report.html", "--evidence", "pack"),
        ("anonymize", "people.csv", *WRITE, "--method", method, *options, "-o", out, "--force",
         "--report", "report.json", "--json"),
        ("verify", out, "--quasi", "age,town,income", "--sensitive", "illness",
         "--rows-are-people", *model),
        ("verify", out, "--quasi", "age,town,income", "--rows-are-people", *model, "--json"),
        ("risk", "records", out, "--quasi", "age,town,income", "--rows-are-people"),
        ("risk", "suda", out, "--quasi", "age,town,income", "--rows-are-people", "--json"),
    ]  # fmt: skip
    if method == "flash":
        runs[:2] = [(*run, "--picture", f"lattice{n}.svg") for n, run in enumerate(runs[:2])]
    texts = {}
    for number, run in enumerate(runs):
        done = shoal(*run)
        if method == "flash" or run[0] != "anonymize":
            assert done.status == 0, done.err
        texts[f"screen of {run[:2]} {number}"] = done.out + done.err
    files = [path for path in planted.rglob("*") if path.is_file() and path not in before]
    texts |= {path.name: shown_in(path) for path in files}
    expected = {out, "report.html", "report.json", "index.html", "evidence.json", "manifest.json"}
    assert expected <= set(texts)
    if method == "flash":
        assert found_in(texts) == []
    else:  # nobody is left out: the range of a class, and a set of values, have to cover everybody
        assert not [name for name, text in texts.items() if f"{PLANTED}-x" in text.lower()]
        assert not [name for name, text in texts.items() if f"{PLANTED} note" in text.lower()]


def test_planted_values_would_be_found(planted):
    assert found_in({path.name: shown_in(path) for path in planted.iterdir()}) == ["people.csv"]
