"""The runs of the grouping study: which methods on which tables, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from studies.grouping.numbered import attributes, rows_of

Method = tuple[str, dict[str, Any]]
OTHER_TABLE = "fars"  # of figure A.1
LIMIT = 60.0  # seconds for the exact method
INITIAL: Method = ("sorted", {"grouping": "consecutive", "order": "variance"})
CARRY: Method = ("split-carry", {"sets_read": 3})
ANNEAL: Method = ("anneal", {"threads": 1})
QUICK: tuple[Method, ...] = (
    ("greedy", {}),
    ("k-member", {}),
    ("mondrian", {"hierarchies": False}),
    INITIAL,
)
DOKA = ("doka-greedy", "doka-sort-greedy", "doka-hungarian")
FREEFORM: tuple[Method, ...] = tuple((name, {}) for name in DOKA)


@dataclass(frozen=True)
class Sizes:
    """The size of the study.

    draws_3_2: draws of rows for figure 3.2; draws: for each other figure.
    """

    draws_3_2: int = 10
    draws: int = 5
    few: tuple[int, ...] = (12, 18, 24)
    narrow: tuple[int, ...] = (3, 5, 8)
    rows_3_3: tuple[int, ...] = (250, 500)
    k_3_3: tuple[int, ...] = (3, 5, 15)
    rows_3_5: int = 500
    rows_3_6: tuple[int, ...] = (2_000, 5_000)
    base: int = 3_000
    k_3_7: tuple[int, ...] = (5, 25, 100)
    widths_3_8: tuple[int, ...] = (8, 15, 25)
    rows_a_1: tuple[int, ...] = (500, 4_000)
    carry: float = 60.0


PUBLISHED = Sizes(
    draws_3_2=20,
    few=(12, 15, 18, 21, 24, 27, 30),
    narrow=(3, 4, 5, 6, 7, 8),
    rows_3_3=(1000, 2000),
    k_3_3=(3, 5, 10, 15, 20, 25),
    rows_3_5=5000,
    rows_3_6=(20_000, 40_000, 60_000, 80_000, 100_000),
    base=20_000,
    k_3_7=(5, 10, 25, 50, 100, 200),
    widths_3_8=(15, 25, 35),
    rows_a_1=(1_000, 40_000),
    carry=1200.0,
)


def tasks_for(data: str, *, full: bool) -> Iterator[dict[str, Any]]:
    """Yield every run of the study."""
    sizes = PUBLISHED if full else Sizes()
    tasks = [
        {**task, "seed": seed, "data": data}
        for task in (*_benchmark(sizes), *_growth(sizes))
        for seed in range(sizes.draws)
    ]
    tasks += [
        {**task, "seed": seed, "data": OTHER_TABLE}
        for task in _second_table(sizes)
        for seed in range(sizes.draws)
    ]
    for task in (*({**task, "data": data} for task in _optimality(sizes)), *tasks):
        table = task["data"]
        if task["width"] <= attributes(table) and task["rows"] <= rows_of(table):
            yield task


def _optimality(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Figure 3.2: small tables, against the optimum."""
    shapes = [("rows", rows, 4, rows) for rows in sizes.few]
    shapes += [("attributes", 20, width, width) for width in sizes.narrow]
    optimal: Method = ("optimal", {"time_limit": LIMIT})
    methods: tuple[Method, ...] = (optimal, CARRY, ("greedy", {}), ("anneal", {}))
    for against, rows, width, size in shapes:
        for seed in range(sizes.draws_3_2):
            for method in methods:
                task = _task("3.2", rows, width, 3, method)
                yield {**task, "seed": seed, "against": against, "size": size}


def _benchmark(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Figures 3.3 to 3.5: freeform and other methods on small tables."""
    for rows in sizes.rows_3_3:
        for k in sizes.k_3_3:
            for method in (*QUICK, ANNEAL, *FREEFORM):
                yield _task("3.3", rows, 8, k, method)
    carries: list[Method] = [(CARRY[0], {"sets_read": parts}) for parts in (3, 4, 5)]
    for method in (*QUICK, *carries, ANNEAL, *FREEFORM):
        yield _task("3.5", sizes.rows_3_5, 4, 4, method)


def _growth(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Figures 3.6 to 3.8: growing rows, k and attributes."""
    carry: Method = (CARRY[0], {**CARRY[1], "time_limit": sizes.carry})
    for rows in sizes.rows_3_6:
        for k in (3, 5):
            for method in (*QUICK, carry, ANNEAL):
                yield _task("3.6", rows, 4, k, method)
    for k in sizes.k_3_7:
        for method in (*QUICK, ANNEAL):
            yield _task("3.7", sizes.base, 8, k, method)
    for width in sizes.widths_3_8:
        for k in (10, 100):
            for method in (*QUICK, ANNEAL):
                yield _task("3.8", sizes.base, width, k, method)


def _second_table(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Figure A.1: the other table, small with freeform methods, and large."""
    carry: Method = (CARRY[0], {**CARRY[1], "time_limit": sizes.carry})
    small, large = sizes.rows_a_1
    for rows, methods in ((small, (*QUICK, carry, ANNEAL, *FREEFORM)), (large, (*QUICK, carry))):
        for method in methods:
            yield _task("A.1", rows, 4, 3, method)


def _task(figure: str, rows: int, width: int, k: int, method: Method) -> dict[str, Any]:
    name, options = method
    settings = {"figure": figure, "rows": rows, "width": width, "k": k}
    sets = options.get("sets_read")
    shown = f"{name} S={sets}" if sets and figure == "3.5" else name
    shown = "initial" if name == "sorted" else shown
    return {**settings, "method": shown, "name": name, "options": options}
