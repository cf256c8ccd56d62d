"""Numbers at the ends of what computers hold, released by every method; runs as a program too.

`python -m tests.odd_numbers` releases each table by each method and judges the written files. It is
run with numba's bounds checks, or without numba, where an index out of bounds is an error.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from tests.cases import ON_SMALL_TABLES, ready_for, told
from tests.judging import judge, written_rows
from tests.nasty import tiny

import shoal
from shoal import FreeformAnonymity, KAnonymity, LDiversity, TCloseness

_LARGEST, _LEAST = sys.float_info.max, 5e-324


def whole(first, kind):
    """Return 24 whole numbers that follow each other, in no order."""
    return pa.array([first + 5 * i % 24 for i in range(24)], kind)


ODD = {
    "a range that overflows": tiny(  # of enough points for trees of neighbours
        size=[-1e308, 1e308, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 18,
        word=[letter for letter in "abcdefghijklmnopqr" for _ in range(8)],
    ),
    "the largest and the least": tiny(
        size=[-_LARGEST, _LARGEST, 0.0, -0.0, _LEAST, -_LEAST, float("nan"), None] * 3
    ),
    "denormal numbers": tiny(size=[_LEAST * (i % 9) for i in range(24)]),
    "vanishing squares": tiny(size=[i * 1e-300 for i in range(24)]),
    "the greatest int64": tiny(number=whole(2**63 - 24, pa.int64())),
    "the least int64": tiny(number=whole(-(2**63), pa.int64())),
    "both ends of int64": tiny(number=pa.array([2**63 - 1, -(2**63), 0, 1] * 6, pa.int64())),
    "the greatest uint64": tiny(number=whole(2**64 - 24, pa.uint64())),
    "long decimals": tiny(number=[Decimal(f"{10**30 + i % 7}.25") for i in range(24)]),
}
CLASS_MODELS = (
    KAnonymity(3),
    KAnonymity(2) & LDiversity(2, "illness"),
    KAnonymity(2) & TCloseness(0.35, "illness"),
)
QUICK = {
    "anneal": {"steps": 20, "threads": 1},
    "optimal": {"time_limit": 0},
    "auto": {"time_limit": 1e-6},
    **ON_SMALL_TABLES,
}


def release_safely(method, table, models, folder):
    """Release a table by a method under each model, and let the oracle judge the written file.

    Returns how many of the models were kept.
    """
    if method == "safe-la":  # which rows it draws is not known, so it is held to its own check
        found = shoal.anonymize(ready_for(method, table), KAnonymity(2), method, **QUICK[method])
        return len(models) * bool(found.verify())
    for model in models:
        with told(method, model):
            made = shoal.anonymize(table, model, method, **QUICK.get(method, {}))
            judge(table, model, made, rows=written_rows(made, folder / "out.csv"))
            for name, figure in shoal.metrics.evaluate(made).items():
                assert 0 <= figure <= 1, name
    return len(models)


def models_of(method):
    """Return the models that a method is asked for."""
    return (FreeformAnonymity(3),) if method.startswith("doka") else CLASS_MODELS


def main():
    """Release the tables that are named, or all, by all methods under their first model."""
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or ODD:
            for method in shoal.METHODS:
                release_safely(method, ODD[name], models_of(method)[:1], Path(folder))


if __name__ == "__main__":
    main()
