"""Small random tables with random hierarchies, and what dicts and loops say of their nodes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import product

import pyarrow as pa
from hypothesis import strategies as st

from shoal import Hierarchy, Table

SEEDS = st.integers(0, 2**32 - 1)  # of random tables
HIDDEN = "*"
ILLNESSES = ("flu", "cold", "gout")


@dataclass(frozen=True)
class Drawn:
    """A table as Shoal holds it, and the plain rows, labels and multiplicities behind it.

    rows: the values of each row; paths: for each attribute, {value: its label at each level};
    listed: for each attribute, the labels of every value of the hierarchy, seen or not.
    """

    table: Table
    rows: list[tuple]
    counts: list[int]
    paths: list[dict]
    listed: list[list]
    weights: list[float]
    illness: list[str]

    @property
    def heights(self):
        return [len(next(iter(path.values()))) - 1 for path in self.paths]

    @property
    def nodes(self):
        return list(product(*(range(height + 1) for height in self.heights)))

    @property
    def records(self):
        return sum(self.counts)

    def classes(self, node):
        """Return the rows of each class at a node."""
        found = defaultdict(list)
        for i, row in enumerate(self.rows):
            key = tuple(
                path[value][level] for path, value, level in zip(self.paths, row, node, strict=True)
            )
            found[key].append(i)
        return list(found.values())

    def size(self, rows):
        return sum(self.counts[i] for i in rows)

    def people(self, rows):
        """Return the records behind rows, as the oracle reads them."""
        return [{"illness": self.illness[i]} for i in rows for _ in range(self.counts[i])]

    def kept(self, node, holds):
        """Return the classes of a node for which `holds` is true."""
        return [members for members in self.classes(node) if holds(members)]


def nested(draw, values, height):
    """Draw labels over values: each level merges groups of the one below, the last all of them."""
    paths = {value: [value] for value in values}
    groups = list(range(len(values)))
    for level in range(1, height):
        width = int(draw.integers(1, max(groups) + 2))
        merged = [int(draw.integers(width)) for _ in range(max(groups) + 1)]
        groups = [merged[group] for group in groups]
        for value, group in zip(values, groups, strict=True):
            paths[value].append(f"level {level} group {group}")
    if height:
        for value in values:
            paths[value].append(HIDDEN)
    return paths


def draw_table(draw, attributes=None, rows=None, weighted=None):
    """Draw a table of 1 to 5 attributes, few or many rows, with repeats and missing values."""
    attributes = attributes or int(draw.integers(1, 6))
    rows = rows or int(draw.integers(1, 40))
    weighted = draw.random() < 0.3 if weighted is None else weighted
    columns, roles, paths, listed, weights = {}, {}, [], [], []
    for j in range(attributes):
        numeric = bool(draw.random() < 0.4)
        domain = int(draw.integers(1, 9))
        values = [10 * i + 1 if numeric else f"v{i}" for i in range(domain)]
        cells = [values[int(draw.integers(domain) * draw.random())] for _ in range(rows)]
        if draw.random() < 0.3:
            cells = [None if draw.random() < 0.3 else cell for cell in cells]
        role = {"role": "quasi", "weight": float(draw.integers(1, 4))}
        height = int(draw.integers(1, 5)) if len(set(cells)) > 1 else int(draw.integers(0, 5))
        if set(cells) == {None}:
            height = 1
            path = {None: [None, HIDDEN]}
            values = [None]
        elif draw.random() < 0.2:
            height = 1
            values = sorted({cell for cell in cells if cell is not None})
            path = {value: [value, HIDDEN] for value in values}
        else:
            values = values if height else sorted(set(cells))
            path = nested(draw, values, height)
            texts = [[str(label) for label in labels] for labels in path.values()]
            role["hierarchy"] = Hierarchy.from_rows(texts)
        listed.append([path[value] for value in values])
        path.setdefault(None, [None] * height + [HIDDEN])
        name = f"q{j}"
        columns[name] = pa.array(cells, pa.int64() if numeric else pa.string())
        roles[name] = role
        paths.append(path)
        weights.append(role["weight"])
    illness = [ILLNESSES[int(draw.integers(3) * draw.random() * 1.5)] for _ in range(rows)]
    counts = draw.integers(1, 5, rows).tolist() if weighted else None
    table = Table.from_arrow(
        pa.table({**columns, "illness": illness}), {**roles, "illness": "sensitive"}, counts=counts
    )
    plain = list(zip(*(column.to_pylist() for column in columns.values()), strict=True))
    return Drawn(table, plain, counts or [1] * rows, paths, listed, weights, illness)


def cost(drawn, objective, node, kept):
    """Return the cost of a node cell by cell; `kept` are its classes that are published."""
    records = drawn.records
    lost = records - sum(drawn.size(members) for members in kept)
    if objective == "discernibility":
        return (sum(drawn.size(m) ** 2 for m in kept) + lost * records) / records**2
    if objective == "class-size":
        mean = (records - lost) / max(len(kept), 1)  # of the classes that are published
        return (mean * (records - lost) + lost * records) / records**2
    if objective == "height":
        return ((records - lost) * sum(node) / max(sum(drawn.heights), 1) + lost) / records
    published = {i for members in kept for i in members}
    cell = "loss" if objective == "geometric-loss" else objective
    losses = []
    for j, level in enumerate(node):
        paid = 0.0
        for i, row in enumerate(drawn.rows):
            paid += drawn.counts[i] * _cell(drawn, cell, j, row[j], level, i in published)
        losses.append(paid / records)
    weights = [weight / sum(drawn.weights) for weight in drawn.weights]
    if objective == "geometric-loss":
        return math.prod((1 + x) ** w for x, w in zip(losses, weights, strict=True)) - 1
    return sum(x * w for x, w in zip(losses, weights, strict=True))


def _cell(drawn, objective, j, value, level, published):
    path, height = drawn.paths[j], drawn.heights[j]
    if objective == "entropy":
        return _surprise(drawn, j, value, level if published else height)
    if not published:
        return 1.0
    if objective == "precision":
        return level / height if height else 0.0
    assert objective == "loss"
    label, listed = path[value][level], drawn.listed[j]
    leaves = 1 if label is None else sum(other[level] == label for other in listed)
    return (leaves - 1) / max(len(listed) - 1, 1)


def _surprise(drawn, j, value, level):
    """Return −log of the value's share in its group, against the mean of that in the table."""
    seen = Counter()
    for row, count in zip(drawn.rows, drawn.counts, strict=True):
        seen[row[j]] += count
    told = -sum(n * math.log(n / drawn.records) for n in seen.values()) / drawn.records
    label = drawn.paths[j][value][level]
    group = sum(n for other, n in seen.items() if drawn.paths[j][other][level] == label)
    return -math.log(seen[value] / group) / told if told else 0.0
