"""`shoal warm`: compile all kernels in advance.

A tour of everything that is compiled: each stop calls some kernels on small generated tables, as
users do, by methods, metrics and attacks, because kernels are compiled for the types of their
arguments. A method may refuse a table, or need an extra that is not installed; such a stop is cut
short. `tests/cli/test_warm.py` checks that no kernel is left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from shoal.cli.shared.console import bars, emit, has_installed_kernels, note, out
from shoal.cli.shared.options import Json
from shoal.errors import ShoalError

if TYPE_CHECKING:
    from shoal.privacy.model import Model
    from shoal.release.release import Release
    from shoal.table.table import Table


_PROCESSES = 2
_ANY_CPU = {  # numba's settings for kernels that run on every CPU of a platform
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_DISABLE_INTEL_SVML": "1",
}


def warm(
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write kernels for every CPU of this platform to a new folder, for a wheel.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compile all kernels now, in two processes, so that no later command has to.

    Kernels are otherwise compiled when a command first uses them. Compiled kernels are stored next
    to the package, in the user's cache folder, or in NUMBA_CACHE_DIR. If Shoal was installed with
    compiled kernels, there is nothing to do.
    """
    from shoal.errors import OutputError
    from shoal.support.compiling import is_first_compilation
    from shoal.support.files import replace_files

    if store is None and has_installed_kernels():
        data: dict[str, Any] = {"compiled": 0, "installed": True}
        emit(json, data, lambda: out.print("Shoal was installed with compiled kernels"))
        return
    if store is not None and store.exists():
        raise OutputError(f"{store} exists; name a new folder")
    begun = time.perf_counter()
    with bars(), nullcontext() if store is None else replace_files(store) as folder:
        results = _compile(folder)
        compiled = sum(result["compiled"] for result in results)
        if folder is not None:  # processes compile some kernels both
            compiled = len(list(folder.glob("*.kernel")))
    is_first_compilation()  # from now on, a command that compiles has nothing to announce
    data = {
        "compiled": compiled,
        "installed": False,
        "stored": all(result["kept"] for result in results),
        "seconds": time.perf_counter() - begun,
    }

    def show() -> None:
        if data["compiled"]:
            what = f"{data['compiled']} kernels compiled in {data['seconds']:.0f} seconds"
        else:
            what = "all kernels were compiled already"
        out.print(what if store is None else f"{what}, stored in {store}", soft_wrap=True)

    emit(json, data, show)
    if not data["stored"]:
        note("compiled kernels cannot be stored; set NUMBA_CACHE_DIR to a writable folder")


def _compile(store: Path | None) -> list[Mapping[str, Any]]:
    """Call all kernels in new processes; return what each process did."""
    from shoal.comparison.runner import run_tasks
    from shoal.errors import OutputError

    folder = None if store is None else str(store.absolute())
    tasks = {name: {"stops": list(stops), "store": folder} for name, stops in TASKS.items()}
    # the variables must be set before a new process imports numba
    with _settings({} if store is None else _ANY_CPU):
        outcomes = run_tasks(tasks, make_stops, processes=_PROCESSES, stage="compile")
    results = []
    for name, outcome in outcomes.items():
        if outcome.result is None:
            raise OutputError(f"the kernels of {name} are not compiled: {outcome.reason}")
        results.append(outcome.result)
    return results


@contextmanager
def _settings(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables, of which an empty one is removed, for the processes inside."""
    before = os.environ.copy()
    for name, value in variables.items():
        os.environ.pop(name, None)
        if value:
            os.environ[name] = value
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]


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
    from shoal.table.table import Table

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
    from shoal.methods import anonymize
    from shoal.methods.registry import METHODS

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

    from shoal.methods.lattice.entries import pack
    from shoal.methods.lattice.lattice import Lattice
    from shoal.methods.lattice.node_counts import NodeCounts, search_boundary, unknown_boundary
    from shoal.table.table import Table

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

    from shoal.identifiers import codes

    texts = pa.array([str(number) for number in range(codes.MIN_COMPILED)])
    codes.codes(texts, b"key", 10)


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
