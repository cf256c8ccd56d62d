"""Every metric once more, cell by cell: sets, dicts and loops over records, nothing clever.

Losses are scaled by counting the same thing on the untouched and on the fully suppressed table.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, product
from statistics import median


@dataclass(frozen=True)
class Attribute:
    """What there is to know of a column: nothing but plain numbers and lists."""

    domain: int
    kind: str
    positions: list
    missing: int | None
    extent: tuple
    tree: list | None  # for each level, the group of each code

    @property
    def height(self):
        return len(self.tree) - 1


@dataclass(frozen=True)
class Cell:
    members: frozenset
    text: object
    level: int | None
    width: float | None


@dataclass(frozen=True)
class Record:
    codes: tuple
    cells: tuple | None  # None where it is suppressed
    target: object


@dataclass(frozen=True)
class Case:
    attributes: list
    records: list
    k: int

    def cells(self):
        """All cells with their attribute and original code; suppressed ones hold everything."""
        for record in self.records:
            yield from self.cells_of(record)

    def cells_of(self, record):
        cells = record.cells or [whole(a) for a in self.attributes]
        yield from zip(self.attributes, record.codes, cells, strict=True)

    def column(self, j):
        return [record.codes[j] for record in self.records]

    def classes(self):
        found = {}
        for record in self.records:
            if record.cells is not None:
                found.setdefault(tuple(c.text for c in record.cells), []).append(record)
        return list(found.values())

    def untouched(self):
        singles = [
            replace(r, cells=tuple(Cell(frozenset([c]), c, 0, 0.0) for c in r.codes))
            for r in self.records
        ]
        return replace(self, records=singles)

    def suppressed(self):
        return replace(self, records=[replace(r, cells=None) for r in self.records])


def whole(attribute):
    level = None if attribute.tree is None else attribute.height
    return Cell(frozenset(range(attribute.domain)), "*", level, 1.0)


def read(release, target=None):
    """Return a release as a case."""
    attributes, columns = [], []
    for recoding in release.recodings.values():
        column = recoding.column
        tree = column.hierarchy and [level.groups.tolist() for level in column.hierarchy.levels]
        attributes.append(
            Attribute(
                column.domain,
                str(column.kind),
                column.positions.tolist(),
                column.missing,
                column.extent,
                tree,
            )
        )
        columns.append([_cell(recoding, entry) for entry in range(len(recoding.labels))])
    table = release.original
    targets = table[target].to_arrow().to_pylist() if target else [None] * len(table)
    records = []
    for row in range(len(table)):
        codes = tuple(int(r.column.codes[row]) for r in release.recodings.values())
        cells = tuple(
            entries[int(r.codes[row])]
            for entries, r in zip(columns, release.recodings.values(), strict=True)
        )
        hidden = release.suppressed is not None and release.suppressed[row]
        times = 1 if table.counts is None else int(table.counts[row])
        records += [Record(codes, None if hidden else cells, targets[row])] * times
    k = max([1, *(getattr(part, "k", 1) for part in release.model.parts)])
    return Case(attributes, records, k)


def _cell(recoding, entry):
    members = frozenset(recoding.subsets.members(entry).tolist())
    level = None if recoding.levels is None else int(recoding.levels[entry])
    width = None
    if recoding.low is not None:
        low, high = float(recoding.low[entry]), float(recoding.high[entry])
        extent = recoding.column.extent[1] - recoding.column.extent[0]
        known = members - {recoding.column.missing}
        mixed = known and known != members
        span = extent > 0 and known
        width = 1.0 if mixed else (high - low) / extent if span else 0.0
    return Cell(members, recoding.labels[entry], level, width)


def absolute_distance(case):
    return sum(cell.level for _, _, cell in case.cells()) / len(case.records)


def precision(case):
    """The precision lost."""
    shares = [
        1.0 if record.cells is None else cell.level / max(attribute.height, 1)
        for record in case.records
        for attribute, _, cell in case.cells_of(record)
    ]
    return sum(shares) / len(shares)


def relative_distance(case):
    return precision(case) * len(case.attributes)


def entropy(case):
    total = 0.0
    for j, attribute in enumerate(case.attributes):
        seen = Counter(case.column(j))
        for record in case.records:
            cell = record.cells[j] if record.cells else whole(attribute)
            counts = [seen[v] for v in cell.members if seen[v]]
            total -= sum(n / sum(counts) * math.log2(n / sum(counts)) for n in counts)
    return total


def non_uniform_entropy(case):
    total = 0.0
    for j, attribute in enumerate(case.attributes):
        seen = Counter(case.column(j))
        for record in case.records:
            cell = record.cells[j] if record.cells else whole(attribute)
            total -= math.log2(seen[record.codes[j]] / sum(seen[v] for v in cell.members))
    return total


def classification(case):
    right = sum(max(Counter(r.target for r in c).values()) for c in case.classes())
    return 1 - right / len(case.records)


def discernibility(case):
    everybody = len(case.records)
    hidden = sum(record.cells is None for record in case.records)
    return sum(len(c) ** 2 for c in case.classes()) + hidden * everybody


def average_class_size(case):
    everybody, classes = len(case.records), case.classes()
    kept = sum(len(c) for c in classes)
    sizes = [everybody if r.cells is None else kept / len(classes) for r in case.records]
    return sum(sizes) / everybody / case.k


def diameter(case):
    """The greatest distance; less is worse."""
    shown = [c[0].cells for c in case.classes()]
    return max(
        (
            sum(a.text != b.text for a, b in zip(one, other, strict=True))
            for one, other in combinations(shown, 2)
        ),
        default=0,
    )


def ambiguity(case):
    products = [
        math.prod(len(cell.members) for _, _, cell in case.cells_of(record))
        for record in case.records
    ]
    return sum(products) / len(products)


def granularity(case):
    return sum((len(cell.members) - 1) / a.domain for a, _, cell in case.cells())


def squared_distance_error(case):
    total = 0.0
    for record in case.records:
        total += math.sqrt(sum(_square(*told) for told in case.cells_of(record)))
    return total


def _square(attribute, code, cell):
    if attribute.kind == "nominal":  # a corner of a simplex whose edges are 1 long
        n = len(cell.members)
        return sum(
            ((v == code) - (v in cell.members) / n) ** 2 / 2 for v in range(attribute.domain)
        )
    if attribute.missing in cell.members and len(cell.members) > 1:
        return 1.0
    low, high = attribute.extent
    if code == attribute.missing or high <= low:
        return 0.0
    places = [(attribute.positions[v] - low) / (high - low) for v in cell.members]
    return ((attribute.positions[code] - low) / (high - low) - sum(places) / len(places)) ** 2


def information_loss(case):
    total = 0.0
    for record in case.records:
        for attribute, _, cell in case.cells_of(record):
            if record.cells is None:
                total += 1
            elif attribute.kind != "nominal":
                total += cell.width
            elif attribute.tree is None:
                total += len(cell.members) > 1
            else:
                total += _level(attribute, cell) / max(attribute.height, 1)
    return total


def _level(attribute, cell):
    if cell.level is not None and cell.level >= 0:
        return cell.level
    return next(
        height
        for height, groups in enumerate(attribute.tree)
        if len({groups[v] for v in cell.members}) == 1
    )


def shares_before(case, j):
    return {v: n / len(case.records) for v, n in Counter(case.column(j)).items()}


def shares_after(case, j):
    found = Counter()
    for record in case.records:
        cell = record.cells[j] if record.cells else whole(case.attributes[j])
        for value in cell.members:
            found[value] += 1 / len(cell.members) / len(case.records)
    return found


def hellinger(case):
    distances = []
    for j, attribute in enumerate(case.attributes):
        before, after = Counter(shares_before(case, j)), shares_after(case, j)
        squares = [
            (math.sqrt(before[v]) - math.sqrt(after[v])) ** 2 for v in range(attribute.domain)
        ]
        distances.append(math.sqrt(sum(squares) / 2))
    return median(distances)


def bivariate_correlation(case, corrected=False):
    changes = []
    for i, j in combinations(range(len(case.attributes)), 2):
        before, after = Counter(), Counter()
        for record in case.records:
            before[record.codes[i], record.codes[j]] += 1 / len(case.records)
            cells = [cell for _, _, cell in case.cells_of(record)]
            spread = list(product(cells[i].members, cells[j].members))
            for pair in spread:
                after[pair] += 1 / len(spread) / len(case.records)
        told = (case.attributes[i], case.attributes[j], len(case.records), corrected)
        changes.append(abs(correlation(before, *told) - correlation(after, *told)))
    return median(changes)


def correlation(table, first, second, records, corrected):
    if first.kind == second.kind == "numeric":
        return _pearson(table, first, second)
    rows, columns = Counter(), Counter()
    for (a, b), share in table.items():
        rows[a] += share
        columns[b] += share
    phi_squared = sum(
        (table.get((a, b), 0.0) - rows[a] * columns[b]) ** 2 / (rows[a] * columns[b])
        for a in rows
        for b in columns
    )
    if phi_squared < 1e-12:
        return 0.0
    r, c = len(rows), len(columns)
    if corrected and records > 1:
        phi_squared = max(0.0, phi_squared - (r - 1) * (c - 1) / (records - 1))
        r, c = (n - (n - 1) ** 2 / (records - 1) for n in (r, c))
    return math.sqrt(phi_squared / (min(r, c) - 1)) if min(r, c) - 1 > 1e-12 else 0.0


def _pearson(table, first, second):
    points = [
        (first.positions[a], second.positions[b], share)
        for (a, b), share in table.items()
        if a != first.missing and b != second.missing
    ]
    total = sum(w for *_, w in points)
    if not total:
        return 0.0
    x, y = (sum(p[axis] * p[2] for p in points) / total for axis in (0, 1))
    across = sum(w * (a - x) * (b - y) for a, b, w in points)
    spread = [
        sum(p[2] * (p[axis] - middle) ** 2 for p in points) for axis, middle in ((0, x), (1, y))
    ]
    return across / math.sqrt(spread[0] * spread[1]) if min(spread) > 1e-12 else 0.0


def kl_divergence(case):
    everybody = len(case.records)
    divergence = 0.0
    for codes, count in Counter(r.codes for r in case.records).items():
        after = 0.0
        for record in case.records:
            cells = [cell for _, _, cell in case.cells_of(record)]
            if all(v in cell.members for v, cell in zip(codes, cells, strict=True)):
                after += 1 / math.prod(len(cell.members) for cell in cells) / everybody
        divergence += count / everybody * math.log2(count / everybody / after)
    return divergence


RAW = {
    "absolute-distance": absolute_distance,
    "relative-distance": relative_distance,
    "precision": precision,
    "entropy": entropy,
    "non-uniform-entropy": non_uniform_entropy,
    "classification": classification,
    "discernibility": discernibility,
    "average-class-size": average_class_size,
    "diameter": lambda case: -diameter(case),
    "ambiguity": ambiguity,
    "granularity": granularity,
    "squared-distance-error": squared_distance_error,
    "information-loss": information_loss,
    "hellinger": hellinger,
    "bivariate-correlation": bivariate_correlation,
    "kl-divergence": kl_divergence,
}


def raw(name, case):
    """Return a metric on its paper's scale."""
    value = RAW[name](case)
    return 1 - value if name == "precision" else abs(value) if name == "diameter" else value


def scaled(name, case):
    """Return a metric between the untouched table, 0, and the fully suppressed one, 1."""
    value, best, worst = (RAW[name](c) for c in (case, case.untouched(), case.suppressed()))
    if worst - best > 1e-9:
        return min(max((value - best) / (worst - best), 0), 1)
    if value - best > 1e-9:
        return 1
    return sum(r.cells is None for r in case.records) / len(case.records)
