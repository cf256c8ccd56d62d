"""Infeasibility: the attacker rules pairs out, and holds what is left for equally likely.

Edman, Sivrikaya & Yener, "A combinatorial approach to measuring anonymity", 2007; Malik,
"Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014, section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.core.arrays import Bools, Counts
from shoal.errors import InputError, unknown
from shoal.risk.attacks.attack import EVERYBODY, TRUE, Attack

EVEN = "Ways to match all entities that are not ruled out are equally likely to the attacker."


def relation_attack(
    relation: Any,
    original: Sequence[Any] | None = None,
    released: Sequence[Any] | None = None,
    *,
    mapping: Any = None,
) -> Attack:
    """Return the attack of one who knows which pairs are possible.

    relation: (n, n) yes or no, or a function of an original and a released entity that says so.
    original, released: the entities that such a function is asked about.
    mapping: (n,) the released entity of each original one, by default that at the same place.
    """
    if callable(relation):
        if original is None or released is None:
            raise InputError("a function needs the original and the released entities to look at")
        matrix = _asked(relation, original, released)
    else:
        matrix = np.asarray(relation)
        if not np.isin(matrix, (0, 1)).all():
            raise InputError(
                "a relation says yes or no, 1 or 0, and nothing between; for weights use Attack"
            )
    return Attack(matrix.astype(np.float64), mapping, (EVERYBODY, TRUE, EVEN))


def values_attack(
    known: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    *,
    mapping: Any = None,
) -> Attack:
    """Return the attack of one who knows values of some attributes of everybody.

    known: for each such attribute its value, original entity by original entity.
    released: for each attribute what is released, entity by entity: anything that tells by `in`
        whether it holds a value (a set, a range, an interval).
    """
    if not known:
        raise InputError("name at least one attribute that the attacker knows")
    matrix: Any = True
    for name, values in known.items():
        if name not in released:
            raise unknown("no released attribute", name, released)
        matrix = matrix & _held(name, values, released[name])
    told = f"The attacker knows {', '.join(known)} of everybody, without error."
    return Attack(matrix.astype(np.float64), mapping, (told, EVERYBODY, TRUE, EVEN))


def _asked(possible: Callable[[Any, Any], Any], original: Sequence[Any], released: Any) -> Bools:
    return np.array([[bool(possible(one, other)) for other in released] for one in original])


def _held(name: str, values: Sequence[Any], cells: Sequence[Any]) -> Bools:
    """(values, cells) whether each cell holds each value; alike ones are asked once."""
    different, value_of = _distinct(values)
    containers, cell_of = _distinct(cells)
    try:
        holds = np.array([[value in cell for cell in containers] for value in different])
    except TypeError:
        raise InputError(
            f"released {name}: each cell must be a set, a range or an interval of values"
        ) from None
    return holds.astype(np.bool_)[np.ix_(value_of, cell_of)]


def _distinct(values: Sequence[Any]) -> tuple[list[Any], Counts]:
    """Return the different values and which of them stands at each place."""
    seen: dict[Any, int] = {}
    kept: list[Any] = []
    places = np.empty(len(values), dtype=np.int64)
    for place, value in enumerate(values):
        try:
            found = seen.setdefault(value, len(kept))
        except TypeError:  # cannot be looked up, such as a set
            found = len(kept)
        if found == len(kept):
            kept.append(value)
        places[place] = found
    return kept, places
