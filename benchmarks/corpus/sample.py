"""A generated table as a file, the random draws that it is made of, and the roles that it deserves.

In order: `Draw` fills columns from a seed, `Sample` holds them as clean values, `Form` states how
a file shows them (its traps), and `Expert` reads the roles that were declared for them.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

ROLES = ("quasi", "sensitive", "insensitive", "identifier", "weight", "out")
Cells = list[Any]  # numbers, texts, dates; None is a missing value


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a file shows its cells.

    dates, times: formats for `str.format`. title: lines above the header.
    """

    file: str
    delimiter: str = ","
    encoding: str = "utf-8"
    missing: str = ""
    decimal: str = "."
    dates: str = "{:%Y-%m-%d}"
    times: str = "{:%Y-%m-%d %H:%M:%S}"
    title: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """A generated table; headers are as in the file: they may repeat or be empty."""

    headers: list[str]
    columns: list[Cells]
    form: Form

    @classmethod
    def of(
        cls, form: Form, cells: dict[str, Cells], headers: dict[str, str] | None = None
    ) -> Sample:
        """Return the table of named columns, some with another header in the file."""
        shown = headers or {}
        return cls([shown.get(name, name) for name in cells], list(cells.values()), form)

    @property
    def names(self) -> list[str]:
        """The headers, made unique: an empty one is column_1 by its place, a repeated one x.1."""
        names: list[str] = []
        for place, header in enumerate(self.headers):
            name, count = header or f"column_{place + 1}", 0
            while name in names:
                count += 1
                name = f"{header}.{count}"
            names.append(name)
        return names

    def arrow(self) -> Any:
        """Return the clean values, typed, under unique names."""
        import pyarrow as pa

        return pa.table(dict(zip(self.names, map(pa.array, self.columns), strict=True)))

    def write(self, folder: Path) -> Path:
        """Write the file and return its path."""
        path = folder / self.form.file
        if path.suffix == ".xlsx":
            self._write_sheet(path)
        else:
            path.write_bytes(self.text().encode(self.form.encoding))
        return path

    def text(self) -> str:
        """Return the table as delimited text."""
        shown = io.StringIO()
        lines = csv.writer(shown, delimiter=self.form.delimiter, lineterminator="\n")
        lines.writerows([line] for line in self.form.title)
        lines.writerow(self.headers)
        lines.writerows(map(self._shown, row) for row in zip(*self.columns, strict=True))
        return shown.getvalue()

    def _shown(self, cell: Any) -> str:
        if cell is None:
            return self.form.missing
        if isinstance(cell, dt.datetime):
            return self.form.times.format(cell)
        if isinstance(cell, dt.date):
            return self.form.dates.format(cell)
        text = str(cell)
        return text.replace(".", self.form.decimal) if isinstance(cell, float) else text

    def _write_sheet(self, path: Path) -> None:
        from openpyxl import Workbook

        book = Workbook()
        sheet = book.active
        for line in self.form.title:
            sheet.append([line])
        sheet.append(self.headers)
        for row in zip(*self.columns, strict=True):
            sheet.append(row)
        book.save(path)


class Draw:
    """Random columns of one table. A hidden trait of every row correlates its numbers."""

    def __init__(self, seed: int, rows: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rows = rows
        self.trait: NDArray[np.float64] = self.rng.standard_normal(rows)

    def number(
        self,
        mean: float,
        spread: float,
        low: float,
        high: float,
        digits: int = 0,
        pull: float = 0.3,
    ) -> Cells:
        """Draw bell-shaped numbers within bounds; whole ones without digits."""
        noise = self.rng.standard_normal(self.rows)
        score = pull * self.trait + np.sqrt(1 - pull**2) * noise
        values = np.clip(mean + spread * score, low, high).round(digits)
        return _cells(values.astype(np.int64) if digits == 0 else values)

    def amount(self, median: float, spread: float = 0.7, digits: int = 0) -> Cells:
        """Draw skewed positive amounts."""
        score = 0.4 * self.trait + 0.9 * self.rng.standard_normal(self.rows)
        values = (median * np.exp(spread * score)).round(digits)
        return _cells(values.astype(np.int64) if digits == 0 else values)

    def whole(self, low: int, high: int) -> Cells:
        """Draw whole numbers from low to high, all equally likely."""
        return _cells(self.rng.integers(low, high + 1, self.rows))

    def count(self, mean: float) -> Cells:
        """Draw counts, most of them small."""
        return _cells(self.rng.geometric(1 / (1 + mean), self.rows) - 1)

    def real(self, low: float, high: float, digits: int) -> Cells:
        """Draw numbers with digits after the point, all equally likely."""
        return _cells(self.rng.uniform(low, high, self.rows).round(digits))

    def pick(self, values: Sequence[Any] | str, power: float = 1.0) -> Cells:
        """Draw values whose frequency falls with a power of their rank."""
        listed = values.split() if isinstance(values, str) else list(values)
        weights = np.arange(1, len(listed) + 1) ** -power
        places = self.rng.choice(len(listed), self.rows, p=weights / weights.sum())
        return [listed[place] for place in places]

    def chance(self, share: float, yes: Any = 1, no: Any = 0) -> Cells:
        """Draw one of two values."""
        return [yes if hit else no for hit in self.rng.random(self.rows) < share]

    def keys(self, low: int, high: int) -> Cells:
        """Draw different whole numbers."""
        drawn = np.unique(self.rng.integers(low, high, 3 * self.rows))
        return _cells(self.rng.permutation(drawn)[: self.rows])

    def code(self, pattern: str) -> Cells:
        """Draw codes: # is a digit, @ a capital letter."""
        signs = [
            self.rng.integers(0, 10, self.rows).astype("U1")
            if sign == "#"
            else np.array(list("ABCDEFGHIJKLMNOPRSTUVWXYZ"))[self.rng.integers(0, 25, self.rows)]
            if sign == "@"
            else np.full(self.rows, sign)
            for sign in pattern
        ]
        return ["".join(row) for row in zip(*signs, strict=True)]

    def day(self, first: int, last: int) -> Cells:
        """Draw days from the first year to the end of the last."""
        start = dt.date(first, 1, 1)
        spans = self.rng.integers(0, (dt.date(last, 12, 31) - start).days + 1, self.rows)
        return [start + dt.timedelta(days=int(span)) for span in spans]

    def later(self, days: Cells, mean: float) -> Cells:
        """Return days or times that follow others by some days."""
        spans = self.rng.exponential(mean, self.rows)
        return [
            None if day is None else day + dt.timedelta(days=int(span), seconds=_seconds(day, span))
            for day, span in zip(days, spans, strict=True)
        ]

    def moment(self, first: int, last: int) -> Cells:
        """Draw times of day on days from the first year to the last."""
        seconds = self.rng.integers(0, 24 * 3600, self.rows)
        return [
            dt.datetime.combine(day, dt.time()) + dt.timedelta(seconds=int(second))
            for day, second in zip(self.day(first, last), seconds, strict=True)
        ]

    def gaps(self, cells: Cells, share: float) -> Cells:
        """Return cells of which a share is missing."""
        lost = self.rng.random(self.rows) < share
        return [None if gone else cell for gone, cell in zip(lost, cells, strict=True)]

    def surname(self, starts: str, ends: str) -> Cells:
        """Draw family names from two lists of syllables."""
        both = zip(self.pick(starts, 0.4), self.pick(ends, 0.4), strict=True)
        return [start + end for start, end in both]

    def of_people(self, count: int) -> NDArray[np.int64]:
        """Return (rows,) the person of each row; a few people have many rows."""
        weights = self.rng.exponential(1.0, count) ** 1.5
        drawn = self.rng.choice(count, self.rows, p=weights / weights.sum())
        drawn[:count] = np.arange(count)[: self.rows]
        return self.rng.permutation(drawn)


def take(cells: Cells, places: Iterable[int]) -> Cells:
    """Return the cells at some places, such as of the person of each row."""
    return [cells[place] for place in places]


def joined(*parts: Cells | str) -> Cells:
    """Return texts that are joined row by row; a text stands in every row."""
    rows = next(len(part) for part in parts if not isinstance(part, str))
    columns = [[part] * rows if isinstance(part, str) else part for part in parts]
    return ["".join(map(str, row)) for row in zip(*columns, strict=True)]


def age_at(births: Cells, day: dt.date) -> Cells:
    """Return the ages in years on a day."""
    return [
        None
        if born is None
        else day.year - born.year - ((day.month, day.day) < (born.month, born.day))
        for born in births
    ]


def banded(cells: Cells, limits: Sequence[float], labels: Sequence[Any]) -> Cells:
    """Return for each number the label of its band: labels[0] below limits[0], and so on."""
    return [
        None if cell is None else labels[sum(cell >= limit for limit in limits)] for cell in cells
    ]


def _seconds(day: Any, span: float) -> int:
    return int(span % 1 * 86_400) if isinstance(day, dt.datetime) else 0


def _cells(values: NDArray[Any]) -> Cells:
    cells: Cells = values.tolist()
    return cells


@dataclass(frozen=True)
class Expert:
    """The declared roles of one table.

    reason: what an outsider could realistically know. roles: for each column the acceptable roles,
    the chosen one first. person: the columns that identify the person of a row. copies: columns
    that say the same, of which one should be kept; the chosen one first.
    """

    reason: str
    roles: dict[str, tuple[str, ...]]
    person: tuple[str, ...] = ()
    copies: tuple[tuple[str, ...], ...] = field(default=())

    def chosen(self, role: str) -> list[str]:
        """Return the columns for which a role was chosen."""
        return [name for name, roles in self.roles.items() if roles[0] == role]


def declared(family: str) -> dict[str, Expert]:
    """Return the declared roles of the tables of a family."""
    path = Path(__file__).with_name("roles") / f"{family}.yaml"
    return {
        name: Expert(
            entry["reason"],
            dict(_roles(entry["roles"])),
            tuple(entry.get("person", ())),
            tuple(map(tuple, entry.get("copies", ()))),
        )
        for name, entry in yaml.safe_load(path.read_text(encoding="utf-8")).items()
    }


def _roles(declared_roles: dict[str, list[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each column with its acceptable roles; one that is declared twice is an error."""
    seen: set[str] = set()
    for roles, names in declared_roles.items():
        for name in map(str, names):
            if name in seen:
                raise ValueError(f"{name} is declared twice")
            seen.add(name)
            yield name, tuple(roles.split("/"))
