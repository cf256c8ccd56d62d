"""What a process says that was forked from this one."""

from __future__ import annotations

import os


def in_a_fork(draw):
    """Return the bytes that a function gives in a fork."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, draw())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        found = told.read()
    os.waitpid(child, 0)
    assert found
    return found
