"""Recipes for hierarchies: intervals, quantiles, masks, dates, trees, orderings, random trees.

Each takes a column (or plain values) and returns a hierarchy over its known values; a schema names
a recipe and its argument, `{intervals: [5, 10, 20]}`.
"""

from __future__ import annotations

import calendar
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column, Kind
from shoal.core.hierarchy import ROOT, Hierarchy
from shoal.core.values import float_text
from shoal.errors import InputError

Bounds = dict[str, tuple[float, float]]
_EMPTY = Hierarchy.from_rows([(None, ROOT)])  # of a column that knows no value


def intervals(column: Any, widths: Sequence[Any], origin: float = 0) -> Hierarchy:
    """Group numbers into intervals `[20, 25[` of growing width, each a multiple of the last.

    >>> intervals([21, 24, 25], [5]).rows()
    [('21', '[20, 25[', '*'), ('24', '[20, 25[', '*'), ('25', '[25, 30[', '*')]
    """
    column = _column(column)
    if column.kind is not Kind.NUMERIC or pa.types.is_temporal(column.values.type):
        raise InputError(f"column {column.name!r}: intervals need numbers; dates have `dates`")
    _check_widths(column.name, widths)
    whole = pa.types.is_integer(column.values.type)
    # exact: in floating point 0.3 / 0.1 is less than 3
    exact, zero = [Fraction(str(width)) for width in widths], Fraction(str(origin))
    labels = [str(label) for label in column.labels[: column.known]]
    steps = [int((Fraction(label) - zero) // exact[0]) for label in labels]
    levels = []
    bounds: dict[int, Bounds] = {}
    for height, width in enumerate(exact, start=1):
        merged = int(width / exact[0])
        named: dict[int, str] = {}
        bounds[height] = {}
        for start in {step // merged for step in steps}:
            low, high = zero + start * width, zero + (start + 1) * width
            named[start] = f"[{_number_text(low)}, {_number_text(high)}["
            bounds[height][named[start]] = (
                float(low),
                math.ceil(high) - 1.0 if whole else float(high),
            )
        levels.append([named[step // merged] for step in steps])
    return Hierarchy.from_rows(
        list(zip(labels, *levels, [ROOT] * len(labels), strict=True)), bounds
    )


def _number_text(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else float_text(float(number))


def _check_widths(name: str, widths: Sequence[Any]) -> None:
    if not widths or any(not 0 < width < math.inf for width in widths):
        raise InputError(f"column {name!r}: interval widths must be positive numbers")
    for fine, coarse in itertools.pairwise(widths):
        ratio = Fraction(str(coarse)) / Fraction(str(fine))
        if ratio <= 1 or ratio.denominator > 1:
            raise InputError(
                f"column {name!r}: each interval width must be a multiple of the one before, "
                f"and {coarse} is not a multiple of {fine}"
            )


def quantiles(column: Any, groups: Sequence[int]) -> Hierarchy:
    """Group an ordered column into ranges of about equally many rows: 16, then 4, say.

    The cuts are taken from the data, so they say a little about it.
    """
    column = _column(column)
    if not column.ordered:
        raise InputError(f"column {column.name!r}: quantiles need an ordered column")
    if not groups or groups[-1] < 1:
        raise InputError(f"column {column.name!r}: quantiles are numbers of groups, 1 or more")
    for fine, coarse in itertools.pairwise(groups):
        if coarse < 1 or fine % coarse or fine == coarse:
            raise InputError(f"column {column.name!r}: {fine} groups do not merge into {coarse}")
    counts = np.bincount(column.codes, minlength=column.domain)[: column.known]
    middle = np.cumsum(counts) - counts / 2
    total = max(int(counts.sum()), 1)
    finest = np.minimum((middle / total * groups[0]).astype(np.int64), groups[0] - 1)
    labels = [str(label) for label in column.labels[: column.known]]
    levels = [_range_labels(labels, finest // (groups[0] // wanted)) for wanted in groups]
    return Hierarchy.from_rows(list(zip(labels, *levels, [ROOT] * len(labels), strict=True)))


def ordering(column: Any, fanout: int = 2) -> Hierarchy:
    """Group an ordered column by position: `fanout` neighbours a group, then their groups.

    >>> ordering(["low", "mid", "high", "top"]).rows()[0]
    ('high', '[high, low]', '*')
    """
    column = _column(column)
    if fanout < 2:
        raise InputError(f"column {column.name!r}: fanout must be 2 or more, not {fanout}")
    labels = [str(label) for label in column.labels[: column.known]]
    ranks = np.arange(len(labels), dtype=np.int64)
    levels, width = [], fanout
    while width < len(labels):
        levels.append(_range_labels(labels, ranks // width))
        width *= fanout
    return Hierarchy.from_rows(list(zip(labels, *levels, [ROOT] * len(labels), strict=True)))


def _range_labels(labels: Sequence[str], groups: Any) -> list[str]:
    """Label consecutive groups by their first and last value."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    ends = np.append(starts[1:], len(labels)) - 1
    named: list[str] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        text = labels[start] if start == end else f"[{labels[start]}, {labels[end]}]"
        named.extend([text] * (end - start + 1))
    return named


def mask(column: Any, side: str = "right", sign: str = "*") -> Hierarchy:
    """Hide one character more at each level, from the right or from the left.

    >>> mask(["28411", "28426"]).rows()[0]
    ('28411', '2841*', '284**', '28***', '2****', '*')
    """
    column = _column(column)
    if side not in ("right", "left"):
        raise InputError(f"column {column.name!r}: mask is right or left, not {side!r}")
    labels = [str(label) for label in column.labels[: column.known]]
    longest = max((len(label) for label in labels), default=0)

    def hidden(text: str, count: int) -> str:
        count = min(count, len(text))
        signs = sign * count
        return text[: len(text) - count] + signs if side == "right" else signs + text[count:]

    return Hierarchy.from_rows(
        [(text, *(hidden(text, n) for n in range(1, longest)), ROOT) for text in labels]
    )


_SPANS: dict[str, Callable[[date], tuple[str, date, date]]] = {
    "day": lambda d: (d.isoformat(), d, d),
    "month": lambda d: (
        f"{d:%Y-%m}",
        d.replace(day=1),
        d.replace(day=calendar.monthrange(d.year, d.month)[1]),
    ),
    "quarter": lambda d: (
        f"{d:%Y}-Q{(d.month + 2) // 3}",
        date(d.year, (d.month - 1) // 3 * 3 + 1, 1),
        date(
            d.year,
            (d.month + 2) // 3 * 3,
            calendar.monthrange(d.year, (d.month + 2) // 3 * 3)[1],
        ),
    ),
    "year": lambda d: (f"{d:%Y}", date(d.year, 1, 1), date(d.year, 12, 31)),
    "decade": lambda d: (
        f"{d.year // 10 * 10}s",
        date(max(d.year // 10 * 10, 1), 1, 1),
        date(d.year // 10 * 10 + 9, 12, 31),
    ),
}


def dates(column: Any, levels: Sequence[str] = ("month", "year", "decade")) -> Hierarchy:
    """Group dates by day (of a time), month, quarter, year, decade.

    >>> dates([date(2024, 3, 9)]).rows()
    [('2024-03-09', '2024-03', '2024', '2020s', '*')]
    """
    column = _column(column)
    kind = column.values.type
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        raise InputError(f"column {column.name!r}: `dates` needs dates, and its values are {kind}")
    rank = {name: place for place, name in enumerate(_SPANS)}
    if any(name not in rank for name in levels) or sorted(levels, key=rank.__getitem__) != list(
        levels
    ):
        raise InputError(
            f"column {column.name!r}: date levels are {', '.join(_SPANS)}, in this order"
        )
    days = [d.as_py() for d in column.values[: column.known].cast(pa.date32(), safe=False)]
    timed = pa.types.is_timestamp(kind)
    bounds: dict[int, Bounds] = {height: {} for height in range(1, len(levels) + 1)}
    rows = []
    for label, day in zip(column.labels, days, strict=False):
        row = [label]
        for height, name in enumerate(levels, start=1):
            text, first, last = _SPANS[name](day)
            bounds[height][text] = _span_bounds(first, last, timed)
            row.append(text)
        rows.append((*row, ROOT))
    return Hierarchy.from_rows(rows, bounds)


def _span_bounds(first: date, last: date, timed: bool) -> tuple[float, float]:
    """Return the ends of a span of days in the column's unit: days, or seconds for times."""
    epoch = date(1970, 1, 1)
    start = float((first - epoch).days)
    end = float((last - epoch).days)
    return (start * 86400, (end + 1) * 86400) if timed else (start, end)


def tree(nested: Mapping[str, Any] | Sequence[Any]) -> Hierarchy:
    """Read an explicit tree: `{group: [value, …] or {group: …}}`; branches may differ in depth.

    >>> tree({"Europe": ["France", "Malta"], "Asia": ["Japan"]}).rows()[0]
    ('France', 'Europe', '*')
    """
    paths = list(_paths(nested, ()))
    depth = max((len(path) for path in paths), default=0)
    return Hierarchy.from_rows(
        [(*([path[0]] * (depth - len(path))), *path, ROOT) for path in paths]
    )


def _paths(nested: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(nested, Mapping):
        for group, below in nested.items():
            yield from _paths(below, (str(group), *above))
    elif isinstance(nested, Sequence) and not isinstance(nested, str):
        for value in nested:
            yield from _paths(value, above)
    else:
        yield ("" if nested is None else str(nested), *above)


def random(column: Any, seed: int = 0, *, ordered: bool = True) -> Hierarchy:
    """Draw a random tree with all leaves at one depth, after de Spoelberch (2020), 3.3.2.

    The domain is split at random into two or three consecutive parts (with more, nearly all trees
    would be flat), again and again, down to single values; then every branch is cut to the depth
    of the shallowest leaf. `ordered=False` shuffles first.
    """
    column = _column(column)
    labels = [str(label) for label in column.labels[: column.known]]
    generator = np.random.default_rng(seed)
    order = np.arange(len(labels)) if ordered else generator.permutation(len(labels))
    levels = [[np.asarray(order)]]
    while all(len(part) > 1 for part in levels[-1]):
        levels.append([piece for part in levels[-1] for piece in _split(part, generator)])
    names: list[list[str]] = [[""] * len(labels) for _ in levels[1:-1]]
    for row, parts in zip(names, levels[1:-1], strict=True):
        for part in parts:
            text = "{" + ", ".join(labels[i] for i in sorted(part)) + "}"
            for i in part:
                row[i] = text
    return Hierarchy.from_rows(
        list(zip(labels, *reversed(names), [ROOT] * len(labels), strict=True))
    )


def _split(part: Any, generator: np.random.Generator) -> list[Any]:
    pieces = int(generator.integers(2, min(len(part), 3) + 1))
    cuts = generator.choice(np.arange(1, len(part)), size=pieces - 1, replace=False)
    return np.split(part, np.sort(cuts))


def suppression(column: Any) -> Hierarchy:
    """Keep or hide: each value under the root."""
    column = _column(column)
    return Hierarchy.from_rows([(label, ROOT) for label in column.labels[: column.known]])


def suggest(column: Column) -> Hierarchy:
    """Return a starting hierarchy for any column, to be edited by its owner."""
    kind = column.values.type
    if not column.known:
        return _EMPTY
    if pa.types.is_date(kind):
        return dates(column)
    if pa.types.is_timestamp(kind):
        return dates(column, ("day", "month", "year", "decade"))
    if column.kind is Kind.NUMERIC and column.known > 1 and not pa.types.is_temporal(kind):
        widths = _suggest_widths(column)
        return intervals(column, widths) if widths else ordering(column, 4)
    texts = [label for label in column.labels[: column.known] if label]
    if texts and len(texts) > 20 and len({len(t) for t in texts}) == 1 and len(texts[0]) > 2:
        return mask(column)
    return suppression(column) if column.kind is Kind.NOMINAL else ordering(column, 4)


def _suggest_widths(column: Column) -> list[Fraction]:
    """Return 5, 10, 20, 40 or the like: more than one value wide, less than all."""
    low, high = column.positions[0], column.positions[column.known - 1]
    if not high > low:  # apart by less than a float can tell
        return []
    unit = Fraction(10) ** math.floor(math.log10((high - low) / 3))
    least = 1 if pa.types.is_integer(column.values.type) else 0
    widths = (unit / 2, unit, unit * 2, unit * 4)
    return [width for width in widths if least < width < high - low]


def _column(values: Any) -> Column:
    return values if isinstance(values, Column) else Column.encode("values", values)


RECIPES: dict[str, Callable[..., Hierarchy]] = {
    "intervals": intervals,
    "quantiles": quantiles,
    "mask": mask,
    "dates": dates,
    "tree": lambda column, nested: tree(nested),
    "ordering": ordering,
    "random": random,
    "suppression": suppression,
}


def build(column: Column, recipe: Mapping[str, Any]) -> Hierarchy:
    """Build the hierarchy that a recipe such as `{mask: right}` asks for."""
    names = [name for name in recipe if name in RECIPES] if isinstance(recipe, Mapping) else []
    if len(names) != 1:
        raise InputError(
            f"column {column.name!r}: a hierarchy is a file or one of {', '.join(RECIPES)}"
        )
    name = names[0]
    options = {key: value for key, value in recipe.items() if key != name}
    argument = recipe[name]
    arguments = [] if argument is None or argument is True else [argument]
    if name == "tree" or not isinstance(argument, Mapping):
        return _call(column, name, arguments, options)
    return _call(column, name, [], {**options, **argument})


def _call(column: Column, name: str, arguments: list[Any], options: dict[str, Any]) -> Hierarchy:
    if not column.known:
        return _EMPTY
    try:
        return RECIPES[name](column, *arguments, **options)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
        raise InputError(
            f"column {column.name!r}: the arguments of its hierarchy {name!r} are not understood"
        ) from None


__all__ = [
    "RECIPES",
    "build",
    "dates",
    "intervals",
    "mask",
    "ordering",
    "quantiles",
    "random",
    "suggest",
    "suppression",
    "tree",
]
