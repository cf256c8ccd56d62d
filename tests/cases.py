"""Many cases in one test, where a test for each would cost more than the case."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from pathlib import Path

from shoal.datasets.public import take_domains_as_public

# what a method needs to release a small table at a small k
ON_SMALL_TABLES = {"safe-la": {"allow_large_delta": True}}


def docs_module(name):
    """Return a module of the folder docs, which is not a package."""
    path = Path(__file__).parent.parent / "docs" / f"_{name}.py"
    spec = importlib.util.spec_from_file_location(f"docs_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def ready_for(method, table):
    """Return the table as the method takes it: all of it declared where a claim rests on it."""
    return take_domains_as_public(table) if method == "safe-la" else table


@contextmanager
def told(*case):
    """Name the case where it fails."""
    try:
        yield
    except BaseException as error:  # a failure that pytest raises is no Exception
        error.add_note("case: " + ", ".join(map(str, case)))
        raise
