"""Which methods the partition study runs on which tables, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from studies.grouping.numbered import attributes, rows_of

Method = tuple[str, dict[str, Any]]
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
    """How large the study is."""

    draws: int = 5
    few: tuple[int, ...] = (12, 18, 24)
    narrow: tuple[int, ...] = (3, 5, 8)
    rows_3_3: tuple[int, ...] = (500, 1000)
    k_3_3: tuple[int, ...] = (3, 5, 15)
    rows_3_5: int = 2000
    rows_3_6: tuple[int, ...] = (5_000, 10_000, 20_000)
    base: int = 5_000
    k_3_7: tuple[int, ...] = (5, 25, 100)
    widths_3_8: tuple[int, ...] = (8, 15, 25)
    carry: float = 60.0


PUBLISHED = Sizes(
    draws=20,
    few=(12, 15, 18, 21, 24, 27, 30),
    narrow=(3, 4, 5, 6, 7, 8),
    rows_3_3=(1000, 2000),
    k_3_3=(3, 5, 10, 15, 20, 25),
    rows_3_5=5000,
    rows_3_6=(20_000, 40_000, 60_000, 80_000, 100_000),
    base=20_000,
    k_3_7=(5, 10, 25, 50, 100, 200),
    widths_3_8=(15, 25, 35),
    carry=1200.0,
)


def tasks_for(data: str, *, full: bool) -> Iterator[dict[str, Any]]:
    """Yield every run of the study."""
    sizes = PUBLISHED if full else Sizes()
    for task in (*_optimality(sizes), *_benchmark(sizes), *_growth(sizes)):
        if task["width"] <= attributes(data) and task["rows"] <= rows_of(data):
            yield {**task, "data": data}


def _optimality(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Figure 3.2: small tables, against the optimum."""
    shapes = [("rows", rows, 4, rows) for rows in sizes.few]
    shapes += [("attributes", 20, width, width) for width in sizes.narrow]
    optimal: Method = ("optimal", {"time_limit": LIMIT})
    methods: tuple[Method, ...] = (optimal, CARRY, ("greedy", {}), ("anneal", {}))
    for against, rows, width, size in shapes:
        for seed in range(sizes.draws):
            for method in methods:
                task = _task("3.2", rows, width, 3, method, seed)
                yield {**task, "against": against, "size": size}


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


def _task(
    figure: str, rows: int, width: int, k: int, method: Method, seed: int = 0
) -> dict[str, Any]:
    name, options = method
    told = {"figure": figure, "rows": rows, "width": width, "k": k, "seed": seed}
    sets = options.get("sets_read")
    shown = f"{name} S={sets}" if sets and figure == "3.5" else name
    shown = "initial" if name == "sorted" else shown
    return {**told, "method": shown, "name": name, "options": options}
