"""Many cases in one test, where a test for each would cost more than the case."""

from __future__ import annotations

from contextlib import contextmanager

# what a method needs to release a small table at a small k
ON_SMALL_TABLES = {"safe-la": {"allow_large_delta": True}}


@contextmanager
def told(*case):
    """Name the case where it fails."""
    try:
        yield
    except BaseException as error:  # a failure that pytest raises is no Exception
        error.add_note("case: " + ", ".join(map(str, case)))
        raise
