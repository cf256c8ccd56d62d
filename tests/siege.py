"""A siege of the command line: random tables of people, judged on the written files.

    draw a table → write it → shoal anonymize → read the file → judge it by tests/oracle.py
                                              → shoal verify → the same verdict

`python -m tests.siege --tables 20000` prints what became of the tables. Each is drawn from the seed
and its number, so `--seed S --only N` repeats one and keeps its files. Every column has hostile
values, people and households have several rows, and names of columns are words of SQL. A column
`line` with the number of the row is published unchanged: the judge finds the original row by it.

A fault is a traceback, a message that Shoal contradicts itself, a cell that does not cover its
original, a class that breaks the model, or a verdict of `verify` on the file that differs from the
one that let the file be written.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import functools
import io
import json
import math
import os
import re
import secrets
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer.main
from tests import oracle
from tests.projects.naive import fewest_alike, joins

import shoal
from shoal.cli import main
from shoal.cli.shared import console
from shoal.methods.listing import without_lists
from shoal.privacy.models import parse

TEXTS = ["a", "b", "*", "{a, b}", "[1, 2]", "", " ", "NA", "missing", "é", 'q"x', "x,y", "=1+1"]
ILLNESSES = ["flu", "gout", "cold", "", "NA", " ", None]
HOSTILE = ["n", "N", "person", "rows", "count", "select", "order", "rowid", "c0", "class", "value"]
CONTRADICTIONS = re.compile(
    r"Traceback|broke|does not cover|are not the released|is damaged|internal|unexpected", re.I
)
COVERAGE = {
    "freeform-anonymity", "k-concealment", "k-k-anonymity", "one-k-anonymity", "k-one-anonymity"
}  # fmt: skip
WHOLE = {"average-risk", "k-map", "delta-presence", "km-anonymity"}
METHODS = [
    ("mondrian", ()), ("mondrian", ("strict=false",)), ("mondrian", ("hierarchies=false",)),
    ("mondrian", ("effort=high",)), ("mondrian", ("cuts=median", "strict=false")),
    ("sorted", ()), ("greedy", ()), ("greedy", ("expand=true",)), ("k-member", ()),
    ("split-carry", ()), ("anneal", ("steps=20",)), ("optimal", ("time_limit=0",)),
    ("auto", ("time_limit=0.000001",)), ("datafly", ()), ("samarati", ()), ("mingen", ()),
    ("incognito", ()), ("ola", ()), ("ola", ("max_suppression=0.3", "local=true")), ("flash", ()),
    ("flash", ("max_suppression=0.3",)), ("flash", ("max_suppression=1", "objective=ncp")),
]  # fmt: skip
FREEFORM = [("doka-greedy", ()), ("doka-sort-greedy", ()), ("doka-hungarian", ())]
FULL_DOMAIN = {"datafly", "samarati", "mingen", "incognito", "ola", "flash"}


@dataclass
class Case:
    """One table with what is asked of its release."""

    rows: list[dict[str, object]]
    quasi: list[str]
    types: dict[str, pa.DataType]
    hierarchies: dict[str, dict[str, list[str]]]  # column: value as text: labels, most exact first
    models: list[str]
    method: str
    options: tuple[str, ...]
    source: str
    output: str
    person: bool = False
    household: bool = False
    engine: str = ""
    population: list[dict[str, object]] = field(default_factory=list)


def draw_case(draw: np.random.Generator) -> Case:
    """Draw a table, a guarantee, a method and the formats of the files."""
    count = int(draw.integers(4, 41))
    kinds = draw.permutation(["age", "zip", "code", "born", "pay", "flag", "town"])
    kinds = kinds[: draw.integers(1, 5)].tolist()
    names = dict(zip(kinds, kinds, strict=True))
    if draw.random() < 0.3:
        names[kinds[0]] = str(draw.choice(HOSTILE))
    columns, types, hierarchies = {}, {}, {}
    for kind in kinds:
        cells, types[names[kind]], labels = COLUMNS[kind](draw, count)
        holes = draw.random(count) < draw.choice([0, 0, 0.1, 0.5])
        columns[names[kind]] = [None if hole else c for c, hole in zip(cells, holes, strict=True)]
        if labels:
            hierarchies[names[kind]] = labels
    quasi = [names[kind] for kind in kinds]
    ill = draw.permutation(np.array(ILLNESSES, dtype=object))[: draw.integers(1, 6)]
    columns["ill"] = draw.choice(ill, count).tolist()
    columns["line"] = [f"r{number}" for number in range(count)]
    crowd = int(draw.integers(2, count + 1))
    columns["who"] = [f"p{n}" for n in draw.integers(0, crowd, count)]
    columns["home"] = [f"h{n}" for n in draw.integers(0, max(2, crowd // 2), count)]
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    text = pa.string()
    types |= {"ill": text, "line": text, "who": text, "home": text}
    method, options = METHODS[draw.integers(len(METHODS))]
    if draw.random() < 0.06:
        method, options = FREEFORM[draw.integers(len(FREEFORM))]
    case = Case(
        rows, quasi, types, hierarchies, draw_models(draw, freeform=method.startswith("doka")),
        method, options,
        source=str(draw.choice(["in.csv", "in.parquet", "in.jsonl"])),
        output=str(draw.choice(["out.csv", "out.tsv", "out.parquet"])),
    )  # fmt: skip
    if not method.startswith("doka"):
        case.person = bool(draw.random() < 0.4)
        case.household = case.person and bool(draw.random() < 0.3)
        case.engine = str(draw.choice(["", "", "", "", "duckdb"]))
    if any("k-map" in model or "presence" in model for model in case.models):
        case.population = draw_population(draw, case)
    return case


def _ages(draw, count):
    cells = draw.integers(0, draw.choice([4, 60]), count).tolist()
    bands = {str(n): [f"{n - n % 10}-{n - n % 10 + 9}", "*"] for n in range(60)}
    return cells, pa.int64(), bands if draw.random() < 0.6 else {}


def _zips(draw, count):
    cells = [f"0{n:03}" for n in draw.choice([7, 11, 12, 120, 121, 300], count)]
    masks = {c: [f"{c[:-1]}*", f"{c[:-2]}**", "*"] for c in set(cells)}
    return cells, pa.string(), masks if draw.random() < 0.6 else {}


def _codes(draw, count):
    few = draw.permutation(TEXTS)[: draw.integers(2, 9)]
    return draw.choice(few, count).tolist(), pa.string(), {}


def _births(draw, count):
    days = [date(1990, 1, 1) + timedelta(int(n)) for n in draw.integers(0, 900, count)]
    years = {str(day): [str(day)[:7], str(day)[:4], "*"] for day in days}
    return days, pa.date32(), years if draw.random() < 0.6 else {}


def _pays(draw, count):
    if draw.random() < 0.5:
        return draw.choice([0.5, 1.0, 2.25, 8.0, -3.5, 1e6], count).tolist(), pa.float64(), {}
    cents = [Decimal(int(n)) / 4 for n in draw.integers(-9, 60, count)]
    return cents, pa.decimal128(12, 2), {}


def _flags(draw, count):
    return (draw.random(count) < 0.5).tolist(), pa.bool_(), {}


def _towns(draw, count):
    towns = ["aa", "ab", "ba", "bb"]
    sides = {town: [town[0] + "-side", "*"] for town in towns}
    return draw.choice(towns, count).tolist(), pa.string(), sides


COLUMNS = {
    "age": _ages, "zip": _zips, "code": _codes, "born": _births, "pay": _pays, "flag": _flags,
    "town": _towns,
}  # fmt: skip


def draw_models(draw: np.random.Generator, *, freeform: bool) -> list[str]:
    """Draw a guarantee of one or two models, as text."""
    k = int(draw.integers(2, 5))
    coverage = [f"{name}({k})" for name in sorted(COVERAGE)]
    if freeform:
        return [str(draw.choice(coverage))]
    some = [
        f"k-anonymity({k})", f"k-anonymity({k})", "l-diversity(2, ill)", "l-diversity(3, ill)",
        "l-diversity(2, ill, count_missing=true)", "entropy-l-diversity(1.8, ill)",
        "recursive-l-diversity(2.5, 2, ill)", "t-closeness(0.35, ill)",
        f"alpha-k-anonymity(0.7, {k}, ill)", "delta-disclosure(1.9, ill)",
        "beta-likeness(1.5, ill)", "beta-likeness(2, ill, enhanced=false)", "risk(0.3)",
        "average-risk(0.3)", f"k-map({k})", "delta-presence(0, 0.5)", f"km-anonymity({k}, 2)",
        f"km-anonymity({k}, 1)", str(draw.choice(coverage)),
    ]  # fmt: skip
    first = str(draw.choice(some))
    return [first, f"k-anonymity({k})"] if draw.random() < 0.2 else [first]


def draw_population(draw: np.random.Generator, case: Case) -> list[dict[str, object]]:
    """Draw everyone: the people of the table and others, who may have several rows."""
    names = [*case.quasi, "who"]
    own = [{name: row[name] for name in names} for row in case.rows]
    others = [
        {**own[place], "who": f"o{draw.integers(0, 20)}"}
        for place in draw.integers(0, len(own), draw.integers(0, 60))
    ]
    return [*own, *others]


# -- files and commands ---------------------------------------------------------------------------


def write_table(path: Path, rows, types) -> None:
    """Write rows as CSV, Parquet or JSON lines, by the ending."""
    names = list(rows[0])
    if path.suffix == ".parquet":
        cells = {name: pa.array([row[name] for row in rows], types[name]) for name in names}
        pq.write_table(pa.table(cells), path)
    elif path.suffix == ".jsonl":
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                shown = {n: _plain(cell) for n, cell in row.items()}
                file.write(json.dumps(shown, ensure_ascii=False) + "\n")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows({n: _text(cell) for n, cell in row.items()} for row in rows)


def _plain(cell):
    return cell if cell is None or isinstance(cell, (bool, int, float, str)) else str(cell)


def _text(cell):
    return "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


def read_rows(path: Path) -> list[dict[str, object]]:
    """Read a written file without Shoal; an empty cell is a missing one."""
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    else:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    return [{name: normal(cell) for name, cell in row.items()} for row in rows]


def normal(cell):
    """Return a cell as it is compared: missing if it is empty."""
    return None if cell == "" or (isinstance(cell, float) and math.isnan(cell)) else cell


def command(case: Case) -> list[str]:
    """Return the command line that anonymizes a case."""
    words = ["anonymize", case.source, "--schema", "schema.json", "-o", case.output]
    words += [
        "--list-values",
        "--method",
        case.method,
        *(w for o in case.options for w in ("-O", o)),
    ]
    words += [word for model in case.models for word in ("--model", model)]
    words += ["--engine", case.engine] if case.engine else []
    return words + (["--population", "everyone.parquet"] if case.population else [])


def prepare(case: Case, folder: Path) -> None:
    """Write the table, its schema and the population."""
    write_table(folder / case.source, case.rows, case.types)
    columns: dict[str, dict[str, object]] = {name: {"role": "quasi"} for name in case.quasi}
    for number, (name, paths) in enumerate(case.hierarchies.items()):
        with (folder / f"h{number}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";").writerows([v, *labels] for v, labels in paths.items())
        columns[name]["hierarchy"] = f"h{number}.csv"
    schema: dict[str, object] = {"columns": columns}
    columns |= {"ill": {"role": "sensitive"}, "line": {"role": "insensitive"}}
    if case.person:
        columns["who"] = {"role": "identifier"}
        schema["person"] = "who"
    if case.household:
        columns["home"] = {"role": "identifier"}
        schema["household"] = "home"
    (folder / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    if case.population:
        write_table(folder / "everyone.parquet", case.population, case.types)


_commands = functools.cache(typer.main.get_command)  # built once instead of for each table


def call(words: list[str], folder: Path) -> tuple[int, str]:
    """Run a command of Shoal in this process; return its status and what it printed."""
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["shoal", *words]),
        mock.patch.object(typer.main, "get_command", _commands),
        mock.patch.object(console, "note_compilation", return_value=None),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 3
    return status, printed.getvalue()


# -- the judge ------------------------------------------------------------------------------------


def judge(case: Case, folder: Path) -> str:
    """Return what is wrong with the written file, an empty text if nothing is."""
    published = read_rows(folder / case.output)
    original = {row["line"]: with_units(case, row) for row in case.rows}
    lines = [row["line"] for row in published]
    if len(set(lines)) < len(lines) or not set(lines) <= set(original):
        return "rows are repeated or invented"
    if set().union(*published) - {*case.quasi, "ill", "line"}:
        return "a column without a role is published"
    before = [original[line] for line in lines]
    for row, was in zip(published, before, strict=True):
        if oracle.written(row["ill"]) != oracle.written(normal(was["ill"])):
            return "a sensitive cell has changed"
        for name in case.quasi:
            labels = paths_of(case, name)
            if not oracle.covers(row[name], normal(was[name]), labels):
                return f"a cell of {name} does not cover its original"
    known = [
        {**row, **{unit: was[unit] for unit in oracle.UNITS}}
        for row, was in zip(published, before, strict=True)
    ]
    everybody = [{**row, "ill": normal(row["ill"])} for row in original.values()]
    classes = oracle.classes(known, case.quasi)
    sizes = {id(row): oracle.size(members) for members in classes for row in members}
    for part in (parse(text) for text in case.models):
        if not holds(part, case, published, before, known, classes, sizes, everybody):
            return f"{part.name} does not hold"
    return ""


def holds(part, case, published, before, known, classes, sizes, everybody) -> bool:
    """Tell whether the published rows keep one model, from its definition."""
    if part.name in COVERAGE:
        exact = [{n: normal(row[n]) for n in (*case.quasi, *oracle.UNITS)} for row in before]
        graph = oracle.fits(published, exact, case.quasi, {})
        return oracle.keeps_coverage(part, graph, exact, [sizes[id(row)] for row in known])
    if part.name in WHOLE:
        everyone = [
            {**row, oracle.PERSON: row["who"] if case.person else f"row {number}"}
            for number, row in enumerate(case.population)
        ]
        everyone = [{name: normal(cell) for name, cell in row.items()} for row in everyone]
        paths = {name: paths_of(case, name) for name in case.quasi}
        return oracle.keeps_release(part, classes, everyone, case.quasi, paths)
    return all(oracle.keeps(part, members, everybody) for members in classes)


def paths_of(case: Case, name: str) -> dict[object, list[str]]:
    """Return the labels of each value of a column up its hierarchy."""
    labels = case.hierarchies.get(name, {})
    values = {row[name] for row in (*case.rows, *case.population)} if labels else set()
    return {value: labels[_text(value)] for value in values if _text(value) in labels}


def with_units(case: Case, row: dict[str, object]) -> dict[str, object]:
    """Return a row with its person and household; each row is one of each by default."""
    person = row["who"] if case.person else row["line"]
    household = row["home"] if case.household else person
    return {**row, oracle.PERSON: person, oracle.HOUSEHOLD: household}


def besiege(case: Case, folder: Path) -> tuple[str, str]:
    """Run a case; return what became of it, and the message of a refusal or a fault."""
    prepare(case, folder)
    status, printed = call(command(case), folder)
    if status not in (0, 1, 2) or (status and CONTRADICTIONS.search(printed)):
        return "fault", f"anonymize ended with {status}: {printed[-400:]}"
    if status:
        if (folder / case.output).exists():
            return "fault", "a refused release was written"
        return "refused", printed
    case.hierarchies |= made_hierarchies(case, folder)
    wrong = judge(case, folder)
    if wrong:
        return "fault", wrong
    return ("fault", other) if (other := contradiction(case, folder)) else ("released", "")


def made_hierarchies(case: Case, folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return the labels of the hierarchies that the method made: what they mean is its choice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns without a role
        table = shoal.read(folder / case.source, schema=folder / "schema.json")
    options = dict(option.split("=") for option in case.options if option == "hierarchies=false")
    name = "mondrian" if case.method == "auto" else case.method  # which auto chooses for labels
    method = shoal.METHODS[name](**dict.fromkeys(options, False))
    made, _ = without_lists(table, method, list_values=True)
    trees = {c.name: c.hierarchy for c in made.quasi_columns if c.name not in case.hierarchies}
    return {
        name: {str(row[0]): [label for label in row if label] for row in tree.rows()}
        for name, tree in trees.items()
        if tree is not None
    }


def contradiction(case: Case, folder: Path) -> str:
    """Return what `verify` says against the written file, an empty text if it agrees.

    It is asked where the file shows all that the guarantee is about: without people of several
    rows, whom it does not name, and with the original for the shares that are compared with it.
    """
    if case.person or any(model.partition("(")[0] in COVERAGE for model in case.models):
        return ""
    words = ["verify", case.output, "--quasi", ",".join(case.quasi), "--sensitive", "ill"]
    words += [word for model in case.models for word in ("--model", model)]
    words += ["--schema", "schema.json", "--original", case.source]
    if case.population:
        words += ["--population", "everyone.parquet"]
    status, printed = call(words, folder)
    return f"verify ended with {status}: {printed[-400:]}" if status else ""


def run_number(seed: int, number: int, keep: Path | None = None) -> tuple[int, str, str]:
    """Draw and run one case, in a folder of its own."""
    draw, line = np.random.default_rng([seed, number]), ""
    with tempfile.TemporaryDirectory() as made:
        folder = keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            if number % 12 == 0:
                outcome, message, line = besiege_project(draw, folder)
            else:
                case = draw_case(draw)
                line = " ".join(command(case))
                outcome, message = besiege(case, folder)
        except Exception as error:  # the judge failed: look at it as well
            outcome, message = "fault", f"{type(error).__name__}: {error}"
    return number, outcome, f"{line}\n    {message}"


# -- linked tables --------------------------------------------------------------------------------


def besiege_project(draw: np.random.Generator, folder: Path) -> tuple[str, str, str]:
    """Release linked tables of people and their stays; judge the set that was written."""
    count, k = int(draw.integers(4, 25)), int(draw.integers(2, 4))
    wards = draw.permutation(np.array([*TEXTS[:8], None], dtype=object))[: draw.integers(1, 6)]
    people = [{"id": f"p{n}", "age": int(draw.integers(30, 36))} for n in range(count)]
    stays = [
        {
            "stay": n,
            "id": f"p{draw.integers(0, count + 1)}",  # one is nobody's
            "ward": draw.choice(wards),
            "ill": str(draw.choice(["flu", "gout"])),
        }
        for n in range(draw.integers(1, 50))
    ]
    m = int(draw.integers(0, 3))
    model = [f"km-anonymity({k}, {m})"] if m else [f"k-anonymity({k})"]
    ending = str(draw.choice(["csv", "parquet"]))
    types = {"id": pa.string(), "ward": pa.string(), "ill": pa.string()}
    write_table(folder / f"people.{ending}", people, {**types, "age": pa.int64()})
    write_table(folder / f"stays.{ending}", stays, {**types, "stay": pa.int64()})
    columns = {"ward": "quasi", "ill": "sensitive"}
    tables = {
        "people": {"key": "id", "columns": {"age": "quasi"}},
        "stays": {"key": "stay", "foreign": {"id": "people"}, "columns": columns},
    }
    if m:  # no other table refers to a table of events
        del tables["stays"]["key"]
    project = json.dumps({"person": "people", "tables": tables})
    (folder / "project.yaml").write_text(project, encoding="utf-8")
    (folder / "key.bin").write_bytes(bytes(range(32)))
    (folder / "key.bin").chmod(0o600)
    method = str(draw.choice(["mondrian", "sorted", "greedy", "k-member"]))
    words = ["anonymize", "project.yaml", "--model", *model, "--method", method]
    words += ["--key-file", "key.bin", "--domain", "d", "-o", "out"]
    words += ["--engine", "duckdb"] if not m and draw.random() < 0.3 else []
    return (*_run_project(words, folder, k, m), " ".join(words))


def _run_project(words: list[str], folder: Path, k: int, m: int) -> tuple[str, str]:
    status, printed = call(words, folder)
    if status not in (0, 1, 2) or (status and CONTRADICTIONS.search(printed)):
        return "fault", f"anonymize ended with {status}: {printed[-400:]}"
    if status:
        return ("fault", "a refused set was written") if (folder / "out").exists() else (
            "refused", printed
        )  # fmt: skip
    record = json.loads((folder / "out" / "release.json").read_text())
    files = {name: folder / "out" / table["file"] for name, table in record["tables"].items()}
    people, stays = (read_rows(files[name]) for name in ("people", "stays"))
    if joins(stays, "id", people, "id")[1]:
        return "fault", "a stay of nobody is published"
    if m:
        part = parse(words[3])
        known = [{"table": "p", "age": row["age"], "ward": "", "who": row["id"]} for row in people]
        known += [{"table": "s", "age": "", "ward": r["ward"], "who": r["id"]} for r in stays]
        rows = [{**row, oracle.PERSON: row["who"]} for row in known]
        classes = oracle.classes(rows, ["table", "age", "ward"])
        if not oracle.keeps_release(part, classes, None, [], {}):
            return "fault", "km-anonymity of the linked tables does not hold"
    elif fewest_alike({"people": people, "stays": stays}, "people", "id", ["age"],
                      {"stays": ("id", ["ward"])}) < k:  # fmt: skip
        return "fault", "k-anonymity of the linked tables does not hold"
    status, printed = call(["verify", "out"], folder)
    return ("fault", f"verify ended with {status}: {printed[-400:]}") if status else (
        "released", ""
    )  # fmt: skip


# -- the siege ------------------------------------------------------------------------------------


def _run_some(arguments: tuple[int, range]) -> list[tuple[int, str, str]]:
    seed, numbers = arguments
    return [run_number(seed, number) for number in numbers]


def main_siege() -> int:
    """Run the siege of the command line's arguments; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.siege", description=__doc__)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--only", type=int, help="run this table alone and keep its files")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    stated = parser.parse_args()
    if stated.only is not None:
        folder = Path(tempfile.gettempdir()) / f"shoal-siege-{stated.seed}-{stated.only}"
        shutil.rmtree(folder, ignore_errors=True)
        print(*run_number(stated.seed, stated.only, folder)[1:], f"files: {folder}", sep="\n")
        return 0
    chunks = [range(a, min(a + 50, stated.tables)) for a in range(0, stated.tables, 50)]
    became: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    start = time.monotonic()
    with ProcessPoolExecutor(stated.processes, get_context("spawn")) as pool:
        for results in pool.map(_run_some, [(stated.seed, chunk) for chunk in chunks]):
            for number, outcome, message in results:
                became[outcome] += 1
                if outcome == "fault":
                    print(f"table {number}: {message}", flush=True)
                elif outcome == "refused":
                    last = message.strip().splitlines()[-1]
                    reasons[re.sub(r"'[^']*'|[\d.,]+|\([^)]*\)", "_", last)[:110]] += 1
    for reason, count in reasons.most_common(25):
        print(f"{count:7,}  {reason}")
    took = time.monotonic() - start
    print(f"seed {stated.seed}: {stated.tables:,} tables in {took:.0f} s: ", end="")
    print(", ".join(f"{became[what]:,} {what}" for what in ("released", "refused", "fault")))
    return 1 if became["fault"] or not became["released"] else 0


if __name__ == "__main__":
    sys.exit(main_siege())
