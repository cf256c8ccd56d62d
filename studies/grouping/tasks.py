"""The runs of the grouping study: which methods on which tables, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from studies.grouping.tables import attributes, rows_of

Method = tuple[str, str, dict[str, Any]]  # its name in the study, its name in Shoal, its options
OTHER_TABLE = "fars"  # of figure A.1
LIMIT = 60.0  # seconds for the exact method
PARTS = (3, 4, 5)  # k-sets that a sub-problem of Split & Carry reads: S
GREEDY: Method = ("greedy", "greedy", {})
# as published for categories: a category counts as one boolean attribute for each of its values
EXPANDED: Method = ("greedy", "greedy", {"expand": True})
SETS: Method = ("greedy, sets", "greedy", {})  # the same with the cost of a set of values instead
ANNEAL: Method = ("anneal", "anneal", {"threads": 1})
# as published: the widest attribute is cut at its median; then relaxed, and as Shoal cuts it
MONDRIANS: tuple[Method, ...] = tuple(
    (name, "mondrian", {"hierarchies": False, **options})
    for name, options in (
        ("mondrian", {"cuts": "median"}),
        ("mondrian-relaxed", {"cuts": "median", "strict": False}),
        ("mondrian-best", {}),
    )
)
INITIAL: Method = ("initial", "sorted", {"grouping": "consecutive", "order": "variance"})
OTHERS: tuple[Method, ...] = (("k-member", "k-member", {}), *MONDRIANS, INITIAL)
QUICK = (GREEDY, *OTHERS)
DOKA = ("doka-greedy", "doka-sort-greedy", "doka-hungarian")
FREEFORM: tuple[Method, ...] = tuple((name, name, {}) for name in DOKA)


@dataclass(frozen=True)
class Sizes:
    """The size of the study.

    draws_3_2: draws of rows for figure 3.2; draws: for each other figure.
    """

    draws_3_2: int = 10
    draws: int = 5
    few: tuple[int, ...] = (12, 18, 24)
    narrow: tuple[int, ...] = (3, 5, 8)
    rows_3_3: tuple[int, ...] = (500, 1_000)
    k_3_3: tuple[int, ...] = (3, 5, 15)
    rows_3_5: int = 5_000
    rows_3_6: tuple[int, ...] = (5_000, 20_000)
    base: int = 3_000
    k_3_7: tuple[int, ...] = (5, 25, 100)
    widths_3_8: tuple[int, ...] = (15, 25, 35)
    rows_a_1: tuple[int, ...] = (1_000, 10_000)
    carry: float = 60.0


PUBLISHED = Sizes(
    draws_3_2=20,
    few=(12, 15, 18, 21, 24, 27, 30),
    narrow=(3, 4, 5, 6, 7, 8),
    rows_3_3=(1000, 2000),
    k_3_3=(3, 5, 10, 15, 20, 25),
    rows_3_6=(20_000, 40_000, 60_000, 80_000, 100_000),
    base=20_000,
    k_3_7=(5, 10, 25, 50, 100, 200),
    rows_a_1=(1_000, 40_000),
    carry=1200.0,
)


def carry(parts: int = 3, limit: float | None = None, *, named: bool = False) -> Method:
    """Return Split & Carry with S; named puts S into its name."""
    options: dict[str, Any] = {"sets_read": parts}
    if limit is not None:
        options["time_limit"] = limit
    return f"split-carry S={parts}" if named else "split-carry", "split-carry", options


def tasks_for(data: str, *, full: bool) -> Iterator[dict[str, Any]]:
    """Yield every run of the study."""
    sizes = PUBLISHED if full else Sizes()
    benchmarks = [*_benchmark(sizes), *_growth(sizes)]
    tasks = [
        {**task, "seed": seed, "data": data}
        for task in (*benchmarks, *_reversed(benchmarks), *_chains(sizes), *_other_four(sizes))
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
    optimal: Method = ("optimal", "optimal", {"time_limit": LIMIT})
    for against, rows, width, size in shapes:
        for seed in range(sizes.draws_3_2):
            for method in (optimal, carry(), GREEDY, ANNEAL):
                task = _task("3.2", rows, width, 3, method)
                yield {**task, "seed": seed, "against": against, "size": size}


def _benchmark(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Figures 3.3 to 3.5: freeform and other methods on small tables."""
    for rows in sizes.rows_3_3:
        for k in sizes.k_3_3:
            for method in (EXPANDED, SETS, *OTHERS, ANNEAL, *FREEFORM):
                yield {**_task("3.3", rows, 8, k, method), "categories": True}
    carries = [carry(parts, named=True) for parts in PARTS]
    for method in (*QUICK, *carries, ANNEAL, *FREEFORM):
        yield _task("3.5", sizes.rows_3_5, 4, 4, method)


def _growth(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Figures 3.6 to 3.8: growing rows, k and attributes."""
    for rows in sizes.rows_3_6:
        for k in (3, 5):
            for method in (*QUICK, carry(limit=sizes.carry), ANNEAL):
                yield _task("3.6", rows, 4, k, method)
    for k in sizes.k_3_7:
        for method in (*QUICK, ANNEAL):
            yield _task("3.7", sizes.base, 8, k, method)
    for width in sizes.widths_3_8:
        for k in (10, 100):
            for method in (*QUICK, ANNEAL):
                yield _task("3.8", sizes.base, width, k, method)


def _reversed(tasks: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the runs behind claims on Mondrian with the numbers of categories in reverse."""
    compared = {method[0] for method in (*MONDRIANS, GREEDY, INITIAL, carry(named=True))}
    for task in tasks:
        if task["method"] in compared:
            yield {**task, "reverse": True}


def _chains(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Table A.2: the sizes of sub-problems, at the k that its counts fit, and the k of the text."""
    for k in (3, 4):
        for parts in PARTS:
            task = _task("Table A.2", sizes.rows_3_5, 4, k, carry(parts, named=True))
            yield {**task, "chain": True}


def _other_four(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Section B: four other attributes; the rows and k are those of figure 3.6."""
    for k in (3, 5):
        for method in (GREEDY, carry(limit=sizes.carry)):
            yield {**_task("B", sizes.rows_3_6[-1], 4, k, method), "other": True}


def _second_table(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Figure A.1: the other table, small with freeform methods, and large."""
    chain = carry(limit=sizes.carry)
    small, large = sizes.rows_a_1
    for rows, methods in ((small, (*QUICK, chain, ANNEAL, *FREEFORM)), (large, (*QUICK, chain))):
        for method in methods:
            yield _task("A.1", rows, 4, 3, method)


def _task(figure: str, rows: int, width: int, k: int, method: Method) -> dict[str, Any]:
    shown, name, options = method
    settings = {"figure": figure, "rows": rows, "width": width, "k": k}
    return {**settings, "method": shown, "name": name, "options": options}
