"""Which methods run on a table whose rows stay on disk, and how."""

from __future__ import annotations

from typing import Any

from shoal.errors import InputError

_BY_TUPLE = ("datafly", "samarati", "mingen", "incognito", "ola", "flash", "mondrian")
_GROUPING = ("sorted", "greedy", "k-member", "split-carry", "optimal", "anneal", "mondrian")
_FREEFORM = ("doka-greedy", "doka-sort-greedy", "doka-hungarian")


def runs_on_tuples(algorithm: Any) -> bool:
    """Return whether a method treats equal records alike, so that distinct tuples are enough."""
    by_tuple = getattr(algorithm, "by_tuple", getattr(algorithm, "name", "") in _BY_TUPLE)
    return bool(by_tuple and getattr(algorithm, "strict", True))


def runs_on_disk(algorithm: Any) -> bool:
    """Return whether a method runs on a table whose rows stay on disk."""
    other = draws_records(algorithm) or chooses_a_method(algorithm)
    return other or runs_on_tuples(algorithm) or runs_on_partitions(algorithm)


def chooses_a_method(algorithm: Any) -> bool:
    """Return whether a method chooses another one, on disk among those that run there."""
    return hasattr(algorithm, "choose_by")


def draws_records(algorithm: Any) -> bool:
    """Return whether a method draws records, and claims differential privacy for it."""
    return hasattr(algorithm, "price")


def runs_on_partitions(algorithm: Any) -> bool:
    """Return whether a method groups records, so that it can run on partitions."""
    return getattr(algorithm, "name", "") in _GROUPING


def refusal(algorithm: Any) -> InputError:
    """Return the error of a method that needs the table in memory."""
    name = getattr(algorithm, "name", type(algorithm).__name__)
    why = ""
    if name in _FREEFORM:
        why = (
            ": its records rarely look alike, so written rows cannot be checked by counting "
            "classes, only by comparing all people with all records"
        )
    others = dict.fromkeys((*_BY_TUPLE, *_GROUPING, "safe-la", "auto"))
    return InputError(
        f"{name} needs the table in memory{why}; state a larger memory, or use one of "
        f"{', '.join(others)}"
    )
