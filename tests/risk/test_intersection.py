from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.strategies import tables
from tests.risk import naive
from tests.risk.with_people import grouped_people

import shoal
from shoal.errors import InputError
from shoal.metrics import ncp_by_attribute
from shoal.privacy import KAnonymity, LDiversity
from shoal.release.release import Release
from shoal.risk import Crowds, intersect, intersect_classes, overlay
from shoal.risk.intersection import overlaps
from shoal.table.classes import Classes
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets
from shoal.table.table import Table

GRID = {"x": [1, 1, 2, 2], "y": [1, 2, 1, 2], "disease": list("abba")}


@pytest.fixture
def crossed(released):
    """Two releases of a square of four people: one knows x, the other y."""
    return released(GRID, [0, 0, 1, 1]), released(GRID, [0, 1, 0, 1])


def test_two_weightings_together_single_everybody_out(crossed):
    found = intersect(*crossed)
    for view in found.releases:
        assert (view.people, view.classes, view.alike.fewest, view.rows.fewest) == (4, 2, 2, 2)
        assert (view.alike.below, view.alike.alone, view.loss) == (0, 0, 0.5)
    assert found.k == 2
    assert found.together.classes == 4
    for crowds in (found.together.alike, found.together.rows, found.together.originals):
        assert (crowds.fewest, crowds.mean, crowds.below, crowds.alone) == (1, 1.0, 4, 4)
    assert (found.together.loss, found.finer) == (0.0, 1.0)
    assert found.releases[0].losses == {"x": 0.0, "y": 1.0}


def test_the_combined_table_shows_what_a_reader_of_both_has(crossed):
    combined = intersect(*crossed).combined
    assert combined.to_arrow()["x"].to_pylist() == [1, 1, 2, 2]
    assert combined.to_arrow()["y"].to_pylist() == [1, 2, 1, 2]
    assert not combined.verify()  # the first one's k no longer holds
    assert overlay([crossed[0], crossed[0]]).verify()


def test_a_release_tells_nothing_more_beside_itself(crossed):
    found = intersect(crossed[0], crossed[0], crossed[0])
    assert found.together == found.releases[0]
    assert found.finer == 0.0


def test_sensitive_values_become_certain_with_and_without_linked_rows(released):
    columns = {"x": [1, 2, 3, 4, 5, 6], "disease": list("abcabc")}
    one = released(columns, [0, 0, 1, 1, 2, 2])
    two = released(columns, [0, 1, 0, 1, 2, 2])
    [found] = intersect(one, two).sensitive
    # a b | c a | b c  and  a c | b a | b c: those of rows 1 and 4 share one value
    assert (found.column, found.alone) == ("disease", (0, 0))
    assert (found.linked, found.unlinked) == (4, 2)


def test_classes_may_share_more_values_than_linked_rows(released):
    columns = {"x": [1, 2, 3, 4], "disease": list("abab")}
    one = released(columns, [0, 0, 1, 1])
    two = released(columns, [0, 1, 1, 0])
    [found] = intersect(one, two).sensitive
    assert (found.linked, found.unlinked) == (4, 0)


def test_a_person_left_out_of_one_release_is_told_by_the_other(released):
    columns = {"x": [1, 2, 3, 4], "disease": list("aabb")}
    one = released(columns, [0, 0, -1, -1])
    two = released(columns, [-1, 0, 0, -1])
    found = intersect(one, two)
    assert [view.people for view in found.releases] == [2, 2]
    assert found.together.people == 3  # the last is in neither
    assert found.together.alike.alone == 3
    # [1, 2], 2, [2, 3]: the second fits all rows, the others one each beside their own
    assert found.together.rows.fewest == 1
    assert found.combined.to_arrow()["x"].to_pylist() == ["[1, 2]", "2", "[2, 3]"]
    [values] = found.sensitive
    assert (values.alone, values.linked, values.unlinked) == ((2, 0), 3, 2)


def test_k_is_the_least_that_is_claimed_or_kept(crossed):
    one, two = crossed
    assert intersect(one, replace(two, model=KAnonymity(3))).k == 2
    assert intersect(*(replace(r, model=KAnonymity(3)) for r in crossed)).k == 3
    diverse = LDiversity(2, "disease")  # claims no k: the classes have 2
    assert intersect(replace(one, model=diverse), replace(two, model=KAnonymity(3))).k == 2


def test_k_may_be_stated(crossed):
    assert intersect(*crossed, k=1).together.rows.below == 0
    assert intersect(*crossed, k=5).releases[0].rows.below == 4


def test_representatives_say_no_more_than_their_text():
    table = Table.from_arrow(pa.table({"x": [1, 2, 3, 4, 5, 6]}), {"x": "quasi"})
    one, two = (
        Release.of_groups(table, np.array(ids, np.int32), 2, KAnonymity(2), summary)
        for ids, summary in (([0, 1, 0, 1, 0, 1], "representative"), ([0, 0, 0, 1, 1, 1], "range"))
    )
    found = intersect(one, two)
    assert found.combined.to_arrow()["x"].to_pylist() == [
        *("{1, 3}", "2", "{1, 3}"),
        *("{4, 6}", "5", "{4, 6}"),
    ]
    assert found.together.originals.fewest == 1


def test_missing_alone_has_lost_nothing():
    table = Table.from_arrow(pa.table({"x": [20, 30, None, None]}), {"x": "quasi"})
    one, two = (
        Release.of_groups(table, np.array(ids, np.int32), 2, KAnonymity(2))
        for ids in ([0, 0, 1, 1], [0, 1, 0, 1])
    )
    found = intersect(one, two)
    assert [view.loss for view in found.releases] == [0.5, 1.0]
    assert found.together.loss == 0.0


def test_weighted_tables_count_people(released):
    columns = {"x": [1, 2, 3], "disease": list("abb")}
    one = released(columns, [0, 0, 1], counts=[3, 2, 2])
    two = released(columns, [0, 1, 1], counts=[3, 2, 2])
    found = intersect(one, two)
    assert (found.k, found.together.people) == (2, 7)
    assert found.together.alike.mean == pytest.approx((9 + 4 + 4) / 7)
    assert found.sensitive[0].linked == 7


def test_different_tables_and_single_releases_are_refused(released, crossed):
    with pytest.raises(InputError, match="at least two"):
        intersect(crossed[0])
    other = released({**GRID, "x": [2, 1, 1, 2]}, [0, 0, 1, 1])
    with pytest.raises(InputError, match="releases 1 and 2 are not from the same table"):
        intersect(crossed[0], other)
    with pytest.raises(InputError, match="releases 1 and 2 are not from the same table"):
        intersect(crossed[0], released({"x": [1, 1, 2, 2]}, [0, 0, 1, 1]))


def test_a_release_that_is_not_true_is_refused(crossed):
    recoding = crossed[0].recodings["x"]
    turned = replace(recoding, codes=recoding.codes[::-1])
    liar = replace(crossed[0], recodings={**crossed[0].recodings, "x": turned})
    with pytest.raises(InputError, match=r"release 2 does not cover .* column 'x'"):
        intersect(crossed[0], liar)


def test_weights_of_the_schema_do_not_count(released):
    heavy = {"x": {"weight": 9}}
    one, two = released(GRID, [0, 0, 1, 1], **heavy), released(GRID, [0, 1, 0, 1])
    assert [view.loss for view in intersect(one, two).releases] == [0.5, 0.5]


def test_classes_alone_tell_how_many_rows_look_alike_in_all(crossed):
    found = intersect_classes([release.classes for release in crossed])
    whole = intersect(*crossed)
    assert found.together.alike == whole.together.alike
    assert found.sensitive == whole.sensitive
    assert (found.finer, found.together.rows, found.combined) == (None, None, None)
    with pytest.raises(InputError, match="at least two"):
        intersect_classes([crossed[0].classes])


def test_nobody_released_anywhere(released):
    nothing = released(GRID, [-1] * 4)
    found = intersect(nothing, nothing)
    assert (found.together.people, found.together.alike.fewest, found.finer) == (0, 0, 0.0)


def test_no_value_is_shown(released):
    secrets = {"x": ["quokka", "wombat"] * 2, "disease": ["numbat", "bilby"] * 2}
    found = intersect(released(secrets, [0, 0, 1, 1]), released(secrets, [0, 1, 1, 0]))
    shown = f"{found!r} {found.to_dict()}"
    assert not [word for words in secrets.values() for word in words if word in shown]


def test_mondrian_with_two_weightings_is_finer_together():
    table = shoal.datasets.patients(300, seed=3)
    heavy = [
        table.with_column(replace(table[name], weight=100.0)) for name in ("birth_date", "sex")
    ]
    one, two = (shoal.anonymize(t, KAnonymity(5), "mondrian", hierarchies=False) for t in heavy)
    found = intersect(one, two)
    assert found.finer > 0
    assert found.together.rows.below > 0
    assert all(view.rows.below == 0 for view in found.releases)


subset = st.sets(st.integers(0, 9), min_size=1)


@given(st.lists(st.tuples(subset, subset, st.integers(0, 9)), max_size=8))
def test_overlaps_are_intersections_of_sets(pairs):
    sides = [[one | {own}, other | {own}] for one, other, own in pairs]
    made = []
    for side in (0, 1):
        members = [sorted(pair[side]) for pair in sides]
        indptr = np.cumsum([0, *map(len, members)])
        flat = np.array([code for codes in members for code in codes], dtype=np.int32)
        made.append(Subsets.of_members(10, indptr, flat))
    found = overlaps(*made)
    expected = [sorted(one & other) for one, other in sides]
    assert [found.members(i).tolist() for i in range(len(found))] == expected
    if pairs:  # runs do not touch: the same subset is written in one way
        flat = np.array([code for codes in expected for code in codes], dtype=np.int32)
        again = Subsets.of_members(10, np.cumsum([0, *map(len, expected)]), flat)
        assert found.equal(again).all()


@st.composite
def several(draw):
    """Two or three releases of one table, every column grouped in its own way in each."""
    table = draw(tables(most=8))
    made = []
    for _ in range(draw(st.integers(2, 3))):
        recodings = {}
        for column in table.quasi_columns:
            drawn = draw(st.lists(st.integers(0, 2), min_size=len(table), max_size=len(table)))
            used = sorted(set(drawn))
            ids = np.array([used.index(i) for i in drawn], dtype=np.int32)
            summary, trees = draw(st.sampled_from(["range", "set"])), draw(st.booleans())
            recodings[column.name] = Recoding.of_groups(
                column, ids, len(used), summary, use_hierarchy=trees
            )
        hidden = np.array(draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
        made.append(Release(table, recodings, KAnonymity(2), hidden if hidden.any() else None))
    return made


@given(several())
def test_releases_are_laid_over_each_other_as_by_hand(releases):
    found = intersect(*releases, k=3)
    table, every = releases[0].original, []
    for row in range(len(table)):
        looks = tuple(naive.look(release, row) for release in releases)
        if any(look is not None for look in looks):
            boxes = [naive.cells(release, row) for release in releases]
            box = {name: set.intersection(*(b[name] for b in boxes)) for name in table.quasi}
            every += [(row, looks, box)] * (1 if table.counts is None else int(table.counts[row]))
    alike = [sum(o[1] == one[1] for o in every) for one in every]
    rows = [sum(naive.fits(o[2], table, one[0]) for o in every) for one in every]
    originals = [sum(naive.fits(one[2], table, o[0]) for o in every) for one in every]
    for crowds, sizes in (
        (found.together.alike, alike),
        (found.together.rows, rows),
        (found.together.originals, originals),
    ):
        assert crowds.fewest == min(sizes, default=0)
        assert crowds.mean == pytest.approx(sum(sizes) / max(len(sizes), 1))
        assert crowds.below == sum(size < 3 for size in sizes)
        assert crowds.alone == sum(size == 1 for size in sizes)
    assert (found.together.people, found.together.classes) == (
        len(every),
        len({e[1] for e in every}),
    )
    assert found.sensitive[0].unlinked == unlinked(releases, every)


def unlinked(releases, every):
    """Count the people whose classes, where they have one, share a single value."""
    table, found = releases[0].original, 0
    for _, looks, _ in every:
        shown = [
            {int(table["ill"].codes[o[0]]) for o in every if o[1][place] == look}
            for place, look in enumerate(looks)
            if look is not None
        ]
        found += len(set.intersection(*shown)) == 1
    return found


@given(several())
def test_together_no_column_loses_more_than_in_the_finest_release(releases):
    found = intersect(*releases)
    for name, loss in found.together.losses.items():
        for release in releases:
            assert loss <= ncp_by_attribute(release)[name] + 1e-9


def test_people_hide_among_people_in_every_release():
    """Rows 0 and 1 are one person's; she is alone in class 0 of the second release."""
    first = grouped_people("aabc", [0, 0, 0, 0], disease=list("xxyy"))
    table = first.original
    found = intersect_classes(
        [first.classes, Classes.of(table, np.array([0, 0, 1, 1], dtype=np.int32))], k=2
    )
    assert [view.people for view in found.releases] == [3, 3]
    assert (found.together.people, found.together.classes) == (3, 2)
    assert found.together.alike == Crowds(fewest=1, mean=(1 + 2 + 2) / 3, below=1, alone=1)
    assert found.sensitive[0].linked == 3
    assert found.sensitive[0].unlinked == 3
    assert intersect(first, first, k=2).together.rows == Crowds(3, 3.0, 0, 0)
