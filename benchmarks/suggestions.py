"""Section suggestions: what `shoal inspect` suggests for generated tables, against an expert.

For each table of the corpus, as a new user would: `shoal inspect FILE -o roles.yaml`, then the
command that it prints, then the released file. The expert's release has the expert's
quasi-identifiers under the same k. `--full` adds the time of `inspect` on a wide and long table.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.table import Table as Grid

from corpus import EXPERT, TABLES, Expert, Sample, generate
from grids import load_note
from jobs import scratch
from meter import cpu_seconds
from targets import verdict

K = 5
LIMIT = 600  # seconds for one command
SHARE = 1 / 5  # a cell is a list if it shows more than this share of the values of its column
FEW = 10  # columns with so few values have no lists
COMMAND = re.compile(r"^\s*(shoal anonymize .*)$", re.MULTILINE)
PUBLISHED = ("quasi", "sensitive", "insensitive")
WIDE = "inspect, 100 columns x 100,000 rows"


@dataclass
class Suggested:
    """What `inspect` wrote and printed: roles by the expert's names of columns."""

    roles: dict[str, str] = field(default_factory=dict)
    person: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # shoal's name of a column → the expert's


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each table, and their totals."""
    with scratch() as named:
        folder = Path(named)
        tables = {}
        for name in TABLES:
            (folder / name).mkdir()
            tables[name] = _table(generate(name), EXPERT[name], folder / name)
        runs = {"all tables": _totals(tables.values())}
        if full:
            runs[WIDE] = _wide(folder)
    return {"tables": tables, "runs": runs}


def _table(sample: Sample, expert: Expert, folder: Path) -> dict[str, Any]:
    """Return the figures of one table."""
    file = sample.write(folder)
    inspected = _shoal(["inspect", file.name, "-o", "roles.yaml"], folder)
    suggested = _suggested(sample, folder / "roles.yaml", inspected["printed"])
    expected = expert.chosen("quasi")
    quasi = [name for name, role in suggested.roles.items() if role == "quasi"]
    row: dict[str, Any] = {
        "columns": len(expert.roles),
        "wrong": _wrong(expert, suggested) if suggested.roles else list(expert.roles),
        "identifiers": [
            x for x in expert.chosen("identifier") if suggested.roles.get(x) in PUBLISHED
        ],
        "untouched": [x for x in expected if suggested.roles.get(x) in PUBLISHED[1:]],
        "quasi": len(quasi),
        "expert_quasi": len(expected),
        "extra": [x for x in quasi if x not in expected],
        "person": suggested.person,
        "person_right": bool(suggested.roles) and _person_right(sample, expert, suggested.person),
        "inspect_cpu": inspected["cpu"],
        "exit": inspected["exit"],
        "message": inspected["message"],
        "release_cpu": 0.0,
        "lists": {},
        "kept": 0.0,
        "expert_kept": _expert_kept(sample, expert),
    }
    if suggested.command:
        released = _shoal([*suggested.command, "--report", "report.json"], folder)
        row |= {
            "exit": released["exit"],
            "message": released["message"],
            "release_cpu": released["cpu"],
        }
        output = folder / _value(suggested.command, "-o")
        if released["exit"] == 0:
            row["kept"] = _kept(expert, suggested, folder / "report.json")
            row["lists"] = _lists(sample, suggested, output)
    elif not row["exit"]:
        row |= {"exit": None, "message": "inspect printed no command"}
    return row


def _shoal(arguments: list[str], folder: Path) -> dict[str, Any]:
    """Run one command; return its exit status, what it printed, its error and its CPU seconds."""
    before = cpu_seconds()
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "shoal", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {
            "exit": -1,
            "printed": "",
            "message": f"stopped after {LIMIT} s",
            "cpu": float(LIMIT),
        }
    return {
        "exit": ended.returncode,
        "printed": ended.stdout,
        "message": " ".join(ended.stderr.split())[-400:] if ended.returncode else "",
        "cpu": cpu_seconds() - before,
    }


def _suggested(sample: Sample, schema: Path, printed: str) -> Suggested:
    """Return the suggestion; a column that Shoal renamed is recognized by its place."""
    if not schema.is_file():
        return Suggested()
    read = yaml.load(schema.read_text(encoding="utf-8"), yaml.BaseLoader)
    specs: Mapping[str, Any] = read["columns"]
    by_place = (
        dict(zip(specs, sample.names, strict=True)) if len(specs) == len(sample.names) else {}
    )
    names = {name: name if name in sample.names else by_place.get(name, name) for name in specs}
    roles = {names[name]: _role(spec) for name, spec in specs.items()}
    person = read.get("person", [])
    found = COMMAND.search(printed)
    return Suggested(
        roles,
        [names.get(x, x) for x in ([person] if isinstance(person, str) else person)],
        shlex.split(found[1])[1:] if found else [],
        names,
    )


def _role(spec: Any) -> str:
    """Return the role of a column in a schema; a column without one is left out."""
    role = spec if isinstance(spec, str) else (spec or {}).get("role")
    return role if role in (*PUBLISHED, "identifier", "weight") else "out"


def _wrong(expert: Expert, suggested: Suggested) -> list[str]:
    """Return the columns whose suggested role the expert does not accept.

    Of copies of a quasi-identifier, any one may be kept in the place of the chosen one.
    """
    roles = {name: suggested.roles.get(name, "out") for name in expert.roles}
    wrong = {name for name, accepted in expert.roles.items() if roles[name] not in accepted}
    for group in expert.copies:
        first = expert.roles[group[0]]
        kept = [name for name in group if roles[name] == "quasi"]
        if first[0] != "quasi" or not kept:
            continue
        if kept[0] != group[0] and roles[group[0]] == "out":
            wrong -= {group[0], kept[0]}
        wrong |= {name for name in kept[1:] if expert.roles[name][0] != "quasi"}
    return [name for name in expert.roles if name in wrong]


def _person_right(sample: Sample, expert: Expert, person: list[str]) -> bool:
    """Return whether people are counted as the expert does.

    Where everyone has one row, no person is right too.
    """
    if set(person) == set(expert.person):
        return True
    if person or not expert.person:
        return not person
    columns = dict(zip(sample.names, sample.columns, strict=True))
    keys = list(zip(*(columns[name] for name in expert.person), strict=True))
    return len(set(keys)) == len(keys)


def _expert_kept(sample: Sample, expert: Expert) -> float:
    """Return the share of information that a release by the expert's roles keeps."""
    import shoal

    quasi = expert.chosen("quasi")
    roles = dict.fromkeys(quasi, "quasi") | dict.fromkeys(expert.person, "identifier")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = sample.arrow().select(list(roles))
        table = shoal.read(data, roles=roles, person=expert.person)
        release = shoal.anonymize(table, shoal.KAnonymity(K))
    return float(np.mean([1 - loss for loss in shoal.metrics.ncp_by_attribute(release).values()]))


def _kept(expert: Expert, suggested: Suggested, report: Path) -> float:
    """Return the share of information kept on the expert's quasi-identifiers.

    One that is left out or not protected keeps none; a copy may stand for it.
    """
    attributes = json.loads(report.read_text())["losses"]["attributes"]
    kept = {suggested.names.get(x["column"], x["column"]): 1 - x["loss"] for x in attributes}
    groups = {group[0]: group for group in expert.copies}
    quasi = expert.chosen("quasi")
    return float(
        np.mean([max(kept.get(x, 0.0) for x in groups.get(name, (name,))) for name in quasi])
    )


def _lists(sample: Sample, suggested: Suggested, output: Path) -> dict[str, int]:
    """Return, for each column with lists, the number of cells that are one."""
    columns = dict(zip(sample.names, sample.columns, strict=True))
    with output.open(newline="", encoding="utf-8") as lines:
        rows = csv.reader(lines)
        names = [suggested.names.get(name, name) for name in next(rows)]
        released = list(zip(*rows, strict=True))
    found = {}
    for name, cells in zip(names, released, strict=False):
        values = len(set(columns.get(name, [])))
        limit = max(SHARE * values, SHARE * FEW)
        count = sum(_members(cell) > limit for cell in cells) if values > FEW else 0
        if count:
            found[name] = count
    return found


def _members(cell: str) -> int:
    """Return how many values a cell lists, 0 if it is no set."""
    return cell.count(", ") + 1 if cell[:1] == "{" and cell[-1:] == "}" else 0


def _value(command: list[str], option: str) -> str:
    return command[command.index(option) + 1] if option in command else "anonymous.csv"


def _totals(rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Return the totals; the shares of information are means over tables."""
    rows = list(rows)
    columns = sum(row["columns"] for row in rows)
    ratios = [min(row["kept"] / row["expert_kept"], 1.0) for row in rows]
    return {
        "agreement": 1 - sum(len(row["wrong"]) for row in rows) / columns,
        "agreement_by_table": float(np.mean([1 - len(x["wrong"]) / x["columns"] for x in rows])),
        "columns": columns,
        "tables": len(rows),
        "identifiers": sum(len(row["identifiers"]) for row in rows),
        "untouched": sum(len(row["untouched"]) for row in rows),
        "quasi": sum(row["quasi"] for row in rows),
        "expert_quasi": sum(row["expert_quasi"] for row in rows),
        "people_wrong": sum(not row["person_right"] for row in rows),
        "ran": sum(row["exit"] == 0 for row in rows) / len(rows),
        "with_lists": sum(bool(row["lists"]) for row in rows),
        "kept": float(np.mean([row["kept"] for row in rows])),
        "expert_kept": float(np.mean([row["expert_kept"] for row in rows])),
        "kept_ratio": float(np.mean(ratios)),
        "inspect_cpu": sum(row["inspect_cpu"] for row in rows),
        "release_cpu": sum(row["release_cpu"] for row in rows),
    }


def _wide(folder: Path, rows: int = 100_000) -> dict[str, float | int]:
    """Return the CPU seconds of `inspect` on a wide and long table."""
    import pyarrow as pa
    import pyarrow.csv

    rng = np.random.default_rng(0)
    words = np.array([f"word{x:05}" for x in range(20_000)])
    days = np.datetime64("1940-01-01") + np.arange(25_000)
    cells: dict[str, Any] = {"record_id": np.arange(rows), "birth_date": rng.choice(days, rows)}
    for place in range(98):
        kind, name = place % 7, f"item_{place:02}"
        if kind < 3:
            cells[name] = rng.integers(0, (5, 19, 1000)[kind], rows)
        elif kind == 3:
            cells[name] = rng.lognormal(8, 1, rows).round(2)
        elif kind < 6:
            cells[name] = words[rng.integers(0, (8, 20_000)[kind - 4], rows)]
        else:
            cells[name] = rng.choice(days, rows)
    pyarrow.csv.write_csv(pa.table(cells), folder / "wide.csv")
    done = _shoal(["inspect", "wide.csv", "-o", "wide.yaml"], folder)
    return {"cpu": done["cpu"], "exit": done["exit"]}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's tables: one line a table, and the totals."""
    grid = Grid(
        title=f"suggestions: generated tables, as inspect suggests, k = {K}",
        caption=(
            "Agree: columns with an acceptable role. Ids: identifiers of the expert that would be "
            "published. Raw: quasi-identifiers of the expert that would be published unchanged. "
            "Quasi: suggested, of the expert's. Lists: columns with cells that list more than a "
            "fifth of the values. Kept: 1 - ncp on the expert's quasi-identifiers. "
            f"{load_note(result)}"
        ),
    )
    for heading in (
        "table|columns|agree|ids|raw|quasi|person|exit|lists|kept|expert|inspect s|release s".split(
            "|"
        )
    ):
        grid.add_column(heading, justify="left" if heading == "table" else "right")
    for name, row in result["tables"].items():
        grid.add_row(
            name,
            str(row["columns"]),
            f"{1 - len(row['wrong']) / row['columns']:.2f}",
            str(len(row["identifiers"])),
            str(len(row["untouched"])),
            f"{row['quasi']} of {row['expert_quasi']}",
            "right" if row["person_right"] else "wrong",
            "none" if row["exit"] is None else str(row["exit"]),
            str(len(row["lists"])),
            f"{row['kept']:.2f}",
            f"{row['expert_kept']:.2f}",
            f"{row['inspect_cpu']:.1f}",
            f"{row['release_cpu']:.1f}",
        )
    totals = Grid(title="suggestions: totals")
    totals.add_column("figure")
    totals.add_column("value", justify="right")
    totals.add_column("target")
    found = result["runs"]["all tables"]
    for figure, text in _TOTALS.items():
        totals.add_row(text, _number(found[figure]), verdict(f"suggestions, {figure}", found))
    if WIDE in result["runs"]:
        wide = result["runs"][WIDE]
        totals.add_row(f"{WIDE}, CPU s", _number(wide["cpu"]), verdict(WIDE, wide))
    return [grid, totals]


_TOTALS = {
    "tables": "tables",
    "columns": "columns",
    "agreement": "share of columns with an acceptable role",
    "agreement_by_table": "the same, mean over tables",
    "identifiers": "identifiers that would be published",
    "untouched": "quasi-identifiers that would be published unchanged",
    "quasi": "suggested quasi-identifiers",
    "expert_quasi": "quasi-identifiers of the expert",
    "people_wrong": "tables whose people are not counted as the expert does",
    "ran": "share of printed commands that run",
    "with_lists": "tables with lists",
    "kept": "information kept on the expert's quasi-identifiers",
    "expert_kept": "the same, by the expert's roles",
    "kept_ratio": "mean ratio of the two, at most 1 a table",
    "inspect_cpu": "inspect, CPU s",
    "release_cpu": "anonymize, CPU s",
}


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
