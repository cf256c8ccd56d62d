"""Random hierarchies over a domain, as a baseline for experiments."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.hierarchies.recipe_arguments import (
    is_whole,
    known_labels,
    nested,
    over_domain,
    refusal,
)


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
