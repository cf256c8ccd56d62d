"""A lattice laid out for the kernels: tuples as sorted keys, level maps that keep their order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.core.arrays import Counts, Floats
from shoal.core.column import Column
from shoal.core.grouping import Grouping, group, group_keys
from shoal.core.progress import report
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.anonymize.lattice.lattice import Lattice

_KEY_BITS = 62
MEMORY = 2 << 30  # bytes that class tables may take


@dataclass(frozen=True, eq=False)
class Packed:
    """A lattice laid out for the kernels.

    order: attributes from the most to the least significant field; one that is in no lattice
        stands for the columns that keep records apart at every node.
    keys, counts: the distinct tuples, sorted, and the records behind each.
    shape: what the kernels know of the levels.
    inside: where the lattice lies among these attributes.
    """

    order: tuple[int, ...]
    keys: Counts
    counts: Counts
    shape: Any
    inside: Any

    def cube(self, values: Any) -> Any:
        """Return a value of every node in the lattice's own order of attributes."""
        return values.reshape(self.shape.levels).transpose(np.argsort(self.order))[self.inside]

    def measure(self, k: int, threads: int, worth: Floats | None = None) -> Any:
        """Measure every node, in the packed order of attributes: a `Found` of the kernels."""
        from shoal.anonymize.lattice._kernels import Found

        levels = self.shape.levels
        nodes, asked = int(levels.prod()), np.zeros(0) if worth is None else worth
        found = Found(k, np.zeros((nodes, 4), dtype=np.int64), asked, np.zeros(nodes))
        fixed = min(2, len(levels) - 1)  # one task for each pair of levels of the outer attributes
        tasks = list(product(*(range(n) for n in levels[:fixed])))
        with ThreadPoolExecutor(min(threads, len(tasks), self._most_threads())) as pool:
            for done, _ in enumerate(pool.map(lambda task: self._sweep(task, found), tasks)):
                report("measure", done + 1, len(tasks))
        return found

    def _most_threads(self) -> int:
        """Return how many threads have room for their class tables in the budget."""
        each = len(self.keys) * (16 * (len(self.order) + 1) + 57)
        if each > MEMORY:
            raise InputError(
                f"the class tables of {len(self.keys):,} distinct tuples need {each / 2**30:.1f} "
                f"GiB, more than {MEMORY / 2**30:.0f}; coarsen the finest columns first"
            )
        return max(1, MEMORY // max(each, 1))

    def _sweep(self, task: tuple[int, ...], found: Any) -> None:
        """Measure the nodes with these levels of the outermost attributes."""
        from shoal.anonymize.lattice import _kernels as kernels

        attributes = len(self.order)
        tables = kernels.make_tables(self.keys, self.counts, attributes)
        source = attributes
        for j, wanted in enumerate(task):
            for level in range(1, wanted + 1):
                target = 0 if source != 0 else 1
                kernels.roll_up(
                    tables,
                    source,
                    target,
                    self.shape.shift[j],
                    self.shape.mask[j],
                    self.shape.steps,
                    self.shape.step_first[j, level],
                )
                source = target
        if source != attributes:
            rows = tables.size[source]
            tables.keys[attributes, :rows] = tables.keys[source, :rows]
            tables.counts[attributes, :rows] = tables.counts[source, :rows]
            tables.size[attributes] = rows
        node = int(np.dot(task, self.shape.stride[: len(task)])) if task else 0
        kernels.sweep(tables, self.shape, len(task), node, found)


def fits_word(lattice: Lattice, corner: tuple[int, ...]) -> bool:
    """Tell whether the groups at a corner, all attributes together, fit one word."""
    groups = [
        len(column.hierarchy.levels[least])
        for column, least in zip(lattice.columns, corner, strict=True)
        if column.hierarchy is not None
    ]
    if lattice.apart:
        groups.append(len(_apart(lattice)))
    return sum(max(1, (number - 1).bit_length()) for number in groups) <= _KEY_BITS


def pack(lattice: Lattice, corner: tuple[int, ...]) -> Packed | None:
    """Lay out the lattice above a corner, the attribute with most levels innermost.

    Returns None where a key would not fit one word.
    """
    from shoal.anonymize.lattice._kernels import Shape

    columns, distinct = lattice.columns, lattice.table.distinct(*lattice.apart).table
    laid = [_monotone(column, least) for column, least in zip(columns, corner, strict=True)]
    domains = [int(numbers.max()) + 1 if len(numbers) else 1 for numbers, _ in laid]
    codes = [numbers[distinct[c.name].codes] for c, (numbers, _) in zip(columns, laid, strict=True)]
    every = range(len(columns))
    inner = max(every, key=lambda j: (len(laid[j][1]), domains[j]))
    outer = sorted((j for j in every if j != inner), key=lambda j: -domains[j])
    if lattice.apart:
        others = _apart(lattice)
        outer.append(len(columns))
        domains.append(len(others))
        codes.append(others.ids.astype(np.int64))
        laid.append((codes[-1], []))
    order = (*outer, inner)
    bits = [max(1, (domains[j] - 1).bit_length()) for j in order]
    if sum(bits) > _KEY_BITS:
        return None
    shift = np.cumsum([0, *bits[:0:-1]])[::-1].astype(np.int64)
    keys = np.zeros(len(distinct), dtype=np.int64)
    levels = np.array([len(laid[j][1]) + 1 for j in order], dtype=np.int64)
    first = np.zeros((len(order), int(levels.max())), dtype=np.int64)
    steps: list[Counts] = []
    for place, j in enumerate(order):
        keys |= codes[j] << shift[place]
        for level, step in enumerate(laid[j][1], start=1):
            first[place, level] = sum(map(len, steps))
            steps.append(step)
    stride = np.append(np.cumprod(levels[:0:-1])[::-1], 1).astype(np.int64)
    mask = np.array([(1 << b) - 1 for b in bits], dtype=np.int64)
    flat = np.concatenate(steps) if steps else np.zeros(1, dtype=np.int64)
    alike = group_keys(keys)  # attributes left out or rolled up make tuples alike
    shape = Shape(levels, shift, mask, first, flat, stride)
    inside = (..., 0) if lattice.apart else ...
    return Packed(order, keys[alike.first], alike.sizes(distinct.counts), shape, inside)


def _apart(lattice: Lattice) -> Grouping:
    """Group the distinct tuples by the columns that keep records apart."""
    distinct = lattice.table.distinct(*lattice.apart).table
    columns = [distinct[name] for name in lattice.apart]
    return group([c.codes for c in columns], [c.domain for c in columns])


def _monotone(column: Column, least: int) -> tuple[Counts, list[Counts]]:
    """Return each value's number at the least level, and the maps to the levels above.

    Numbers ascend with those of every level above, so that groups lie together.
    """
    assert column.hierarchy is not None
    levels = column.hierarchy.levels
    order = np.lexsort([level.groups for level in levels])
    numbers = []
    for level in levels[least:]:
        sorted_groups = level.groups[order]
        fresh = np.ones(len(order), dtype=np.int64)
        fresh[1:] = sorted_groups[1:] != sorted_groups[:-1]
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(fresh) - 1
        numbers.append(number)
    maps = []
    for fine, coarse in pairwise(numbers):
        step = np.zeros(int(fine.max()) + 1 if len(fine) else 0, dtype=np.int64)
        step[fine] = coarse
        maps.append(step)
    return numbers[0], maps
