"""A pool of worker processes for partitions; a worker that is killed ends the run with an error."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from shoal.engines.partitions import Outcome, run_work
from shoal.errors import ShoalError


class WorkerLost(ShoalError):  # noqa: N818
    """A worker process ended before its partition was finished."""

    def __init__(self) -> None:
        super().__init__(
            "a worker process ended unexpectedly, perhaps for lack of memory; nothing was written; "
            "use smaller partitions or fewer processes, and start again"
        )


def map_in_pool(tasks: Iterable[Any], processes: int | None = None) -> Iterator[Outcome]:
    """Yield the outcome of each task in order; only a few tasks wait in memory.

    processes: Number of workers; 0 runs everything in this process.
    """
    workers = (os.cpu_count() or 1) if processes is None else processes
    if not workers:
        yield from map(run_work, tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=use_one_thread) as pool:
        waiting: deque[Future[Outcome]] = deque()
        try:
            for task in tasks:
                with _main_module_hidden(from_work=task[0]):
                    waiting.append(pool.submit(run_work, task))  # may start a worker
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise WorkerLost from None
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def _main_module_hidden(from_work: Any) -> Iterator[None]:
    """Hide the main module while a worker starts.

    A worker runs the script that started it again, unless the script protects itself. It needs to
    only if the work has a class or function of the script.
    """
    main = sys.modules["__main__"]
    if b"__main__" not in pickle.dumps(from_work):
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def use_one_thread() -> None:
    """Let each worker use one thread: the pool uses all cores."""
    os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
