"""Recipes for hierarchies: intervals, quantiles, masks, dates, trees, orderings, random trees.

Each takes a column (or plain values) and returns a hierarchy over its known values. A schema names
a recipe and its argument, `{intervals: [5, 10, 20]}`, for `build`. `suggest` drafts a hierarchy for
any column; `random` is a baseline for experiments.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import HierarchyError, InputError, ShoalError
from shoal.support.arrays import Counts
from shoal.table.column import Column, Kind
from shoal.table.hierarchy import ROOT, Hierarchy
from shoal.table.trees import (
    as_column,
    check_height,
    dates,
    intervals,
    is_list,
    is_number,
    is_whole,
    known_labels,
    nested,
    over_domain,
    refusal,
    suggest_widths,
)

__all__ = [
    "RECIPES",
    "build",
    "dates",
    "frequency",
    "intervals",
    "mask",
    "ordering",
    "quantiles",
    "random",
    "suggest",
    "suppression",
    "tree",
]
_MAX_QUANTILES = 1_000_000  # groups of one level
_LONGEST_CODE = 64  # characters of a value that a mask is suggested for


def build(column: Column, recipe: Mapping[str, Any]) -> Hierarchy:
    """Build the hierarchy of a recipe such as `{"mask": "right"}`.

    Parameters:
        column: The column.
        recipe: The name of one of the `RECIPES` with its first argument; further arguments by name.

    Returns:
        The hierarchy over the values, or over the declared domain of the column.

    Raises:
        InputError: The recipe is unknown, or its arguments are wrong.
        HierarchyError: The groups of the recipe are not nested.

    >>> build(Column.encode("age", [21, 37]), {"intervals": [10], "origin": 5}).rows()
    [('21', '[15, 25[', '*'), ('37', '[35, 45[', '*')]
    """
    names = [name for name in recipe if name in RECIPES] if isinstance(recipe, Mapping) else []
    if len(names) != 1:
        known = ", ".join((*RECIPES, "from"))
        raise InputError(f"column {column.name!r}: hierarchy must be a file or one of {known}")
    name = names[0]
    options = {key: value for key, value in recipe.items() if key != name}
    argument = recipe[name]
    arguments = [] if argument is None or argument is True else [argument]
    if name != "tree" and isinstance(argument, Mapping):
        arguments, options = [], {**options, **argument}
    try:
        return RECIPES[name](column, *arguments, **options)
    except HierarchyError as error:
        message = str(error).removeprefix("hierarchy: ")
        raise HierarchyError(
            f"column {column.name!r}: {name}: {message}", error.missing, error.not_nested
        ) from None
    except ShoalError:
        raise
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
        raise InputError(
            f"column {column.name!r}: hierarchy {name!r} has invalid arguments"
        ) from None


def quantiles(column: Any, groups: Sequence[int]) -> Hierarchy:
    """Group an ordered column into ranges with about the same number of rows, such as 16, then 4.

    The boundaries are computed from the data and so reveal something about it.

    Parameters:
        column: A numeric or ordinal `Column`, or plain values.
        groups: The number of groups at each level, each a divisor of the one before.

    Returns:
        The hierarchy over the values; its origin is the data.

    Raises:
        InputError: The column is nominal, or the numbers of groups are not divisors.

    >>> quantiles([20, 21, 30, 60], [2]).rows()[0]
    ('20', '[20, 21]', '*')
    """
    column = as_column(column)
    return weighted_quantiles(column, groups, np.bincount(column.codes, minlength=column.domain))


def weighted_quantiles(column: Column, groups: Sequence[int], counts: Counts) -> Hierarchy:
    """Return the hierarchy by quantiles of a column that has a number of rows for each value."""
    if column.known and not column.ordered:
        raise refusal(column, "quantiles", "needs an ordered column")
    if not is_list(groups) or not groups or not all(is_whole(n) for n in groups):
        raise refusal(column, "quantiles", "groups must be a list of whole numbers")
    if not all(0 < n <= _MAX_QUANTILES for n in groups):
        raise refusal(column, "quantiles", f"groups must be from 1 to {_MAX_QUANTILES:,}")
    check_height(column, len(groups))
    for fine, coarse in itertools.pairwise(groups):
        if fine % coarse or fine == coarse:
            raise refusal(
                column,
                "quantiles",
                "each number of groups must be a divisor of the one before, "
                f"and {coarse} is not a smaller divisor of {fine}",
            )
    counts = counts[: column.known]
    # the middle row of each value decides about its quantile
    middle = np.cumsum(counts) - counts / 2
    total = max(int(counts.sum()), 1)
    finest = np.minimum((middle / total * groups[0]).astype(np.int64), groups[0] - 1)
    labels = known_labels(column)
    levels = [_range_labels(labels, finest // (groups[0] // wanted)) for wanted in groups]
    return replace(nested(column, labels, levels, fixed=False), origin="data")


def ordering(column: Any, fanout: int = 2) -> Hierarchy:
    """Group an ordered column by position: `fanout` neighbours per group, then groups of groups.

    Parameters:
        column: A `Column`, or plain values, which are taken in ascending order.
        fanout: Number of members of a group, at least 2.

    Returns:
        The hierarchy over the values, or over the declared domain of the column.

    Raises:
        InputError: The fanout is not a whole number of 2 or more.

    >>> ordering(["low", "mid", "high", "top"]).rows()[0]
    ('high', '[high, low]', '*')
    """
    column = over_domain(column)
    if not is_whole(fanout) or fanout < 2:
        raise refusal(
            column, "ordering", f"fanout must be a whole number, 2 or more, not {fanout!r}"
        )
    labels = known_labels(column)
    ranks = np.arange(len(labels), dtype=np.int64)
    levels, width = [], fanout
    while width < len(labels):
        levels.append(_range_labels(labels, ranks // width))
        width *= fanout
    return nested(column, labels, levels, fixed=False)


def _range_labels(labels: Sequence[str], groups: Any) -> list[str]:
    """Label consecutive groups by their first and last value."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    ends = np.append(starts[1:], len(labels))[: len(starts)] - 1
    named: list[str] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        text = labels[start] if start == end else f"[{labels[start]}, {labels[end]}]"
        named.extend([text] * (end - start + 1))
    return named


def mask(
    column: Any,
    side: str = "right",
    sign: str = "*",
    length: int | None = None,
    keep: int | None = None,
) -> Hierarchy:
    """Hide one more character at each level, from the right or from the left.

    Parameters:
        column: A `Column`, or plain values.
        side: The side on which characters are hidden first, `"right"` or `"left"`.
        sign: The character that replaces hidden ones.
        length: Length of the longest possible value; by default of the longest value in the column.
        keep: Number of characters that the first level shows of every value. Further characters,
            such as the end of 12345-6789, are hidden at the first level.

    Returns:
        The hierarchy over the values, or over the declared domain of the column.

    Raises:
        InputError: An argument is wrong, or a value is longer than `length`.

    >>> mask(["28411", "28426"]).rows()[0]
    ('28411', '2841*', '284**', '28***', '2****', '*')
    >>> mask(["28411", "28411-1234"], keep=5).rows()[1][:3]
    ('28411-1234', '28411*', '2841**')
    """
    column = over_domain(column)
    if side not in ("right", "left"):
        raise refusal(column, "mask", f"side must be right or left, not {side!r}")
    if not isinstance(sign, str) or len(sign) != 1:
        raise refusal(column, "mask", "sign must be a single character")
    if length is not None and keep is not None:
        raise refusal(column, "mask", "length and keep cannot be combined; give one of them")
    for name, number in (("length", length), ("keep", keep)):
        if number is not None and (not is_whole(number) or number < 1):
            raise refusal(
                column, "mask", f"{name} must be a whole number, 1 or more, not {number!r}"
            )
    labels = known_labels(column)
    longest = max((len(label) for label in labels), default=0)
    if length is not None:
        if longest > length:
            raise refusal(column, "mask", f"some values are longer than length {length}")
        longest = length

    def hidden(text: str, count: int) -> str:
        if keep is None:
            shown = max(len(text) - count, 0)
            signs = sign * (len(text) - shown)
        else:
            shown = min(len(text), keep + 1 - count)
            signs = sign * count
        return text[:shown] + signs if side == "right" else signs + text[len(text) - shown :]

    steps = longest if keep is None else keep + 1
    check_height(column, steps - 1)
    levels = [[hidden(text, count) for text in labels] for count in range(1, steps)]
    return nested(column, labels, levels, fixed=length is not None or keep is not None)


def frequency(column: Any, shares: Sequence[float] = (0.01, 0.05)) -> Hierarchy:
    """Keep frequent values and put the others into one group, which grows from level to level.

    Which values are frequent is computed from the data and so reveals something about it.

    Parameters:
        column: A `Column`, or plain values.
        shares: For each level, the share of the rows that a value must have to be kept; ascending.

    Returns:
        The hierarchy over the values; its origin is the data.

    Raises:
        InputError: The shares are not ascending numbers between 0 and 1.

    >>> frequency(["Berlin"] * 8 + ["Jena", "Gotha"], [0.2]).rows()
    [('Berlin', 'Berlin', '*'), ('Gotha', 'other (each under 20 %)', '*'), \
('Jena', 'other (each under 20 %)', '*')]
    """
    column = as_column(column)
    return weighted_frequency(column, shares, np.bincount(column.codes, minlength=column.domain))


def weighted_frequency(column: Column, shares: Sequence[float], counts: Counts) -> Hierarchy:
    """Return the hierarchy by frequency of a column that has a number of rows for each value."""
    if not is_list(shares) or not all(is_number(share) and 0 < share < 1 for share in shares):
        raise refusal(column, "frequency", "shares must be a list of numbers between 0 and 1")
    if any(fine >= coarse for fine, coarse in itertools.pairwise(shares)):
        raise refusal(column, "frequency", "each share must be larger than the one before")
    labels = known_labels(column)
    counts = counts[: column.known]
    levels = []
    for share in shares:
        rare = counts < share * counts.sum()
        if 1 < rare.sum() < len(labels):  # otherwise the level is that below it, or the root
            group = _free_text(f"other (each under {100 * share:g} %)", labels)
            pairs = zip(labels, rare.tolist(), strict=True)
            levels.append([group if is_rare else label for label, is_rare in pairs])
    return replace(nested(column, labels, levels, fixed=False), origin="data")


def _free_text(text: str, labels: Collection[str]) -> str:
    while text in labels:
        text += "_"
    return text


def tree(nested: Mapping[str, Any] | Sequence[Any]) -> Hierarchy:
    """Build a hierarchy from an explicit tree; branches may differ in depth.

    Parameters:
        nested: The tree as `{group: [value, …] or {group: …}}`.

    Returns:
        The hierarchy over the values of the tree.

    Raises:
        HierarchyError: The tree has no values, or a value or a group is in two places.

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
    of the shallowest leaf.

    Parameters:
        column: A `Column`, or plain values.
        seed: The same seed gives the same tree.
        ordered: Whether the parts are neighbours in the order of the values; False shuffles the
            values first.

    Returns:
        The hierarchy over the values, or over the declared domain of the column.

    Raises:
        InputError: The seed is not a whole number of 0 or more, or `ordered` is not a truth value.

    >>> random([1, 2, 3, 4, 5, 6], seed=1).rows()[0]
    ('1', '{1, 2, 3}', '*')
    """
    column = over_domain(column)
    if not is_whole(seed) or seed < 0 or not isinstance(ordered, bool):
        raise refusal(
            column, "random", "seed must be a whole number, 0 or more, and ordered true or false"
        )
    labels = known_labels(column)
    generator = np.random.default_rng(seed)
    order = np.arange(len(labels)) if ordered else generator.permutation(len(labels))
    # parts of each depth, from the whole domain down; the last depth with a single value ends it
    levels = [[np.asarray(order)]]
    while all(len(part) > 1 for part in levels[-1]):
        levels.append([piece for part in levels[-1] for piece in _split(part, generator)])
    names: list[list[str]] = [[""] * len(labels) for _ in levels[1:-1]]
    for row, parts in zip(names, levels[1:-1], strict=True):
        for part in parts:
            text = "{" + ", ".join(labels[i] for i in sorted(part)) + "}"
            for i in part:
                row[i] = text
    return nested(column, labels, names[::-1], fixed=False)


def _split(part: Any, generator: np.random.Generator) -> list[Any]:
    pieces = int(generator.integers(2, min(len(part), 3) + 1))
    cuts = generator.choice(np.arange(1, len(part)), size=pieces - 1, replace=False)
    return np.split(part, np.sort(cuts))


def suppression(column: Any) -> Hierarchy:
    """Keep or suppress: each value directly below the root.

    Parameters:
        column: A `Column`, or plain values.

    Returns:
        The hierarchy over the values, or over the declared domain of the column.

    >>> suppression(["F", "M"]).rows()
    [('F', '*'), ('M', '*')]
    """
    column = over_domain(column)
    return nested(column, known_labels(column), (), fixed=True)


def suggest(column: Column, counts: Counts | None = None) -> Hierarchy:
    """Return a draft hierarchy for any column, for its owner to edit.

    Names and words are grouped by frequency, or by their first characters if that loses much less.

    Parameters:
        column: The column.
        counts: Number of rows of each value; by default those of the column.

    Returns:
        The hierarchy; its origin is the data.

    >>> suggest(Column.encode("sex", ["F", "M", "F"])).rows()
    [('F', '*'), ('M', '*')]
    """
    if counts is None:
        counts = np.bincount(column.codes, minlength=column.domain)
    return replace(_suggest(column, counts), origin="data", source=None)


def _suggest(column: Column, counts: Counts) -> Hierarchy:
    kind = column.values.type
    if not column.known:
        return suppression(column)
    if pa.types.is_date(kind):
        return dates(column)
    if pa.types.is_timestamp(kind):
        return dates(column, ("day", "month", "year", "decade"))
    if column.kind is Kind.NUMERIC and column.known > 1 and not pa.types.is_temporal(kind):
        widths = suggest_widths(column)
        return intervals(column, widths) if widths else ordering(column, 4)
    if column.kind is not Kind.NOMINAL:
        return mask(column) if are_codes(column) else ordering(column, 4)
    return suppression(column) if column.known <= LISTABLE else group_words(column, counts)


def group_words(column: Column, counts: Counts) -> Hierarchy:
    """Return a hierarchy for a nominal column of many values; its source is its recipe.

    Codes are masked. Other texts are grouped by frequency, or by their first characters if that
    loses much less.

    Parameters:
        column: The column.
        counts: Number of rows of each value.
    """
    recipes: list[dict[str, Any]] = [{"frequency": list(_SHARES)}, {"mask": {"keep": _INITIALS}}]
    drafts = [weighted_frequency(column, _SHARES, counts), mask(column, keep=_INITIALS)]
    by_frequency, by_initials = (_price(draft, counts[: column.known]) for draft in drafts)
    chosen = int(by_initials < _CLEARLY * by_frequency)
    tree, recipe = drafts[chosen], recipes[chosen]
    if are_codes(column):
        tree, recipe = mask(column), {"mask": "right"}
    return replace(tree, origin="data", source=json.dumps(recipe))


def with_rare_values(tree: Hierarchy, texts: Sequence[str]) -> Hierarchy:
    """Return a hierarchy by frequency with more values, which nobody has and which are rare."""
    rows = tree.rows()
    changed = [row for row in rows if len(row) > 2 and row[1] != row[0]]
    above = changed[0][1:] if changed else (ROOT,) * tree.height
    added = [(text, *above) for text in texts]
    made = Hierarchy.from_rows([*rows, *added], {}, "data", tree.ruler)
    return replace(made, source=tree.source)


def are_codes(column: Column) -> bool:
    """Return whether many texts are of one length and mostly digits, like postcodes."""
    texts = [label for label in column.labels[: column.known] if label]
    if len(texts) <= _FEW_CODES:
        return False
    lengths = {len(text) for text in texts}
    digits = sum(sign.isdigit() for text in texts for sign in text)
    enough = digits >= _DIGITS_OF_CODE * sum(map(len, texts))
    return len(lengths) == 1 and 2 < lengths.pop() <= _LONGEST_CODE and enough


_DIGITS_OF_CODE = 0.5  # share of the characters of a code
_FEW_CODES = 20  # values of a column that may be of one length by chance
LISTABLE = 6  # values of a column that one cell may list; it never lists them all
_SHARES = (0.01, 0.05)  # of the rows, for a value to be kept
_INITIALS = 3  # characters that the first level shows of a name
_CLEARLY = 0.7  # of the loss by frequency: initials rarely mean anything
_NEEDED = (0.02, 0.1, 0.3)  # shares of the rows that a group may need, as other columns divide it


def _price(draft: Hierarchy, counts: Counts) -> float:
    """Return the mean loss, from 0 to 1, if each value climbs until its group has enough rows."""
    prices = []
    for share in _NEEDED:
        price = np.ones(len(counts))
        for level in reversed(draft.levels):  # the lowest level with enough rows comes last
            groups = level.groups[: len(counts)]
            rows = np.bincount(groups, weights=counts, minlength=len(level))
            values = np.bincount(groups, minlength=len(level))
            enough = (rows >= share * counts.sum())[groups]
            price[enough] = ((values - 1) / max(len(counts) - 1, 1))[groups][enough]
        prices.append(np.average(price, weights=counts))
    return float(np.mean(prices))


RECIPES: dict[str, Callable[..., Hierarchy]] = {
    "intervals": intervals,
    "frequency": frequency,
    "quantiles": quantiles,
    "mask": mask,
    "dates": dates,
    "tree": lambda column, nested: tree(nested),
    "ordering": ordering,
    "random": random,
    "suppression": suppression,
}
