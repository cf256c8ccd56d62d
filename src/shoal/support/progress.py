"""Progress reports of long-running work.

A listener can draw progress bars from them; without a listener a report costs almost nothing.
"""

from __future__ import annotations

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
def part_of(parts: int, place: int) -> Iterator[None]:
    """Scale every report inside this block to one of several equal parts of its stage."""
    listener = _listener.get()
    if listener is None:
        yield
        return

    def scaled(progress: Progress) -> None:
        done, total = progress.done, progress.total
        if total is not None:
            done, total = place * total + done, parts * total
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
