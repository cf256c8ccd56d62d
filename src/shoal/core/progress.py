"""One small channel through which long work says how far it is.

Whoever wants to draw bars listens; without a listener a report costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a stage is: `done` of `total`, which is None while unknown."""

    stage: str
    done: float
    total: float | None = None


Listener = Callable[[Progress], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(stage: str, done: float, total: float | None = None) -> None:
    """Tell the listener, which may raise to interrupt the work here."""
    listener = _listener.get()
    if listener is not None:
        listener(Progress(stage, done, total))


@contextmanager
def part_of(parts: int, place: int) -> Iterator[None]:
    """Have every report inside this block count as one of so many parts of its stage."""
    listener = _listener.get()
    if listener is None:
        yield
        return

    def told(progress: Progress) -> None:
        done, total = progress.done, progress.total
        if total is not None:
            done, total = place * total + done, parts * total
        listener(Progress(progress.stage, done, total))

    with listening(told):
        yield


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every report inside this block to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
