"""The tables of the benchmark: the census file if available, otherwise generated tables."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ADULT_QUASI = "age workclass education marital-status occupation race sex native-country".split()
NO_ADULT = {"all": {"note": "set SHOAL_DATA to use the census file"}}
PATIENTS_INSTEAD = "; generated patients (set SHOAL_DATA to use adult)"
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


# rows, and for each column its values and the widths of its intervals
LATTICES: dict[str, tuple[int, list[tuple[int, list[int]]]]] = {
    "60k x 8": (
        60_000,
        [
            (30_000, [10, 100, 1000]),
            (900, [5, 25, 125]),
            (100, [5, 10, 20, 40]),
            (50, [2, 10]),
            (20, [4]),
            (12, [3]),
            (5, []),
            (90, [5, 10, 30]),
        ],
    ),
    "30k x 11": (
        30_000,
        [
            (75, [5, 10, 20, 40]),
            (2, []),
            (7, [2]),
            (16, [4, 8]),
            (41, [5, 20]),
            (14, [3]),
            (100, [5, 25, 50]),
            (50, [5, 10, 20]),
            (12, [3, 6]),
            (30, [5, 10]),
            (6, [2]),
        ],
    ),
    "1.2M x 9": (
        1_200_000,
        [
            (75, [5, 10, 20, 40]),
            (2, []),
            (7, [2]),
            (16, [4, 8]),
            (41, [5, 20]),
            (14, [3]),
            (6, [2]),
            (100, [5, 25, 50]),
            (12, [3, 6]),
        ],
    ),
}


def have_adult() -> bool:
    """Return whether SHOAL_DATA has the census files of the lattice section."""
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
    if name == "survey":
        return _survey()
    if name in LATTICES:
        return _drawn(*LATTICES[name])
    table = shoal.datasets.load(name)
    for column in table.quasi_columns:
        table = table.with_column(column.with_hierarchy(_made_hierarchy(column)))
    return table


def _ten() -> Any:
    """Return the complete rows of the raw census file in ten attributes, 62,208 nodes."""
    import pyarrow as pa

    import shoal
    from studies.lattice.tables import adult_cells

    folder = Path(os.environ["SHOAL_DATA"]) / "adult"
    cells = adult_cells("adult.data.gz")
    cells["salary-class"] = cells["income"]
    wanted = [*ADULT_QUASI, "salary-class", "hours-per-week"]
    trees: dict[str, Any] = {"age": {"intervals": [5, 10, 20, 40]}}
    for name in wanted[1:]:
        with (folder / "full" / f"adult_full_hierarchy_{name}.csv").open(newline="") as lines:
            paths = list(csv.reader(lines))
        if name == "hours-per-week":  # spans of 10 and 20 hours, without the third
            paths = [[*path[:3], path[4]] for path in paths]
        trees[name] = shoal.Hierarchy.from_rows(paths)
    data = pa.table({name: cells[name] for name in wanted})
    return shoal.Table.from_arrow(data, dict.fromkeys(wanted, "quasi"), trees)


def _drawn(rows: int, columns: list[tuple[int, list[int]]]) -> Any:
    """Return a table of skewed and correlated numbers with intervals as hierarchies."""
    import pyarrow as pa

    import shoal

    rng = np.random.default_rng(0)
    trait, cells, trees = rng.standard_normal(rows), {}, {}
    for j, (values, widths) in enumerate(columns):
        score = 0.5 * trait + rng.standard_normal(rows)
        order = np.argsort(np.argsort(score)) / rows  # (rows,) uniform, correlated
        cells[f"q{j}"] = (order**2.2 * values).astype(np.int64)
        if widths:
            trees[f"q{j}"] = {"intervals": widths}
    return shoal.Table.from_arrow(pa.table(cells), dict.fromkeys(cells, "quasi"), trees)


def _survey(rows: int = 1_193_504) -> Any:
    """Return a large household survey: nine columns, 86 % of the rows distinct, 25,920 nodes."""
    import pyarrow as pa

    import shoal

    rng = np.random.default_rng(1)

    def ranked(values: int, power: float) -> NDArray[np.int64]:
        """Draw values whose frequency falls with a power of their rank."""
        weights = np.arange(1, values + 1) ** -power
        return rng.choice(values, rows, p=weights / weights.sum())

    age = (101 * rng.beta(1.3, 1.8, rows)).astype(np.int64)
    school = np.clip(age - 4 + rng.integers(-1, 2, rows), 0, 25)
    cells = {
        "year": rng.integers(0, 14, rows),
        "quarter": rng.integers(0, 4, rows),
        "region": rng.choice(4, rows, p=[0.18, 0.22, 0.37, 0.23]),
        "person": ranked(25, 1.8),
        "age": age,
        "marital": np.where(age < 15, 0, (ranked(10, 1.3) + (age > 25)) % 10),
        "sex": rng.integers(0, 2, rows),
        "race": ranked(16, 2.2),
        "education": np.where(age < 20, school, 10 + ranked(16, 1.0)),
    }
    widths = {"year": [2, 4, 8], "quarter": [2], "region": [2], "person": [5, 10]}
    widths |= {"age": [5, 20], "marital": [3], "education": [3]}
    trees = {name: {"intervals": spans} for name, spans in widths.items()}
    return shoal.Table.from_arrow(pa.table(cells), dict.fromkeys(cells, "quasi"), trees)


def wide(rows: int, seed: int = 0) -> dict[str, NDArray[np.int32]]:
    """Return eight columns of codes, DOMAINS wide, skewed and correlated.

    Two hidden traits pull on every column: where a person is in life, and where on the map.
    Frequencies fall off like 1 / rank, so that some values are everywhere and most are rare.
    """
    rng = np.random.default_rng(seed)
    life, place = rng.standard_normal((2, rows))
    pull = {  # weights of the traits; the rest is random
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
    from studies.lattice.tables import adult_cells

    read = adult_cells("adult.data.gz")
    names = NUMERIC[:width]
    columns = [
        np.array(read[name], int)
        if str(read[name][0]).isdigit()
        else np.unique(read[name], return_inverse=True)[1]
        for name in names
    ]
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
