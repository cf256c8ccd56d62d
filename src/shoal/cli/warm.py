"""`shoal warm`: compile all kernels in advance."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.shared.console import bars, emit, has_installed_kernels, note, out
from shoal.cli.shared.options import Json

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
    from shoal.cli.shared.kernel_tour import TASKS, make_stops
    from shoal.comparison.runner import run_tasks
    from shoal.errors import OutputError

    folder = None if store is None else str(store.absolute())
    tasks = {name: {"stops": list(stops), "store": folder} for name, stops in TASKS.items()}
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
