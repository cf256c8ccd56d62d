"""The tables that are measured on: the census file if it is there, else made-up ones."""

from __future__ import annotations

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ADULT_QUASI = "age workclass education marital-status occupation race sex native-country".split()
ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country salary-class"
).split()
# values of the eight quasi-identifiers of `wide`, ages first
DOMAINS = {
    "age": 75,
    "sex": 2,
    "work": 7,
    "status": 6,
    "education": 17,
    "region": 83,
    "country": 47,
    "district": 1000,
}


@dataclass(frozen=True)
class Shared:
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
        """Return what a job needs to read it."""
        return {
            "table": str(self.path),
            "quasi": list(self.columns),
            "numbers": [name for name, cells in self.columns.items() if cells.dtype.kind in "if"],
            "sensitive": self.sensitive,
            "hierarchies": self.hierarchies,
        }


def shared_table(folder: Path) -> Shared:
    """Return the census table if SHOAL_DATA has it, else generated patients, as one CSV file."""
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


def have_adult() -> bool:
    """Whether SHOAL_DATA holds the census files that the lattice section measures on."""
    folder = Path(os.environ.get("SHOAL_DATA") or ".")
    return bool(os.environ.get("SHOAL_DATA")) and all(
        (folder / file).exists() for file in ("adult/adult.csv", "adult/adult.data.gz")
    )


def lattice_table(name: str) -> Any:
    """Return a table with a hierarchy for every quasi-identifier, ready to be anonymized."""
    import shoal

    if name == "patients":
        return shoal.datasets.patients(30_000, seed=1)
    if name == "adult 9":
        return shoal.datasets.load("adult", {"salary-class": "quasi"})
    if name == "adult 10":
        return _ten()
    table = shoal.datasets.load(name)
    for column in table.quasi_columns:
        table = table.with_column(column.with_hierarchy(_made_hierarchy(column)))
    return table


def _ten() -> Any:
    """Return the complete rows of the raw census file in ten attributes, 62,208 nodes."""
    import pyarrow as pa

    import shoal

    folder = Path(os.environ["SHOAL_DATA"]) / "adult"
    with gzip.open(folder / "adult.data.gz", "rt") as lines:
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if row and "?" not in row]
    wanted = [*ADULT_QUASI, "salary-class", "hours-per-week"]
    cells = {name: [row[ADULT.index(name)] for row in rows] for name in wanted}
    numbers = ("age", "hours-per-week")
    data = pa.table({n: list(map(int, c)) if n in numbers else c for n, c in cells.items()})
    trees: dict[str, Any] = {"age": {"intervals": [5, 10, 20, 40]}}
    for name in wanted[1:]:
        with (folder / "full" / f"adult_full_hierarchy_{name}.csv").open(newline="") as lines:
            paths = list(csv.reader(lines))
        if name == "hours-per-week":  # spans of 10 and 20 hours, without the third
            paths = [[*path[:3], path[4]] for path in paths]
        trees[name] = shoal.Hierarchy.from_rows(paths)
    return shoal.Table.from_arrow(data, dict.fromkeys(wanted, "quasi"), trees)


def _patients(folder: Path) -> Shared:
    """Return complete patients with their year of birth, for peers know no dates or gaps."""
    import shoal

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
    about = f"generated patients, {len(rows):,} rows (no adult file: set SHOAL_DATA to have it)"
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
) -> Shared:
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
    return Shared(about, path, columns, sensitive, hierarchies)


def wide(rows: int, seed: int = 0) -> dict[str, NDArray[np.int32]]:
    """Return eight columns of codes, DOMAINS wide, skewed and correlated.

    Two hidden traits pull on every column: where a person is in life, and where on the map.
    Frequencies fall off like 1 / rank, so that some values are everywhere and most are rare.
    """
    rng = np.random.default_rng(seed)
    life, place = rng.standard_normal((2, rows))
    pull = {  # weights of the traits; the rest is chance
        "age": (0.9, 0.0),
        "sex": (0.1, 0.0),
        "work": (0.6, 0.2),
        "status": (0.8, 0.0),
        "education": (0.5, 0.4),
        "region": (0.0, 0.9),
        "country": (0.1, 0.7),
        "district": (0.0, 0.95),
    }
    columns = {}
    for name, domain in DOMAINS.items():
        by_life, by_place = pull[name]
        rest = np.sqrt(1.0 - by_life**2 - by_place**2)
        score = by_life * life + by_place * place + rest * rng.standard_normal(rows)
        ranks = np.arange(1, domain + 1)
        weights = 1.0 / (ranks + 15) if name == "age" else 1.0 / ranks
        share = np.cumsum(weights) / weights.sum()
        order = np.argsort(np.argsort(score)) / rows  # (rows,) uniform, correlated
        codes = np.searchsorted(share, order, side="right")
        columns[name] = np.minimum(codes, domain - 1).astype(np.int32)
    return columns


def _made_hierarchy(column: Any) -> Any:
    """Return intervals for ages, and for names the tallest of some random trees."""
    import shoal

    if column.kind == "numeric":
        return shoal.hierarchies.intervals(column, [5, 10, 20, 40])
    drawn = (shoal.hierarchies.random(column, seed=seed) for seed in range(40))
    return max(drawn, key=lambda tree: tree.height)


NUMERIC = "age education-num hours-per-week sex race marital-status workclass occupation".split()


def numeric_adult(rows: int, width: int, seed: int = 0) -> Any:
    """Return complete rows of the raw census file with every attribute as a number.

    Where more rows are asked for than it has, each is a row of the file with some attributes
    (15 %) of another one, age and hours shifted a little.
    """
    import pyarrow as pa

    import shoal

    with gzip.open(Path(os.environ["SHOAL_DATA"]) / "adult" / "adult.data.gz", "rt") as lines:
        read = [row for row in csv.reader(lines, skipinitialspace=True) if row and "?" not in row]
    names = NUMERIC[:width]
    columns = []
    for name in names:
        cells = [row[ADULT.index(name)] for row in read]
        number = cells[0].isdigit()
        columns.append(
            [int(c) for c in cells] if number else np.unique(cells, return_inverse=True)[1]
        )
    known = np.stack(columns, axis=1).astype(np.int64)
    rng = np.random.default_rng(seed)
    if rows <= len(known):
        cells = known[rng.permutation(len(known))[:rows]]
    else:
        cells, others = (known[rng.integers(0, len(known), rows)] for _ in range(2))
        cells = np.where(rng.random(cells.shape) < 0.15, others, cells)
        for name, shift in (("age", 4), ("hours-per-week", 5)):
            j = names.index(name)
            moved = cells[:, j] + rng.integers(-shift, shift + 1, rows)
            cells[:, j] = np.clip(moved, known[:, j].min(), known[:, j].max())
    data = pa.table({name: cells[:, j] for j, name in enumerate(names)})
    return shoal.Table.from_arrow(data, dict.fromkeys(names, "quasi"))
