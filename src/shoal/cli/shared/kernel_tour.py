"""A tour of everything that is compiled: each stop calls some kernels on small generated tables.

Kernels are compiled for the types of their arguments, so the stops call them as users do: by
methods, metrics and attacks. A method may refuse a table, or need an extra that is not installed;
such a stop is cut short. `tests/cli/test_warm.py` checks that no kernel is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import ShoalError

if TYPE_CHECKING:
    from shoal.core.release import Release
    from shoal.core.table import Table
    from shoal.privacy.model import Model

_ROWS = 240
_K = 4


def make_stops(task: Mapping[str, Any]) -> dict[str, Any]:
    """Make some stops in a new process; return the number of kernels that it compiled.

    Parameters:
        task: `stops`, names; `store`, the folder for a store of kernels, or None.
    """
    from shoal.support import compiling

    if task["store"] is not None:
        compiling.collect_kernels(Path(task["store"]))
    compiled: list[float] = []
    compiling.time_compilation(compiled.append)
    for name in task["stops"]:
        STOPS[name]()
    return {"compiled": len(compiled), "seconds": sum(compiled), "kept": compiling.are_kept()}


def _patients() -> Table:
    """Return patients with hierarchies."""
    from shoal.datasets import patients

    return patients(_ROWS)


def _visits() -> Table:
    """Return rows of people who have several, numbers and names, without hierarchies."""
    from shoal.core.table import Table

    random = np.random.default_rng(0)
    ages, towns = random.integers(20, 80, _ROWS), random.integers(0, 9, _ROWS)
    people = random.integers(0, _ROWS // 2, _ROWS)
    data = {
        "person": people,
        "age": ages,
        "town": [f"town {town}" for town in towns],
        "illness": [f"illness {illness}" for illness in random.integers(0, 5, _ROWS)],
    }
    roles = {"age": "quasi", "town": "quasi", "illness": "sensitive"}
    import pyarrow as pa

    return Table.from_arrow(pa.table(data), roles, person="person")


def _models(table: Table) -> list[Model]:
    from shoal.privacy import KAnonymity, LDiversity, TCloseness

    column = table.sensitive[0]
    return [KAnonymity(_K), KAnonymity(_K) & LDiversity(2, column), TCloseness(0.7, column)]


def _release(table: Table, model: Model, method: str, **options: Any) -> Release | None:
    """Return a release, None if the method has none."""
    from shoal.anonymize import METHODS, anonymize

    with suppress(ShoalError):
        return anonymize(table, model, METHODS[method](**options))
    return None


def _use(method: str, **options: Any) -> None:
    for table in (_patients(), _visits()):
        for model in _models(table):
            _release(table, model, method, **options)


def _cut() -> None:
    for options in ({}, {"hierarchies": False}):
        for effort in ("low", "normal", "high"):
            _use("mondrian", effort=effort, **options)
        for cuts in ("best", "median"):
            _use("mondrian", strict=False, cuts=cuts, **options)
        _use("mondrian", cuts="median", **options)


def _divide_events() -> None:
    from shoal.privacy import KmAnonymity

    _release(_visits(), KmAnonymity(_K), "mondrian")


def _measure() -> None:
    from shoal.metrics import evaluate
    from shoal.privacy import KAnonymity

    for table in (_patients(), _visits()):
        release = _release(table, KAnonymity(_K), "mondrian")
        if release is not None:
            evaluate(release)


def _search_lattices() -> None:
    for method in ("datafly", "samarati", "mingen", "incognito", "ola", "flash"):
        _use(method)
    _use("safe-la", allow_large_delta=True, seed=0)
    for objective in ("entropy", "discernibility"):
        _use("flash", objective=objective)
    for method in ("flash", "ola"):
        _use(method, local=True)
    _count_nodes()


def _count_nodes() -> None:
    """Count single nodes, and all nodes of a lattice whose tuples do not fit a word.

    Methods count so only if a table is large.
    """
    import pyarrow as pa

    from shoal.anonymize.lattice.chains import search_boundary, unknown_boundary
    from shoal.anonymize.lattice.lattice import Lattice
    from shoal.anonymize.lattice.node_counts import NodeCounts
    from shoal.anonymize.lattice.packing import pack
    from shoal.core.table import Table

    lattice = Lattice.of(_patients())
    bottom = (0,) * len(lattice.shape)
    top = np.array([levels - 1 for levels in lattice.shape], np.int16)
    counts = NodeCounts(lattice, bottom, _K, 0)
    counts.suppressed(top)
    search_boundary(counts, unknown_boundary(lattice.shape), 1)
    data = {f"column {j}": np.arange(_ROWS) for j in range(9)}
    roles = dict.fromkeys(data, "quasi")
    people = np.arange(_ROWS) // 2
    wide = Lattice.of(
        Table.from_arrow(pa.table({**data, "person": people}), roles, person="person")
    )
    pack(wide, (0,) * len(wide.shape)).measure(_K, 1)


def _group() -> None:
    _use("sorted")
    _use("sorted", order="variance", grouping="consecutive")
    for first in (False, True):
        _use("greedy", outliers_first=first)
    _use("greedy", expand=True)
    _use("k-member")


def _anneal() -> None:
    _use("anneal", steps=5)


def _bound() -> None:
    from shoal.privacy import KAnonymity

    few = _patients().take(np.arange(60))
    for hierarchies in (True, False):
        options = {"hierarchies": hierarchies, "bound": True, "bound_seconds": 20.0}
        _release(few, KAnonymity(_K), "mondrian", **options)


def _sign() -> None:
    import pyarrow as pa

    from shoal.identifiers import hmac_sha256

    texts = pa.array([str(number) for number in range(hmac_sha256.MIN_COMPILED)])
    hmac_sha256.codes(texts, b"key", 10)


def _carry() -> None:
    for carry in ("published", "least-loss", "bubble"):
        _use("split-carry", carry=carry)


def _solve() -> None:
    from shoal.privacy import KAnonymity

    few = _patients().take(np.arange(40))
    _release(few, KAnonymity(_K), "optimal", time_limit=20.0)


def _part_ways() -> None:
    from shoal.privacy import FreeformAnonymity

    for table in (_patients(), _visits()):
        for method in ("doka-greedy", "doka-sort-greedy", "doka-hungarian"):
            _release(table, FreeformAnonymity(_K), method, seed=0)


def _attack() -> None:
    from shoal.privacy import FreeformAnonymity, KAnonymity
    from shoal.risk import assess, attack, suda
    from shoal.risk.attacks import frequency_attack
    from shoal.utility import predictive

    for table in (_patients(), _visits()):
        for release in (
            _release(table, KAnonymity(_K), "mondrian"),
            _release(table, FreeformAnonymity(_K), "doka-greedy", seed=0),
        ):
            for way in ("auto", "exact", "fast"):
                if release is not None:
                    with suppress(ShoalError):
                        assess(release, method=way)
            if release is not None:
                with suppress(ShoalError):
                    predictive(release, target=table.sensitive[0])
        attack(table, table, attacks=5)
        suda(table)
    observed = np.arange(30.0)
    frequency_attack(np.stack([observed - 2, observed + 2], axis=1), observed).psi()


def _match() -> None:
    from shoal.risk import (
        crack_probabilities,
        degree_bounds,
        degree_of_anonymity,
        expected_cracks,
        psi,
    )
    from shoal.risk.matchings import _worm, count_matchings

    random = np.random.default_rng(0)
    for size, share in ((4, 1.0), (12, 0.6), (20, 0.5), (60, 0.3), (60, 1.0), (200, 0.1)):
        weights = random.random((size, size)) * (random.random((size, size)) < share)
        matrix = weights + np.eye(size)
        for work in (psi, degree_of_anonymity, degree_bounds, count_matchings, expected_cracks):
            with suppress(ShoalError):
                work(matrix)
        for way in ("exact", "fast"):
            with suppress(ShoalError):
                psi(matrix, method=way)
        with suppress(ShoalError):
            crack_probabilities(matrix)
    _worm.least_positive(np.ones(2))  # otherwise only in attacks with millions of edges


STOPS: dict[str, Callable[[], None]] = {
    "cuts": _cut,
    "events": _divide_events,
    "metrics": _measure,
    "own ranges": _part_ways,
    "attacks": _attack,
    "lattices": _search_lattices,
    "groups": _group,
    "annealing": _anneal,
    "bounds": _bound,
    "pseudonyms": _sign,
    "carrying": _carry,
    "exact grouping": _solve,
    "matchings": _match,
}
TASKS = {  # for one process each, the longest first
    "mondrian": ("cuts", "events", "metrics", "own ranges", "attacks"),
    "full-domain methods": ("lattices",),
    "grouping": ("groups", "annealing", "bounds"),
    "small problems": ("carrying", "exact grouping"),
    "risk": ("matchings", "pseudonyms"),
}
