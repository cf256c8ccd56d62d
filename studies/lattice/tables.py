"""The tables of the learning study: people with a yes-or-no target, in many attributes and in few.

`wide` has the attributes and, as far as they are known, the depths of hierarchies of the published
study. `few` has age, schooling, marriage and work: chosen with results on adult in view, so that
what is learned from them there is an upper bound, and carried over to census-income.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.datasets.public import take_domains_as_public
from shoal.support.arrays import Bools, Counts
from shoal.table.hierarchy import Hierarchy
from shoal.table.recipes import tree
from shoal.table.table import Table
from studies.lattice import trees


@dataclass(frozen=True, eq=False)
class Study:
    """A table to learn from, and what is publicly known about it.

    wide, few: the same rows in different attributes.
    positive: the label of the target that is to be found.
    train: how many rows are learned from; the others test.
    frame: bounds of the numeric attributes, known without the table.
    book: what every other attribute may be, with its hierarchy, whether or not it occurs.
    k, n0, penalty: as the published study has them, if its penalties are meant in percent.
    """

    name: str
    wide: Table
    few: Table
    target: str
    positive: str
    train: int
    frame: Mapping[str, tuple[float, float]]
    book: Mapping[str, Hierarchy]
    few_book: Mapping[str, Hierarchy]
    k: int
    n0: float
    penalty: float
    named: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def split(self, seed: int) -> tuple[Counts, Counts]:
        """Return the positions of the rows to learn from and of those to test on."""
        order = np.random.default_rng([seed, len(self.wide)]).permutation(len(self.wide))
        return order[: self.train], order[self.train :]

    def labels(self, rows: Counts) -> Bools:
        """Return, for each of these rows, whether its target is the one to be found."""
        column = self.wide[self.target]
        return np.array([text == self.positive for text in column.labels])[column.codes[rows]]

    def part(self, rows: Counts, names: Sequence[str] | None = None) -> Table:
        """Return rows of the wide table, in some of its attributes."""
        columns = [c for c in self.wide if names is None or c.name in (*names, self.target)]
        return Table(tuple(column.take(rows) for column in columns))

    def few_part(self, rows: Counts) -> Table:
        """Return rows of the table in few attributes."""
        return Table(tuple(column.take(rows) for column in self.few))


@cache
def load(name: str) -> Study:
    """Return a study's table; all but the generated patients need SHOAL_DATA."""
    return {"adult": _adult, "census-income": _census, "patients": _patients}[name]()


ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
TEN = (  # the first 4, 6, 8 are those of the smaller lattices
    "age", "workclass", "education", "marital-status", "relationship", "race", "occupation",
    "hours-per-week", "sex", "native-country",
)  # fmt: skip
DEPTHS = {  # levels of the hierarchy files that are kept, so that the lattice is as published
    "education": (0, 2, 3),
    "hours-per-week": (0, 1, 2, 4),
    "native-country": (0, 1, 1, 2),
}


def _adult() -> Study:
    """Return the complete rows of both census files, 45,222, in ten attributes: 62,208 nodes."""
    cells = adult_cells("adult.data.gz", "adult.test.gz")
    book = {name: _kept_levels(_adult_tree(name), name) for name in TEN[1:]}
    few_book = {
        "education": tree(trees.EDUCATION),
        "marital-status": tree(trees.MARITAL_STATUS),
        "occupation": tree(trees.OCCUPATION),
    }
    return Study(
        "adult",
        _table(cells, {"age": {"intervals": [10, 20]}, **book}, "income"),
        _table(cells, {"age": {"intervals": [10, 20, 40]}, **few_book}, "income"),
        "income",
        ">50K",
        30_162,
        {"age": (0, 100), "hours-per-week": (0, 100)},
        {name: book[name] for name in book if name != "hours-per-week"},
        few_book,
        k=75,
        n0=30_000,
        penalty=2.0,
        named={size: TEN[:size] for size in (4, 6, 8, 10)},
    )


def adult_cells(*files: str) -> dict[str, Any]:
    """Return the columns of the complete rows of census files, ages and hours as numbers."""
    from shoal.datasets.public import folder

    rows: list[list[str]] = []
    for file in files:
        with gzip.open(folder() / "adult" / file, "rt", encoding="utf-8") as lines:
            read = csv.reader(lines, skipinitialspace=True)
            rows += [row for row in read if len(row) == len(ADULT) and "?" not in row]
    cells: dict[str, Any] = {name: [row[i] for row in rows] for i, name in enumerate(ADULT)}
    cells["income"] = [cell.rstrip(".") for cell in cells["income"]]
    for name in ("age", "hours-per-week"):
        cells[name] = [int(cell) for cell in cells[name]]
    return cells


def _adult_tree(name: str) -> Hierarchy:
    from shoal.datasets.public import folder

    return Hierarchy.read(folder() / "adult" / "full" / f"adult_full_hierarchy_{name}.csv")


def reference() -> Table:
    """Return another lattice of 62,208 nodes: income may be hidden, relationship is not there."""
    cells = adult_cells("adult.data.gz")
    names = [name for name in (*TEN, "income") if name not in ("age", "relationship")]
    recipes: dict[str, Any] = {
        name: _adult_tree("salary-class" if name == "income" else name) for name in names
    }
    recipes["hours-per-week"] = _kept_levels(recipes["hours-per-week"], "hours-per-week")
    recipes["age"] = {"intervals": [5, 10, 20, 40]}
    roles = {name: {"role": "quasi", "hierarchy": recipe} for name, recipe in recipes.items()}
    return Table.from_arrow(pa.table({name: cells[name] for name in roles}), roles)


def _kept_levels(hierarchy: Hierarchy, name: str) -> Hierarchy:
    """Return the hierarchy with some of its levels; countries get one more, above continents."""
    if name not in DEPTHS:
        return hierarchy
    rows = [[row[level] for level in DEPTHS[name]] for row in hierarchy.rows()]
    if name == "native-country":
        rows = [
            [*row[:2], "the Americas" if row[1].endswith("America") else "elsewhere", "*"]
            for row in rows
        ]
    return Hierarchy.from_rows(rows)


def _census() -> Study:
    """Return the census table of 1994-95, in place of the Brazilian one that was used."""
    from shoal.datasets import load as load_public

    names = "age class_of_worker education marital_status race sex major_occupation weeks_worked"
    data = load_public("census-income").to_arrow().select([*names.split(), "income"])
    cells = {name: data.column(name) for name in data.column_names}
    few_book = {
        "education": tree(trees.CENSUS_EDUCATION),
        "marital_status": tree(trees.CENSUS_MARITAL_STATUS),
        "major_occupation": tree(trees.CENSUS_OCCUPATION),
    }
    races = ["White", "Black", "Asian or Pacific Islander", "Amer Indian Aleut or Eskimo", "Other"]
    book = {
        **few_book,
        "class_of_worker": tree(trees.CENSUS_WORK),
        "race": tree(races),
        "sex": tree(["Female", "Male"]),
    }
    ages, weeks = {"intervals": [10, 20, 40]}, {"intervals": [13, 26]}
    return Study(
        "census-income",
        _table(cells, {"age": ages, "weeks_worked": weeks, **book}, "income"),
        _table(cells, {"age": ages, **few_book}, "income"),
        "income",
        "50000+.",
        149_642,
        {"age": (0, 100), "weeks_worked": (0, 52)},
        book,
        few_book,
        k=85,
        n0=150_000,
        penalty=3.0,
    )


PATIENTS = 30_000


def _patients() -> Study:
    """Return generated patients with an expensive stay or not; needs no public file."""
    from shoal.datasets import patient_schema, patients

    names = ["birth_date", "sex", "ethnicity", "occupation", "admission_date"]
    data = patients(PATIENTS, seed=1).to_arrow().select([*names, "cost"]).drop_null()
    high = pc.greater(data.column("cost").cast(pa.float64()), 6000.0)
    stay = pc.if_else(high, "expensive", "not")
    cells = {**{name: data.column(name) for name in names}, "stay": stay}
    given = {name: patient_schema()["columns"][name].get("hierarchy") for name in names}
    book = {name: tree(given[name]["tree"]) for name in ("ethnicity", "occupation")}
    book["sex"] = tree(["female", "male", "other"])
    recipes = {**given, **book}
    few = {name: recipes[name] for name in ("birth_date", "sex", "occupation")}
    days = (-25_000.0, 20_000.0)  # since 1970: those born between 1901 and 2024
    return Study(
        "patients",
        _table(cells, recipes, "stay"),
        _table(cells, few, "stay"),
        "stay",
        "expensive",
        2 * len(stay) // 3,
        {"birth_date": days, "admission_date": (19_000.0, 20_100.0)},
        book,
        {name: book[name] for name in ("sex", "occupation")},
        k=75,
        n0=20_000,
        penalty=2.0,
        named={3: tuple(names[:3]), 5: tuple(names)},
    )


def _table(cells: Mapping[str, Any], hierarchies: Mapping[str, Any], target: str) -> Table:
    roles: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": recipe} for name, recipe in hierarchies.items()
    }
    data = pa.table({name: cells[name] for name in (*hierarchies, target)})
    return take_domains_as_public(Table.from_arrow(data, {**roles, target: "sensitive"}))
