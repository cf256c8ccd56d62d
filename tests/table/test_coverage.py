"""Who may be whom, against brute force over all permutations of a few records."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.privacy import FreeformAnonymity, KConcealment, KKAnonymity
from shoal.release.release import Release
from shoal.table import coverage as module
from shoal.table.column import Column
from shoal.table.coverage import Coverage
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets, set_labels
from shoal.table.table import Table


def published(values, cells, counts=None):
    """A release of one nominal column: row i has values[i] and is published as the set cells[i]."""
    column = Column.encode("q", [f"v{value}" for value in values], "quasi")
    place = {label: code for code, label in enumerate(column.labels)}
    wanted = [sorted(place[f"v{v}"] for v in cell if f"v{v}" in place) for cell in cells]
    entries = sorted(set(map(tuple, wanted)))
    indptr = np.cumsum([0, *map(len, entries)])
    members = np.array([code for entry in entries for code in entry], dtype=np.int32)
    subsets = Subsets.of_members(column.domain, indptr, members)
    codes = np.array([entries.index(tuple(w)) for w in wanted], dtype=np.int32)
    recoding = Recoding(column, codes, subsets, set_labels(column, subsets))
    table = Table((column,), None if counts is None else np.array(counts))
    return Release(table, {"q": recoding}, FreeformAnonymity(2))


@pytest.mark.parametrize(("last", "holds"), [({0, 1, 2}, True), ({2}, False)])
def test_who_may_be_whom_is_asked_where_only_some_classes_are_large(last, holds):
    """Rows 0 and 1 are a class of two; rows 2 and 3 look apart, and may be each other or not."""
    assert published([0, 0, 1, 2], [{0}, {0}, {1, 2}, last]).verify().holds == holds


@st.composite
def releases(draw, most=6):
    """Values of rows, and for each row a set of values that holds its own."""
    rows = draw(st.integers(1, most))
    values = draw(st.lists(st.integers(0, most - 1), min_size=rows, max_size=rows))
    extra = st.sets(st.sampled_from(sorted(set(values))), max_size=most)
    return values, [{value} | draw(extra) for value in values]


def graph_of(values, cells):
    return [{j for j, cell in enumerate(cells) if value in cell} for value in values]


def perfect_matchings(graph):
    every = range(len(graph))
    return [p for p in permutations(every) if all(p[i] in graph[i] for i in every)]


def most_disjoint(matchings):
    """The largest number of matchings without a common pair."""
    best = 0
    for i, first in enumerate(matchings):
        rest = [m for m in matchings[i + 1 :] if all(a != b for a, b in zip(m, first, strict=True))]
        best = max(best, 1 + most_disjoint(rest))
    return best


@given(drawn=releases())
def test_each_person_fits_the_records_that_hold_their_value(drawn):
    graph, found = graph_of(*drawn), published(*drawn).coverage
    assert found.released().tolist() == [len(records) for records in graph]
    back = [sum(j in records for records in graph) for j in range(len(graph))]
    assert found.originals().tolist() == back


@given(drawn=releases())
def test_a_person_may_have_the_records_of_all_perfect_matchings(drawn):
    matchings = perfect_matchings(graph_of(*drawn))
    expected = [len({m[i] for m in matchings}) for i in range(len(drawn[0]))]
    assert published(*drawn).coverage.matchable().tolist() == expected


@given(drawn=releases(most=5))
def test_partners_are_as_many_as_matchings_without_a_common_pair(drawn):
    found = published(*drawn).coverage
    most = most_disjoint(perfect_matchings(graph_of(*drawn)))
    assert found.most_partners() == most
    for k in range(1, len(drawn[0]) + 2):
        assert found.short_of(k).any() == (k > most)


@given(drawn=releases(most=4), counts=st.lists(st.integers(1, 3), min_size=4, max_size=4))
def test_a_weighted_table_is_the_table_written_out(drawn, counts):
    values, cells = drawn
    counts = counts[: len(values)]
    rows = np.repeat(np.arange(len(values)), counts)
    short = published(values, cells, counts).coverage
    long = published([values[i] for i in rows], [cells[i] for i in rows]).coverage
    for ask in (Coverage.released, Coverage.originals, Coverage.matchable):
        assert ask(short)[rows].tolist() == ask(long).tolist()
    assert short.most_partners() == long.most_partners()


def test_records_left_out_are_nobodys_cover():
    release = published([0, 0, 1], [{0, 1}, {0, 1}, {0, 1}])
    assert release.coverage.released().tolist() == [3, 3, 3]
    hidden = replace(release, suppressed=np.array([False, False, True]))
    found = hidden.coverage.take(np.array([1, 0]))
    assert found.released().tolist() == [2, 2]
    assert found.originals().tolist() == [2, 2]
    assert found.most_partners() == 2


def test_pairs_that_fit_may_be_of_no_use():
    # person 0 fits both records, but person 1 fits record 1 alone
    found = published([0, 1], [{0}, {0, 1}]).coverage
    assert found.released().tolist() == [2, 1]
    assert found.matchable().tolist() == [1, 1]


def test_fitting_is_less_than_being_matched_and_that_less_than_being_dealt_out():
    # two knots of two, with pairs that fit from the first into the second only
    knots = published([0, 1, 2, 3], [{0, 1}, {0, 1}, {0, 1, 2, 3}, {0, 1, 2, 3}]).coverage
    assert knots.released().tolist() == [4, 4, 2, 2]
    assert knots.matchable().tolist() == [2, 2, 2, 2]
    # everybody may have two records, but only in turn: each by trading with person 0
    cells = [{0, 1, 2, 3}, {0, 1}, {0, 2}, {0, 3}]
    star = published([0, 1, 2, 3], cells).coverage
    assert star.matchable().tolist() == [4, 2, 2, 2]
    assert star.most_partners() == 1
    assert KConcealment(2).holds_for(star).all()
    assert KKAnonymity(2).holds_for(star).all()
    assert not FreeformAnonymity(2).holds_for(star).all()


def ages(labels, subsets, codes):
    column = Column.encode("age", [20, 30, 40, 50], "quasi")
    ends = np.array(subsets, dtype=np.int32)
    recoding = Recoding(column, np.array(codes), Subsets.ranges(4, ends[:, 0], ends[:, 1]), labels)
    return Release(Table((column,)), {"age": recoding}, FreeformAnonymity(2))


def test_a_value_published_for_a_wider_range_hides_nobody():
    exact = ages(("20", "30", "40", "50"), [(0, 3)] * 4, [0, 1, 2, 3])
    assert all(r.labelled() and r.covers() for r in exact.recodings.values())
    assert exact.coverage.released().tolist() == [1, 1, 1, 1]
    found = exact.verify()
    assert found.truthful
    assert (found.failing, found.failing_records) == (4, 4)
    assert found.levels == {"freeform-anonymity(k=2)": 1.0}


def test_a_value_published_for_several_rows_may_stand_for_theirs():
    shared = ages(("20", "40"), [(0, 3), (2, 3)], [0, 0, 1, 1])
    assert shared.coverage.released().tolist() == [2, 2, 2, 2]
    assert shared.verify()


def test_a_set_that_reads_like_a_value_is_a_set():
    data = pa.table({"q": ["a", "b", "{a, b}", "{a, b}"]})
    table = Table.from_arrow(data, {"q": "quasi"})
    ids = np.array([0, 0, 1, 1], dtype=np.int32)
    release = Release.of_groups(table, ids, 2, FreeformAnonymity(2))
    assert set(release.recodings["q"].labels) == {"{a, b}"}
    assert release.coverage.released().tolist() == [2, 2, 2, 2]


def test_hierarchy_groups_cover_their_members():
    tree = {"low": ["a", "b"], "high": ["c", "d"]}
    data = pa.table({"q": list("abcd")})
    table = Table.from_arrow(data, {"q": {"role": "quasi", "hierarchy": {"tree": tree}}})
    recoding = Recoding.at_level(table["q"], 1)
    assert Release(table, {"q": recoding}, KKAnonymity(2)).coverage.released().tolist() == [2] * 4


def test_blocks_give_what_the_whole_gives(monkeypatch):
    drawn = [0, 1, 2, 3, 1], [{0, 1}, {1, 2}, {2, 3}, {0, 3}, {1}]
    whole = published(*drawn).coverage
    monkeypatch.setattr(module, "_REPORT_PAIRS", 1)
    parts = published(*drawn).coverage
    assert parts.released().tolist() == whole.released().tolist()
    assert parts.matchable().tolist() == whole.matchable().tolist()


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_MAX_PAIRS", 3)
    found = published([0, 1, 2], [{0, 1, 2}] * 3).coverage  # one box: three pairs
    assert found.most_partners() == 3
    wider = published([0, 1, 2], [{0, 1}, {1, 2}, {0, 2}]).coverage
    with pytest.raises(InputError, match="6 pairs of people and records fit"):
        wider.matchable()


def test_more_partners_than_can_be_counted_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_MAX_FLOW", 5)
    with pytest.raises(InputError, match="6 partners are too many to assign"):
        published([0, 1, 2], [{0, 1, 2}] * 3).coverage.short_of(2)


@pytest.mark.parametrize("wide", [2, 12, 60])
def test_cutting_many_tuples_and_boxes_apart_loses_no_pair(wide):
    """Three columns, one of them of single values, one of scattered sets."""
    drawing = np.random.default_rng(wide)
    codes = drawing.integers(0, 60, size=(900, 3)).astype(np.int32)
    columns = [
        Column.encode(name, pa.array(codes[:, j]), "quasi", kind=kind)
        for j, (name, kind) in enumerate(zip("abc", ("numeric", "numeric", "nominal"), strict=True))
    ]
    groups = np.argsort(np.argsort(codes[:, 0] // wide, kind="stable"), kind="stable") // 3
    table = Table(tuple(columns))
    release = Release.of_groups(table, groups.astype(np.int32), 300, KKAnonymity(2))
    own = {c.name: c.codes for c in columns}
    inside = np.ones((900, 900), dtype=bool)
    for name, recoding in release.recodings.items():
        held = np.zeros((len(recoding.subsets), recoding.column.domain), dtype=bool)
        for entry in range(len(held)):
            held[entry, recoding.subsets.members(entry)] = True
        inside &= held[recoding.codes][:, own[name]].T  # (people, records)
    assert release.coverage.released().tolist() == inside.sum(axis=1).tolist()
    assert release.coverage.originals().tolist() == inside.sum(axis=0).tolist()
    indptr, indices = release.coverage.fits.edges
    for kind in range(0, len(indptr) - 1, 50):
        row = int(np.flatnonzero(release.coverage.tuples == kind)[0])
        boxes = np.unique(release.coverage.boxes[inside[row]])
        assert indices[indptr[kind] : indptr[kind + 1]].tolist() == boxes.tolist()
