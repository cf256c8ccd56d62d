"""The table for every tool: the census file if available, otherwise generated patients."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import shoal
from loss import is_number
from tables import ADULT_QUASI


@dataclass(frozen=True)
class SharedTable:
    """A table on disk that every tool reads: plain CSV without missing cells.

    columns: the quasi-identifiers; numbers as numbers, text as text.
    hierarchies: for each quasi-identifier a file `value;coarser;…;*`, without a head.
    """

    about: str
    path: Path
    columns: dict[str, NDArray[Any]]
    sensitive: str
    hierarchies: dict[str, str]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def job(self) -> dict[str, Any]:
        """Return the settings that a job needs to read it."""
        return {
            "table": str(self.path),
            "quasi": list(self.columns),
            "numbers": [name for name, cells in self.columns.items() if is_number(cells)],
            "sensitive": self.sensitive,
            "hierarchies": self.hierarchies,
        }


def shared_table(folder: Path) -> SharedTable:
    """Return the census table if SHOAL_DATA has it, or generated patients, as one CSV file."""
    named = os.environ.get("SHOAL_DATA")
    source = Path(named or ".") / "adult" / "adult.csv"
    if named and source.is_file():
        with source.open(newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter=";"))
        trees = {name: str(source.parent / f"adult_hierarchy_{name}.csv") for name in ADULT_QUASI}
        cells = {name: [row[name] for row in rows] for name in (*ADULT_QUASI, "salary-class")}
        about = f"adult, {len(rows):,} rows, {len(ADULT_QUASI)} quasi-identifiers"
        return _write(folder, about, cells, "age", "salary-class", trees)
    return _patients(folder)


def _patients(folder: Path) -> SharedTable:
    """Return complete patients with a year of birth: peers support no dates or missing values."""
    table = shoal.datasets.patients(31_500, seed=1)
    names = ["birth_date", "sex", "postcode", "ethnicity", "occupation", "diagnosis"]
    rows = [row for row in table.to_arrow().select(names).to_pylist() if None not in row.values()]
    cells = {name: [str(row[name]) for row in rows] for name in names[1:]}
    cells = {"birth_year": [str(row["birth_date"].year) for row in rows], **cells}
    trees = {}
    for name, column in cells.items():
        if name == "diagnosis":
            continue
        tree = table[name].hierarchy if name in table else None
        lines = [[value, *_coarser(name, value, table, tree)] for value in sorted(set(column))]
        path = folder / f"hierarchy_{name}.csv"
        with path.open("w", newline="") as out:
            csv.writer(out, delimiter=";").writerows(lines)
        trees[name] = str(path)
    about = f"generated patients, {len(rows):,} rows (no adult file: set SHOAL_DATA to use it)"
    return _write(folder, about, cells, "birth_year", "diagnosis", trees)


def _coarser(name: str, value: str, table: Any, tree: Any) -> list[str]:
    if name == "birth_year":
        return [f"from {int(value) // step * step} for {step}" for step in (5, 20)] + ["*"]
    if tree is None:
        return ["*"]
    code = table[name].labels.index(value)
    return [level.labels[level.groups[code]] for level in tree.levels[1:]]


def _write(
    folder: Path,
    about: str,
    cells: dict[str, list[str]],
    number: str,
    sensitive: str,
    hierarchies: dict[str, str],
) -> SharedTable:
    path = folder / "table.csv"
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(cells)
        writer.writerows(zip(*cells.values(), strict=True))
    columns: dict[str, NDArray[Any]] = {
        name: np.array([int(cell) for cell in column] if name == number else column)
        for name, column in cells.items()
        if name != sensitive
    }
    return SharedTable(about, path, columns, sensitive, hierarchies)
