"""Infeasibility: the attacker rules out pairs and considers all other matchings equally likely.

Edman, Sivrikaya & Yener, "A combinatorial approach to measuring anonymity", 2007; Malik,
"Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014, section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.errors import InputError, unknown
from shoal.risk.attacks.attack import EVERYBODY, TRUE, MatchingAttack
from shoal.support.arrays import Bools, Counts

EVEN = "The attacker considers all matchings that are not ruled out equally likely."


def relation_attack(
    relation: Any,
    original: Sequence[Any] | None = None,
    released: Sequence[Any] | None = None,
    *,
    mapping: Any = None,
) -> MatchingAttack:
    """Return the attack of an attacker who knows which pairs are possible.

    Parameters:
        relation: (n, n) whether each pair is possible, or a function of an original and a released
            entity that returns this.
        original, released: The entities that such a function compares.
        mapping: (n,) the released entity of each original entity, by default at the same position.
    """
    if callable(relation):
        if original is None or released is None:
            raise InputError(
                "give the original and the released entities that the function compares"
            )
        matrix = _asked(relation, original, released)
    else:
        matrix = np.asarray(relation)
        if not np.isin(matrix, (0, 1)).all():
            raise InputError(
                "a relation must contain only 0 and 1 (or False and True); for weights use "
                "MatchingAttack"
            )
    return MatchingAttack(matrix.astype(np.float64), mapping, (EVERYBODY, TRUE, EVEN))


def values_attack(
    known: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    *,
    mapping: Any = None,
) -> MatchingAttack:
    """Return the attack of an attacker who knows values of some attributes of everyone.

    Parameters:
        known: For each known attribute, the value of each original entity.
        released: For each attribute, the released cell of each entity: any object that supports
            `in` (a set, a range, an interval).
    """
    if not known:
        raise InputError("name at least one attribute that the attacker knows")
    matrix: Any = True
    for name, values in known.items():
        if name not in released:
            raise unknown("no released attribute", name, released)
        matrix = matrix & _held(name, values, released[name])
    knowledge = f"The attacker knows {', '.join(known)} of everyone, without error."
    return MatchingAttack(matrix.astype(np.float64), mapping, (knowledge, EVERYBODY, TRUE, EVEN))


def _asked(possible: Callable[[Any, Any], Any], original: Sequence[Any], released: Any) -> Bools:
    return np.array([[bool(possible(one, other)) for other in released] for one in original])


def _held(name: str, values: Sequence[Any], cells: Sequence[Any]) -> Bools:
    """(values, cells) whether each cell contains each value; equal pairs are evaluated once."""
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
    """Return the distinct values and the index of each value among them."""
    seen: dict[Any, int] = {}
    kept: list[Any] = []
    places = np.empty(len(values), dtype=np.int64)
    for place, value in enumerate(values):
        try:
            found = seen.setdefault(value, len(kept))
        except TypeError:  # not hashable, such as a set
            found = len(kept)
        if found == len(kept):
            kept.append(value)
        places[place] = found
    return kept, places
