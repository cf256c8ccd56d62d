"""Cells to features: the study's worked example, and a count cell by cell."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.strategies import freeform, releases

import shoal
from shoal import Column, KAnonymity, Recoding, Release, Table
from shoal.table.subsets import Subsets
from shoal.utility import ENCODINGS, features
from shoal.utility.encodings import BINS, Features, Scale


def cells(column, *members):
    """A release column: each row one of these sets of codes."""
    indptr = np.cumsum([0, *map(len, members)])
    flat = np.array([code for each in members for code in sorted(each)], np.int32)
    subsets = Subsets.of_members(column.domain, indptr, flat)
    labels = tuple(f"entry {i}" for i in range(len(members)))
    return Recoding(column, np.arange(len(members), dtype=np.int32), subsets, labels)


@pytest.mark.parametrize("kind", ["numeric", "nominal"])
def test_worked_example_of_the_study(kind):
    """Figure 3.5 of de Spoelberch (2020)."""
    gender = Column.encode("gender", [0, 0, 0, 1], kind=kind)
    age = Column.encode("age", [3, 1, 0, 1, 2], kind=kind).take([0, 1, 2, 3])
    recodings = {
        "gender": cells(gender, {0}, {0}, {0, 1}, {0, 1}),
        "age": cells(age, {1, 3}, {1, 3}, {0, 1}, {0, 1}),
    }
    release = Release(Table((gender, age)), recodings, KAnonymity(2))
    assert features(release).tolist() == [
        [1, 0, 0, 1, 0, 1],
        [1, 0, 0, 1, 0, 1],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0, 0],
    ]
    half = 1 / 2
    assert features(release, "weights")[2].tolist() == [half, half, half, half, 0, 0]
    if kind == "numeric":  # {1, 3} lies around 2 of 0 … 3, two thirds wide
        assert features(release, "midpoints")[0].tolist() == pytest.approx([0, 0, 2 / 3, 2 / 3])


def published(release):
    hidden = release.suppressed
    rows = range(len(release.original)) if hidden is None else np.flatnonzero(~hidden)
    for row in rows:
        for cell in release.recodings.values():
            yield cell.column, set(cell.subsets.members(int(cell.codes[row])).tolist())


@given(releases | freeform())
def test_flags_and_weights_are_those_of_the_members_of_each_cell(release):
    # no column has more values than there are bins, so that each value has its flag
    listed = [(code in i, len(i)) for c, i in published(release) for code in range(c.domain)]
    assert features(release).ravel().tolist() == [float(inside) for inside, _ in listed]
    shares = [inside / size for inside, size in listed]
    assert features(release, "weights").ravel() == pytest.approx(np.array(shares), abs=1e-6)


@given(releases | freeform(), st.sampled_from(list(ENCODINGS)))
def test_rows_that_are_left_out_have_no_features(release, encoding):
    hidden = 0 if release.suppressed is None else int(release.suppressed.sum())
    found = features(release, encoding)
    assert len(found) == len(release.original) - hidden
    assert np.isfinite(found).all()


def ages(*values, **options):
    return Column.encode("age", list(values), **options)


def bins(column, recoding, encoding="flags"):
    scale = Scale.fit(recoding, np.arange(len(recoding.codes)), encoding)
    return scale.of_cells(recoding)


def test_numbers_of_many_values_are_binned_by_range():
    column = ages(*range(101))  # bins of 5, the last with 100 in it
    found = bins(column, Recoding.identity(column))
    assert found.shape == (101, BINS)
    assert found.argmax(axis=1).tolist() == [min(age // 5, 19) for age in range(101)]
    ranges = cells(column, set(range(7, 21)), {0}, {100}, {3, 99}, set(range(5)))
    touched = [np.flatnonzero(row).tolist() for row in bins(column, ranges)]
    assert touched == [[1, 2, 3, 4], [0], [19], [0, 19], [0]]


def test_a_bin_that_a_published_range_does_not_reach_into_is_not_touched():
    column = ages(*range(101), hierarchy={"intervals": [10]})
    tens = Recoding.at_level(column, 1)
    touched = [np.flatnonzero(row).tolist() for row in bins(column, tens)]
    assert touched[:2] == [[0, 1], [2, 3]]  # [0, 10[ ends where the third bin begins


def test_bins_follow_stated_bounds_or_the_training_rows():
    column = ages(*range(50, 100), bounds=(0, 100))
    scale = Scale.fit(Recoding.identity(column), np.arange(50), "flags")
    assert (scale.low, scale.high) == (0, 100)
    column = ages(*range(50, 100))
    scale = Scale.fit(Recoding.identity(column), np.arange(10, 20), "flags")
    assert (scale.low, scale.high) == (60, 69)
    assert scale.of_values(column).argmax(axis=1)[[0, 49]].tolist() == [0, BINS - 1]


def test_a_hidden_cell_may_be_anything():
    column = Column.encode("age", [*range(50), None])
    hidden = Recoding.suppressed(column)
    assert bins(column, hidden).tolist() == [[1] * (BINS + 1)]
    assert bins(column, hidden, "weights").sum() == pytest.approx(1)
    middle, width, missing = bins(column, hidden, "midpoints")[0].tolist()
    assert (middle, width, missing) == pytest.approx((0.5, 1, 1 / 51))


def test_a_missing_value_is_a_value_of_its_own():
    column = Column.encode("age", [*range(50), None])
    mixed = cells(column, {3, 50}, {50}, {7})
    flags = bins(column, mixed)
    assert flags[:, -1].tolist() == [1, 1, 0]
    assert flags[:, :-1].sum(axis=1).tolist() == [1, 0, 1]
    assert bins(column, mixed, "weights")[0].max() == 0.5
    assert bins(column, mixed, "midpoints")[:, -1].tolist() == [0.5, 1, 0]


def test_values_that_a_shuffled_tree_joins_keep_their_own_flags():
    column = ages(*range(101))
    tree = column.with_hierarchy(shoal.hierarchies.random(column, seed=1, ordered=False))
    top = Recoding.at_level(tree, tree.hierarchy.height - 1)
    for entry, row in enumerate(bins(tree, top)):
        members = top.subsets.members(entry)
        least = {min(int(age) // 5, 19) for age in members}
        assert least <= set(np.flatnonzero(row).tolist())
    assert (bins(tree, top).sum(axis=1) < BINS).any() or len(top.labels) < 4


def test_many_names_share_flags_with_their_neighbours():
    column = Column.encode("town", [f"{i:04}" for i in range(1000)])
    found = bins(column, Recoding.identity(column))
    assert found.shape == (1000, 256)
    assert (np.diff(found.argmax(axis=1)) >= 0).all()
    assert set(found.sum(axis=0).tolist()) <= {3, 4}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("values", [["a", "b", None, "c"], [1, 2, None, 4], [*range(30), None]])
def test_raw_values_are_what_cells_of_one_value_are(encoding, values):
    column = Column.encode("x", values)
    same = Recoding.identity(column)
    scale = Scale.fit(same, np.arange(len(column)), encoding)
    assert scale.of_values(column).tolist() == scale.of_cells(same).tolist()


def test_values_that_the_original_does_not_have():
    column = Column.encode("town", ["a", "b"])
    scale = Scale.fit(Recoding.identity(column), np.arange(2), "weights")
    other = Column.encode("town", ["b", "z", None], role="insensitive")
    assert scale.of_values(other).tolist() == [[0, 1], [0, 0], [0, 0]]
    numbers = ages(*range(100))
    scale = Scale.fit(Recoding.identity(numbers), np.arange(100), "midpoints")
    other = Column.encode("age", [49.5, 198.0, None], role="insensitive")
    assert scale.of_values(other).ravel().tolist() == pytest.approx([0.5, 0, 2, 0, 0.5, 1])


def test_features_that_do_not_differ_are_left_out():
    column = Column.encode("town", ["a", "b", "a", "c"])
    found = Features.fit([Recoding.identity(column)], np.array([0, 1, 2]), "flags")
    assert found.train.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert found.of_raw([column], np.array([3])).tolist() == [[0, 0]]


def test_an_unknown_encoding_is_refused():
    table = Table.from_arrow(pa.table({"a": [1, 1]}), {"a": "quasi"})
    release = shoal.anonymize(table, KAnonymity(2))
    with pytest.raises(shoal.InputError, match="one of flags, weights, midpoints"):
        features(release, "one-hot")
