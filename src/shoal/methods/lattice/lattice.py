"""The lattice of generalization levels of a table, its nodes under a model, and releases at a node.

Levels are nested, so the classes of a node are unions of classes below it: one pass that rolls
sorted keys up, one level at a time, measures all nodes.

    Lattice        columns with their levels; `measure` for all nodes, `class_counts` for one
    view           one node under a model: which tuples are kept and which are suppressed
    release_at     the table published at a node
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.errors import Infeasible
from shoal.methods.lattice.entries import Worth, counted_unit, pack
from shoal.privacy.model import Model
from shoal.release.provenance import Candidate, Run
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen
from shoal.table.classes import Classes
from shoal.table.column import Column
from shoal.table.people import count_distinct, distinct_rows, group, sum_by
from shoal.table.recoding import Recoding
from shoal.table.table import Distinct, Table

Node = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Measures:
    """Measures of every node, as arrays of the lattice's shape.

    classes: number of classes, including small ones; kept: classes of at least k people.
    suppressed: records in the small ones.
    squares: sum of the squared numbers of records of the other classes.
    """

    classes: Counts
    kept: Counts
    suppressed: Counts
    squares: Counts


@dataclass(frozen=True, eq=False)
class Lattice:
    """All combinations of levels of a table's quasi-identifiers, in the order of its columns.

    columns: the quasi-identifiers; a column without a hierarchy is kept or suppressed.
    origin: the table whose distributions are assumed to be public, if `table` is a part of it.
    apart: further columns that separate records into different classes at every node.
    """

    table: Table
    columns: tuple[Column, ...]
    origin: Table
    apart: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, origin: Table | None = None, apart: Sequence[str] = ()) -> Lattice:
        """Return the lattice of a table, or of a part of the origin."""
        columns = tuple(
            c if c.hierarchy is not None else c.with_hierarchy({"suppression": None})
            for c in table.quasi_columns
        )
        return cls(table, columns, table if origin is None else origin, tuple(apart))

    def over(self, attributes: Sequence[int]) -> Lattice:
        """Return the lattice of some of the attributes."""
        some = tuple(self.columns[j] for j in attributes)
        return Lattice(self.table, some, self.origin, self.apart)

    @cached_property
    def heights(self) -> Node:
        """The highest level of each attribute."""
        return tuple(c.hierarchy.height for c in self.columns if c.hierarchy is not None)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each attribute, including level 0."""
        return tuple(height + 1 for height in self.heights)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(np.prod(self.shape, dtype=object))

    def __repr__(self) -> str:
        return f"Lattice({self.nodes} nodes, shape={self.shape})"

    def named(self, node: Sequence[int]) -> dict[str, int]:
        """Return a node as `{attribute: level}`."""
        return {c.name: int(level) for c, level in zip(self.columns, node, strict=True)}

    def codes(self, node: Sequence[int], rows: Table | None = None) -> list[Codes]:
        """Return, for each attribute, the group of each row at a node."""
        table = self.table if rows is None else rows
        return [
            c.hierarchy.levels[level].groups[table[c.name].codes]
            for c, level in zip(self.columns, node, strict=True)
            if c.hierarchy is not None
        ]

    def domains(self, node: Sequence[int]) -> list[int]:
        """Return the number of groups of each attribute at a node."""
        return [
            len(c.hierarchy.levels[level])
            for c, level in zip(self.columns, node, strict=True)
            if c.hierarchy is not None
        ]

    @cached_property
    def exact_sizes(self) -> bool:
        """Whether `measure` compares k with the sizes of classes, not with upper bounds."""
        return counted_unit(self.table)[1]

    def tuples(self, *also: str) -> Distinct:
        """Return the distinct tuples of the table, by person if people have several rows."""
        return self.table.distinct(*also, people=self.table.unit is not None)

    def corner(self, k: int, limit: int) -> Node:
        """Return levels below which no node is feasible: one attribute alone suppresses too much.

        limit: records that may be suppressed.
        """
        least = []
        for column, height in zip(self.columns, self.heights, strict=True):
            counts = enumerate(self._level_counts(column))
            enough = (h for h, (sizes, records) in counts if records[sizes < k].sum() <= limit)
            least.append(max(next(enough, height), column.floor))
        return tuple(least)

    def _level_counts(self, column: Column) -> Iterator[tuple[Counts, Counts]]:
        """Yield, level by level, the sizes of a column's groups and the records in each."""
        codes, unit = self.table[column.name].codes, counted_unit(self.table)[0]
        by_value = sum_by(codes, column.domain, self.table.counts)
        if unit is not None:
            # each person once for each value
            once = distinct_rows(codes, column.domain, unit.ids, unit.count)
            codes, unit = codes[once], replace(unit, ids=unit.ids[once])
        for level in column.hierarchy.levels if column.hierarchy is not None else ():
            records = sum_by(level.groups, len(level), by_value)
            if unit is None:
                yield records, records
            else:
                yield count_distinct(level.groups[codes], len(level), unit), records

    def measure(
        self, k: int, *, corner: Sequence[int] | None = None, threads: int | None = None
    ) -> Measures:
        """Measure every node, or those above a corner; `threads` defaults to the number of cores.

        Nodes below the corner are not counted; their suppressed records exceed all records.
        k is compared with the number of people of a class, or of households if there are fewer;
        see `exact_sizes`.
        """
        least = tuple(corner or (0,) * len(self.shape))
        packed = pack(self, least)
        measures = packed.measure(k, threads or os.cpu_count() or 1).measures
        return self._embedded([packed.cube(measures[:, i]) for i in range(4)], least)

    def total(self, worth: Worth, *, threads: int | None = None) -> Floats:
        """Return, for every node, the sum of a function of class sizes over its classes.

        worth: the function by size, which is counted as by `measure`.
        """
        packed = pack(self, (0,) * len(self.shape))
        totals = packed.measure(1, threads or os.cpu_count() or 1, worth)
        sums: Floats = packed.cube(totals.sums)
        return sums

    def _embedded(self, cubes: Sequence[Counts], corner: Node) -> Measures:
        if not any(corner):
            return Measures(*(frozen(cube) for cube in cubes))
        every = [np.zeros(self.shape, dtype=np.int64) for _ in cubes]
        every[2][...] = self.table.records + 1
        for full, cube in zip(every, cubes, strict=True):
            full[tuple(slice(level, None) for level in corner)] = cube
        return Measures(*(frozen(full) for full in every))

    def measure_node(self, node: Sequence[int], k: int) -> tuple[int, int, int, int]:
        """Return classes, kept ones, suppressed records and sum of squares of one node."""
        sizes, rows = self.class_counts(node)
        kept = rows[sizes >= k]
        return len(rows), len(kept), int(rows.sum() - kept.sum()), int((kept * kept).sum())

    def class_counts(self, node: Sequence[int]) -> tuple[Counts, Counts]:
        """Return the numbers of people and records of each class of one node."""
        tuples = self.tuples(*self.apart).table
        others = [tuples[name] for name in self.apart]
        codes = [*self.codes(node, tuples), *(c.codes for c in others)]
        ids = group(codes, [*self.domains(node), *(c.domain for c in others)]).ids
        classes = Classes.of(tuples, ids)
        return classes.sizes, classes.rows


def named_node(node: Mapping[str, int]) -> str:
    """Return a node as text: `age 2, sex 0`."""
    return ", ".join(f"{name} {level}" for name, level in node.items())


@dataclass(frozen=True, eq=False)
class View:
    """One node under one model.

    tuples: the distinct tuples of the table and its people, with the columns of the model.
    kept: (tuples,) whether each is in a class that meets the model.
    rows: (kept classes,) records in each of them.
    suppressed: records in the other classes.
    """

    tuples: Table
    kept: Bools
    rows: Counts
    suppressed: int


def view(lattice: Lattice, node: Sequence[int], model: Model) -> View:
    """Return the view of a node: classes that break the model are suppressed."""
    tuples = lattice.tuples(*model.columns).table
    ids = group(lattice.codes(node, tuples), lattice.domains(node)).ids
    classes = Classes.of(tuples, ids, origin=lattice.origin)
    holds = model.holds(classes)
    rows = classes.rows
    return View(tuples, holds[ids], rows[holds], int(rows[~holds].sum()))


def most_suppressed(lattice: Lattice, share: float) -> int:
    """Return the number of records that a share of the table is, but never all of them."""
    records = lattice.table.records
    return min(int(np.floor(share * records + 1e-9)), records - 1)


def release_at(
    lattice: Lattice,
    node: Sequence[int],
    model: Model,
    *,
    found: View | None = None,
    candidates: Sequence[Candidate] = (),
    evaluated: int = 0,
    notes: Sequence[str] = (),
) -> Release:
    """Publish the table at a node, without the rows of classes that break the model.

    found: the view of the node, if it is known.
    """
    table = lattice.table
    found = found or view(lattice, node, model)
    if not found.kept.any():
        raise Infeasible(
            f"{model}: every record would be suppressed at {named_node(lattice.named(node))}"
        )
    out = ~found.kept[lattice.tuples(*model.columns).inverse]
    recodings = {
        column.name: Recoding.at_level(replace(column, codes=table[column.name].codes), level)
        for column, level in zip(lattice.columns, node, strict=True)
    }
    return Release(
        table,
        {name: recoding.suppress(out) for name, recoding in recodings.items()},
        model,
        out if out.any() else None,
        Run(notes=(*unguided(lattice), *notes)),
        lattice.named(node),
        candidates,
        evaluated,
    )


def unguided(lattice: Lattice) -> list[str]:
    """Return a note about columns without a hierarchy."""
    bare = [c.name for c in lattice.table.quasi_columns if c.hierarchy is None]
    note = "no hierarchy for {}: values are either kept or suppressed"
    return [note.format(", ".join(bare))] if bare else []
