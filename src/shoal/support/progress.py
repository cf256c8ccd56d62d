"""Progress of long-running work: what it reports, and how long it works without compilation.

A listener can draw progress bars from the reports; without one, a report costs almost nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """Progress of a stage: `done` of `total`, which is None while unknown."""

    stage: str
    done: float
    total: float | None = None


Listener = Callable[[Progress], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(stage: str, done: float, total: float | None = None) -> None:
    """Report progress to the listener, which may raise an exception to interrupt the work."""
    listener = _listener.get()
    if listener is not None:
        listener(Progress(stage, done, total))


@contextmanager
def part_of(parts: int, index: int) -> Iterator[None]:
    """Scale every report inside this block to part `index` of several equal parts of its stage."""
    listener = _listener.get()
    if listener is None:
        yield
        return

    def scaled(progress: Progress) -> None:
        done, total = progress.done, progress.total
        if total is not None:
            done, total = index * total + done, parts * total
        listener(Progress(progress.stage, done, total))

    with listening(scaled):
        yield


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every report inside this block to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_left_out = 0.0  # seconds of compilation so far


def working_time() -> float:
    """Return the seconds of a clock that stands still while kernels are compiled.

    Only differences have a meaning.
    """
    return time.perf_counter() - _left_out


def leave_out(seconds: float) -> None:
    """Set the clock back by the time of a compilation that has just ended."""
    global _left_out  # noqa: PLW0603  one clock for all threads, as only one of them compiles
    _left_out += seconds
