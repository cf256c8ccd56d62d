"""What the oracle is asked about a release."""

from __future__ import annotations

import csv

from tests import oracle

WHOLE = frozenset(
    ["average-risk", "k-map", "delta-presence", "km-anonymity"]
)  # of all classes together
COVERAGE = frozenset(
    ["freeform-anonymity", "k-concealment", "k-k-anonymity", "one-k-anonymity", "k-one-anonymity"]
)


def judge(table, model, release, *, whole=False, rows=None, population=None, left_out=None):
    """Let the oracle check model, truthfulness, row order, columns and suppressed rows.

    whole: a column without a hierarchy must be kept or hidden as a whole.
    rows: what was published, as read from a file; by default the release's own.
    population: the rows of everyone, for models that compare with them.
    left_out: the share of rows that a model of combinations of rows may leave out. Columns that
        differ between the rows of a person are then generalized apart from the method's options.
    """
    rows = release.to_arrow().to_pylist() if rows is None else rows
    everybody = with_units(table.to_arrow().to_pylist(), table)
    hidden = [False] * len(table) if release.suppressed is None else release.suppressed.tolist()
    before = [row for row, out in zip(everybody, hidden, strict=True) if not out]
    seen = release.original  # with the hierarchies that were made for it
    assert rows
    assert len(rows) == len(before)
    by_class = [part for part in model.parts if part.name not in COVERAGE | WHOLE]
    units = [{unit: row[unit] for unit in oracle.UNITS} for row in before]
    known = [{**row, **unit} for row, unit in zip(rows, units, strict=True)]
    sizes = {}
    for members in oracle.classes(known, table.quasi):
        sizes |= dict.fromkeys(map(id, members), oracle.size(members))
        for part in by_class:
            assert oracle.keeps(part, members, everybody)
    for part in model.parts:
        if part.name in WHOLE:
            found = oracle.classes(known, table.quasi)
            paths = {name: paths_of(seen, name, release.run.options) for name in table.quasi}
            assert oracle.keeps_release(part, found, population, table.quasi, paths)
    for part in [part for part in model.parts if part.name in COVERAGE]:
        graph = oracle.fits(rows, before, table.quasi, {})
        assert oracle.keeps_coverage(part, graph, before, [sizes[id(row)] for row in known])
    kept = [c.name for c in table if c.role not in ("quasi", "identifier")]
    assert [[r[n] for n in kept] for r in rows] == [[r[n] for n in kept] for r in before]
    assert set(rows[0]) == set(table.quasi) | set(kept)
    options = release.run.options
    if left_out is not None:
        assert sum(hidden) <= left_out * len(table) + 1e-9
        options = {"max_suppression": 1}
    if release.run.options.get("summary") == "representative":
        return
    for name in table.quasi:
        tree, paths = table[name].hierarchy, paths_of(seen, name, options)
        for row, was in zip(rows, before, strict=True):
            assert oracle.covers(row[name], was[name], paths)
            if whole and tree is None:
                assert oracle.is_kept_or_hidden(row[name], was[name])
    most = options.get("max_suppression", 0)
    if most is not None:  # datafly's own rule is a number of records
        assert sum(hidden) <= most * len(table) + 1e-9


def paths_of(table, name, options):
    """Return the labels of each value of a column up its hierarchy, if the options allow it."""
    tree = table[name].hierarchy
    if not tree or not options.get("hierarchies", True):
        return {}
    return {_typed(table[name], labels[0]): labels for labels in tree.rows()}


def written_rows(release, path):
    """Write a release to a CSV file in the order of the original; return its rows as text."""
    release.write(path, order="original", force=True)
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]


def with_units(rows, table):
    """Return rows with whom they are about, each row a person and a household by default."""
    for unit, name in zip((table.person, table.household), oracle.UNITS, strict=True):
        ids = range(len(rows)) if unit is None else unit.ids.tolist()
        rows = [{**row, name: number} for row, number in zip(rows, ids, strict=True)]
    return rows


def is_possible(table, model):
    """Tell whether the table as one class keeps the model."""
    rows = with_units(table.to_arrow().to_pylist(), table)
    return all(
        oracle.keeps_release(part, [rows], None, table.quasi, {})
        if part.name in WHOLE
        else oracle.keeps(part, rows, rows)
        for part in model.parts
    )


def can_leave_out(table, model, share):
    """Tell whether a release that leaves out a share of the rows at most can keep km-anonymity."""
    rows = with_units(table.to_arrow().to_pylist(), table)
    kept = oracle.most_rows_kept(rows, model.k, model.m)
    return kept > 0 and len(rows) - kept <= share * len(rows) + 1e-9


def _typed(column, text):
    number = column.kind == "numeric" and text
    return int(text) if number else text or None
