"""The time that work takes, without the time in which its kernels are compiled."""

from __future__ import annotations

import time

_left_out = 0.0


def working_time() -> float:
    """Return the seconds of a clock that stands still while kernels are compiled.

    Only differences have a meaning.
    """
    return time.perf_counter() - _left_out


def leave_out(seconds: float) -> None:
    """Set the clock back by the time of a compilation that has just ended."""
    global _left_out  # noqa: PLW0603  one clock for all threads, as only one of them compiles
    _left_out += seconds
