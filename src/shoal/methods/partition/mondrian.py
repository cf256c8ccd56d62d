"""Mondrian: cut the table in two recursively while both parts meet the model.

Top-down and fast. By default a cut is chosen by its savings over all attributes, and in small parts
by evaluating the best few cuts to the end; the published algorithm, which cuts the widest attribute
at its median, is `cuts="median"`.

    distinct tuples → Layout: codes and costs for the kernels
    the model is about sizes only    the whole tree grows in one kernel
    any other model                  level by level; the model is checked on both sides of each cut
    strict=False                     classes without further cuts are divided record by record

LeFevre, DeWitt & Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from shoal.errors import InputError
from shoal.methods.partition.bound import add_bound, check_bound, check_bound_options
from shoal.methods.partition.groups import Judge, check_feasible, sides
from shoal.privacy.model import Model
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.options import check_choice
from shoal.support.progress import report
from shoal.table.column import Column
from shoal.table.table import Table

Summary = Literal["range", "set", "representative"]
Effort = Literal["low", "limited", "normal", "high"]
Cuts = Literal["best", "median"]
_MAX_TUPLES = 200_000  # with more distinct tuples the look-ahead is limited
_LOOK: dict[str, tuple[float, int]] = {
    "low": (0.0, 1),
    "limited": (6.0, 3),
    "normal": (16.0, 6),
    "high": (64.0, 6),
}
_BUDGET = 100_000  # rows finished between two progress reports


@dataclass(frozen=True, kw_only=True)
class Mondrian:
    """Recursive cuts by value; each part is published as one class.

    strict: keep equal records together; with False a class without further cuts may separate equal
        records, which is finer but does not work on weighted tables.
    hierarchies: if a column has a hierarchy, publish the lowest common ancestor and cut along the
        branches; False publishes ranges and value sets instead.
    summary: how a class is published without a hierarchy: range (sets for nominal columns), set, or
        representative (median or most frequent value).
    effort: how far to look ahead when choosing cuts, only for k-anonymity; high is slower and loses
        least. Normal effort is limited with more than 200,000 distinct tuples, and on partitions.
    cuts: best takes the cut that saves most over all attributes; median is the published algorithm,
        which cuts the attribute with the widest normalized range at its median, or the next widest
        if that cut is not allowed. With strict=False it cuts in halves, and records at the median
        may be separated. A column with a hierarchy is cut at the end of the branch nearest to the
        median; a nominal column without one is in the order of its values.
    bound: also find a lower bound of the loss of any division into classes of k that
        are published in the same way; `release.proof` then says how far the release is from the
        best possible.
    bound_seconds: time limit of the search for the bound; two runs that stop early may differ.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, k=3, method=Mondrian(effort="high"))
    Release(mondrian, k-anonymity(k=3), rows=7, classes=2, suppressed=0)
    """

    name: ClassVar[str] = "mondrian"
    strict: bool = True
    hierarchies: bool = True
    summary: Summary = "range"
    effort: Effort = "normal"
    cuts: Cuts = "best"
    bound: bool = False
    bound_seconds: float | None = 300.0

    def __post_init__(self) -> None:
        check_choice("summary", self.summary, get_args(Summary))
        check_choice("effort", self.effort, get_args(Effort))
        check_choice("cuts", self.cuts, get_args(Cuts))
        if self.cuts == "median" and self.effort != "normal":
            raise InputError("effort applies to cuts='best' only; omit it with cuts='median'")
        for option in ("strict", "hierarchies"):
            check_choice(option, getattr(self, option), (True, False))
        check_bound_options(self)
        if self.bound and self.summary == "representative":
            raise InputError("bound applies to ranges, sets and labels, not to representatives")

    def on_parts(self) -> Mondrian:
        """Return the method for the partitions of a large table: normal effort is limited there."""
        best = self.cuts == "best" and self.effort == "normal"
        return replace(self, effort="limited") if best else self

    def on_linked_rows(self) -> Mondrian:
        """Return the method for rows that an identifier links: equal rows are not separated."""
        return self if self.strict else replace(self, strict=True)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release whose classes cannot be cut further."""
        if not self.strict and table.counts is not None:
            raise InputError("a weighted table cannot be divided record by record; use strict=True")
        check_bound(self, table, model)
        check_feasible(table, model)
        if table.unit is not None:
            release = self._release_people(table, model)
        else:
            release = self._publish(table, self._classes(table, table, model), model)
        release = add_bound(self, release, use_hierarchies=self._by_label)
        if self.effort == "normal" or model.by_size:
            return release
        note = "effort applies to k-anonymity only; with other models there is no look-ahead"
        return replace(release, run=Run(notes=(note,)))

    def _release_people(self, table: Table, model: Model) -> Release:
        """Cut a table whose people may have several rows.

        If everyone has one tuple of quasi-identifiers and the model depends on sizes only, people
        are cut like records; otherwise the model is checked on both sides of each cut.
        """
        from shoal.methods.partition.merging import Merger
        from shoal.methods.partition.records import Appearances
        from shoal.methods.partition.records import lay_out as lay_out_records

        people = Appearances.of(table)
        if model.by_size and people.once:
            return self._publish(
                table, self._classes(people.single, table, model)[people.of_row], model
            )
        ids = self._classes(table, table, model)
        release = self._publish(table, ids, model)
        if model.holds(release.classes).all():
            return release
        records = lay_out_records(people.table)
        merger = Merger.of(records, table, people.of_row)
        by_record = np.empty(len(records), dtype=np.int32)
        by_record[merger.record] = release.classes.ids
        return merger.settle(by_record, model, lambda rows: self._publish(table, rows, model))

    def _classes(self, rows: Table, origin: Table, model: Model) -> Codes:
        """(rows,) the class of each row, from 0 without gaps.

        origin: the table whose distributions are assumed to be public.
        """
        distinct = rows.distinct(*model.columns, people=True)
        tuples = distinct.table
        if self.cuts == "median" and not self.strict and rows.unit is None:
            order = np.argsort(distinct.inverse, kind="stable")  # whatever the order of the rows
            ordered, ids = rows.take(order), np.empty(len(rows), dtype=np.int32)
            ids[order] = self._grow(self._lay_out(ordered, model), ordered, origin, model)[0]
            return ids
        if tuples.unit is not None:  # each of them is one person with one tuple
            tuples = replace(tuples, counts=np.ones(len(tuples), dtype=np.int64))
        layout = self._lay_out(tuples, model)
        ids, _ = self._grow(layout, tuples, origin, model)
        if self.strict or self.cuts == "median":
            return ids[distinct.inverse]
        if rows.unit is None:
            inverse = distinct.inverse
            return _divide_ties(rows, origin, model, layout, inverse, ids[inverse])[0]
        every = np.arange(len(tuples), dtype=np.int32)
        return _divide_ties(tuples, origin, model, layout, every, ids)[0][distinct.inverse]

    def _lay_out(self, rows: Table, model: Model) -> Layout:
        return lay_out(rows, model.least_size, use_hierarchies=self._by_label)

    @property
    def _by_label(self) -> bool:
        return self.hierarchies and self.summary != "representative"

    def _publish(self, table: Table, ids: Codes, model: Model) -> Release:
        return Release.of_groups(
            table,
            ids,
            int(ids.max()) + 1,
            model,
            self.summary,
            use_hierarchies=self._by_label,
        )

    def _grow(self, layout: Layout, tuples: Table, table: Table, model: Model) -> tuple[Codes, int]:
        if self.cuts == "median":
            return _grow_guarded(layout, tuples, table, model, _median_cutter(self.strict))
        if model.by_size and tuples.unit is None:
            large = self.effort == "normal" and len(tuples) > _MAX_TUPLES
            reach, tries = _LOOK["limited" if large else self.effort]
            return _grow_greedily(layout, reach, tries)
        return _grow_guarded(layout, tuples, table, model, _best_cutter())


def _grow_greedily(layout: Layout, reach: float, tries: int) -> tuple[Codes, int]:
    """Grow the whole tree in one kernel, for a model that depends on class sizes only."""
    from shoal.methods.partition import _growth as kernels
    from shoal.methods.partition._nodes import make_scratch

    rows = kernels.make_rows(layout.codes, layout.weight)
    count = len(layout.weight)
    rows.stack[0] = (0, count, int(layout.weight.sum()))
    room = min(int(reach * layout.space.k), count) + 1
    spare = kernels.make_rows(layout.codes[:room], layout.weight[:room])
    scratch = make_scratch(count, layout.space.domain)
    ids = np.empty(count, dtype=np.int32)
    tree = np.array([1, 0, 0], dtype=np.int64)  # nodes waiting, classes made, rows settled
    while tree[0]:
        kernels.grow(rows, ids, spare, layout.space, scratch, reach, tries, tree, _BUDGET)
        report("cut", int(tree[2]), count)
    return ids, int(tree[1])


class _Cutter(NamedTuple):
    """How nodes are cut: kernels that list the cuts of nodes, best first, and that make them."""

    list_cuts: Any
    divide: Any
    cuts_per_column: int


def _best_cutter() -> _Cutter:
    from shoal.methods.partition import _growth as kernels

    return _Cutter(kernels.list_cuts, kernels.divide_nodes, 2)


def _median_cutter(strict: bool) -> _Cutter:
    from shoal.methods.partition import _medians as kernels

    if strict:
        return _Cutter(kernels.list_medians, kernels.divide_at_medians, 1)
    return _Cutter(kernels.list_relaxed_medians, kernels.divide_in_halves, 1)


def _grow_guarded(
    layout: Layout, tuples: Table, table: Table, model: Model, cutter: _Cutter
) -> tuple[Codes, int]:
    """Grow the tree level by level, checking the model on both sides of every cut.

    If the best cut breaks the model, the next best is tried, down to the last.
    """
    from shoal.methods.partition import _growth as kernels
    from shoal.methods.partition._nodes import make_scratch

    space, (count, width) = layout.space, layout.codes.shape
    rows = kernels.make_rows(layout.codes, layout.weight)
    scratch = make_scratch(count, space.domain)
    judge = Judge(tuples, table, model)
    nodes = np.array([[0, count, int(layout.weight.sum()), 0, 0]], dtype=np.int64)
    leaves: list[Any] = []
    settled = 0
    while len(nodes):
        columns = np.empty((len(nodes), cutter.cuts_per_column * width), dtype=np.int64)
        places = np.empty_like(columns)
        cutter.list_cuts(rows, nodes, space, scratch, columns, places)
        pending, children = np.arange(len(nodes)), []
        # the next best cut of the nodes whose better cuts break the model
        for rank in range(columns.shape[1]):
            stuck = columns[pending, rank] < 0
            leaves.append(nodes[pending[stuck]])
            pending = pending[~stuck]
            if not len(pending):
                break
            tried = nodes[pending]
            column, place = columns[pending, rank], places[pending, rank]
            cutter.divide(rows, tried, column, place, space, scratch)
            good = judge.both_sides(rows.where, tried)
            children.append(sides(tried[good]))
            pending = pending[~good]
        leaves.append(nodes[pending])
        settled = sum(int((part[:, 1] - part[:, 0]).sum()) for part in leaves)
        report("cut", settled, count)
        nodes = np.concatenate(children) if children else nodes[:0]
    final = np.concatenate(leaves)
    final = final[np.argsort(final[:, 0], kind="stable")]
    ids = np.empty(count, dtype=np.int32)
    ids[rows.where] = np.repeat(np.arange(len(final), dtype=np.int32), final[:, 1] - final[:, 0])
    return ids, len(final)


def _divide_ties(
    rows: Table, origin: Table, model: Model, layout: Layout, tuples: Codes, ids: Codes
) -> tuple[Codes, int]:
    """Divide classes further, k records at a time, while the loss falls and the model holds.

    rows: the records; origin: the table whose distributions are assumed to be public.
    tuples: (rows,) the distinct tuple of each record. ids: (rows,) its class so far.
    Returns the new classes and their number.
    """
    from shoal.methods.partition import _growth as kernels
    from shoal.methods.partition._nodes import make_scratch

    space, codes = layout.space, layout.codes[tuples]
    order = np.lexsort((tuples, ids))
    sizes = np.bincount(ids)
    ends = np.cumsum(sizes)
    nodes = np.stack([ends - sizes, ends, sizes, ends, sizes], axis=1)
    judge = Judge(rows, origin, model)
    scratch = make_scratch(len(ids), space.domain)
    count = np.zeros(int(space.domain.max()) + 2, dtype=np.int64)
    ordered, picked, best = np.empty(len(ids), np.int64), np.empty_like(codes), order.copy()
    leaves = []
    while len(nodes):
        small = nodes[:, 2] < 2 * space.k
        leaves.append(nodes[small])
        nodes = nodes[~small]
        kernels.divide_records(codes, order, nodes, space, scratch, count, ordered, picked, best)
        order = best.copy()
        nodes[:, 4] = nodes[:, 3] - nodes[:, 0]
        whole = nodes[:, 3] == nodes[:, 1]
        leaves.append(nodes[whole])
        tried = nodes[~whole]
        good = judge.both_sides(order, tried)
        leaves.append(tried[~good])
        nodes = sides(tried[good])
    final = np.concatenate(leaves)
    final = final[np.argsort(final[:, 0], kind="stable")]
    fresh = np.empty(len(ids), dtype=np.int32)
    fresh[order] = np.repeat(np.arange(len(final), dtype=np.int32), final[:, 1] - final[:, 0])
    return fresh, len(final)


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows of codes with their multiplicities.

    codes: (rows, columns) int32; in a column with a hierarchy the codes of a branch are adjacent.
    space: the columns for the kernels.
    """

    codes: Codes
    weight: Counts
    space: Any


def lay_out(table: Table, k: int, *, use_hierarchies: bool) -> Layout:
    """Return the quasi-identifiers of a table in the layout of the kernels."""
    from shoal.methods.partition._nodes import NOMINAL, ORDERED, TREE, Space

    columns = table.quasi_columns
    trees = [use_hierarchies and c.hierarchy is not None and c.domain > 1 for c in columns]
    total = sum(c.weight for c in columns) or 1.0
    kinds = [
        TREE if tree else ORDERED if c.ordered else NOMINAL
        for c, tree in zip(columns, trees, strict=True)
    ]
    places, groups, costs, units, codes = [], [], [], [], []
    for column, tree in zip(columns, trees, strict=True):
        weight = column.weight * len(columns) / total
        order = branch_order(column) if tree else np.arange(column.domain)
        place = np.empty(column.domain, dtype=np.int32)
        place[order] = np.arange(column.domain, dtype=np.int32)
        codes.append(place[column.codes])
        position, extent = positions(column)
        places.append(position)
        grouped, cost = _levels(column, order) if tree else (place[:0], position[:0])
        groups.append(grouped)
        costs.append(cost)
        nominal = 1 / (column.domain - 1) if column.domain > 1 else 0.0
        units.append(weight * (1.0 if tree else extent if column.ordered else nominal))
    domain = np.array([c.domain for c in columns], dtype=np.int64)
    heights = [c.hierarchy.height if t and c.hierarchy else 0 for c, t in zip(columns, trees)]  # noqa: B905
    space = Space(
        k,
        np.array(kinds, dtype=np.int64),
        domain,
        np.array(units, dtype=np.float64),
        np.concatenate(([0], np.cumsum(domain)))[:-1],
        np.concatenate(places),
        np.concatenate(([0], np.cumsum([len(g) for g in groups])))[:-1],
        np.array(heights, dtype=np.int64),
        np.concatenate(groups).astype(np.int32),
        np.concatenate(costs),
    )
    counts = np.ones(len(table), np.int64) if table.counts is None else table.counts
    return Layout(np.ascontiguousarray(np.stack(codes, axis=1)), counts.copy(), space)


def positions(column: Column) -> tuple[Floats, float]:
    """Return positions, with missing one extent above the last value, and 1 / extent."""
    low, high = column.extent
    extent = high - low if high > low else 1.0
    position = column.positions.copy()
    position[column.known :] = high + extent
    return np.nan_to_num(position), 1.0 / extent


def branch_order(column: Column) -> Counts:
    """Return the codes in an order that keeps every branch of the hierarchy together."""
    assert column.hierarchy is not None
    return np.lexsort([level.groups for level in column.hierarchy.levels])


def _levels(column: Column, order: Counts) -> tuple[Codes, Floats]:
    """Return, for each level in the new order, the group of each code and its cost."""
    from shoal.table.recoding import Recoding

    assert column.hierarchy is not None
    groups, costs = [], []
    for height, level in enumerate(column.hierarchy.levels):
        published = Recoding.at_level(column, height)
        if column.ordered:
            cost = published.widths()
        else:
            cost = (published.subsets.sizes - 1) / (column.domain - 1)
        groups.append(level.groups[order])
        costs.append(cost[level.groups[order]])
    return np.concatenate(groups), np.concatenate(costs).astype(np.float64)
