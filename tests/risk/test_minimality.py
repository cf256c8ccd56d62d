from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.with_people import about

from shoal.privacy import AlphaKAnonymity, KAnonymity, KKAnonymity, LDiversity
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.risk import minimality
from shoal.risk.minimality import MAX_CUTS, cuts
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import Recoding
from shoal.table.table import Table

DIVERSE = KAnonymity(2) & LDiversity(2, "disease")
TOWNS = {"tree": {"north": ["aa", "ab", "ac"], "south": ["ba", "bb"]}}


@pytest.mark.parametrize(
    ("diseases", "held"),
    [
        ("yynnnnn", 1),  # the two with the first value are ill for sure, to who knows the method
        ("ynynnnn", 0),  # each part is diverse on its own
    ],
)
def test_the_example_of_the_paper(released, diseases, held):
    columns = {"q": [1, 1, 2, 2, 2, 2, 2], "disease": list(diseases)}
    found = minimality(released(columns, [0] * 7, DIVERSE))
    assert (found.k, found.guarded, found.classes) == (2, ("disease",), 1)
    assert (found.divisible, found.divisible_people) == (1, 7)
    assert (found.held, found.held_people, found.held_share) == (held, 7 * held, held)


@pytest.mark.parametrize(
    ("ages", "divisible"),
    [
        ([20, 20, 30, 30], 1),
        ([20, 20, 20, 30], 0),  # one would be alone
        ([20, 20, 20, 20], 0),  # nothing to cut
        ([20, 21, 30], 0),  # too few
        ([20, 21, 30, 31], 1),  # two and two, though no value is shown twice
    ],
)
def test_a_class_is_divisible_where_both_parts_hold_k(released, ages, divisible):
    found = minimality(
        released({"age": ages, "disease": list("aabb")[: len(ages)]}, [0] * len(ages))
    )
    assert (found.divisible, found.held) == (divisible, 0)


def test_without_a_model_on_sensitive_columns_nothing_is_held(released):
    found = minimality(released({"age": [1, 1, 2, 2], "disease": list("aabb")}, [0] * 4))
    assert (found.guarded, found.divisible, found.held) == ((), 1, 0)


def test_one_cut_that_keeps_the_model_frees_a_class(released):
    columns = {"age": [1, 1, 2, 2], "size": [1, 2, 1, 2], "disease": list("aabb")}
    assert minimality(released(columns, [0] * 4, DIVERSE)).held == 0  # by size
    columns["size"] = [1, 1, 2, 2]
    assert minimality(released(columns, [0] * 4, DIVERSE)).held == 1


def test_every_cut_of_a_column_is_tried(released):
    columns = {"age": [1, 1, 2, 2, 3, 3], "disease": list("aaabba")}
    # 1 alone is of one value; 1 and 2 together are diverse, and so is 3
    assert minimality(released(columns, [0] * 6, DIVERSE)).held == 0


def test_classes_that_hold_just_k_are_counted(released):
    columns = {"age": [1, 1, 2, 2, 2, 9], "disease": list("ababab")}
    found = minimality(released(columns, [0, 0, 1, 1, 1, -1], DIVERSE))
    assert (found.classes, found.least, found.people) == (2, 1, 5)


def test_a_hierarchy_is_cut_into_all_labels_of_the_next_level(released):
    towns = ["aa", "aa", "ab", "ab", "ba", "bb"]
    columns = {"town": towns, "disease": list("aabbab")}
    found = minimality(released(columns, [0, 0, 0, 0, 1, 1], DIVERSE, town={"hierarchy": TOWNS}))
    assert (found.divisible, found.held, found.held_people) == (1, 1, 4)
    # a third town with one person: no part may be that small
    columns = {"town": [*towns, "ac"], "disease": list("aabbaba")}
    ids = [0, 0, 0, 0, 1, 1, 0]
    assert minimality(released(columns, ids, DIVERSE, town={"hierarchy": TOWNS})).divisible == 0


def test_rows_count_as_often_as_they_stand_for(released):
    columns = {"age": [1, 2], "disease": ["a", "b"]}
    assert minimality(released(columns, [0, 0], DIVERSE, counts=[2, 1])).divisible == 0
    found = minimality(released(columns, [0, 0], DIVERSE, counts=[2, 2]))
    assert (found.held, found.held_people) == (1, 4)


def full_domain(diseases, level=1, **options):
    towns = ["aa", "aa", "ab", "ab", "ba", "ba", "bb", "bb"]
    data = pa.table({"town": towns, "disease": list(diseases)})
    spec = {"role": "quasi", "hierarchy": {"tree": {"n": ["aa", "ab"], "s": ["ba", "bb"]}}}
    table = Table.from_arrow(data, {"town": spec, "disease": "sensitive"})
    recodings = {"town": Recoding.at_level(table["town"], level)}
    return Release(table, recodings, DIVERSE, run=Run("flash", options), node={"town": level})


def test_where_a_node_is_chosen_for_all_rows_the_table_is_lowered_as_a_whole():
    # the south would be diverse town by town, and yet may not be finer than the north
    found = minimality(full_domain("aabbabab"))
    assert (found.divisible, found.held, found.held_people) == (2, 2, 8)
    assert minimality(full_domain("abababab")).held == 0


def test_records_that_the_method_may_leave_out_do_not_hold_the_table():
    assert minimality(full_domain("aabbabab", max_suppression=0.5)).held == 0
    assert minimality(full_domain("aabbabab", max_suppression=0.4)).held == 2


def test_a_table_at_its_finest_level_has_no_cut():
    found = minimality(full_domain("abababab", level=0))
    assert (found.divisible, found.held) == (0, 0)


def test_a_level_with_the_labels_of_the_one_above_is_passed_over():
    rows = [("a", "a", "x", "x", "*"), ("b", "b", "x", "x", "*"), ("c", "c", "y", "y", "*")]
    data = pa.table({"q": list("aabbcc"), "disease": list("aabbab")})
    spec = {"role": "quasi", "hierarchy": Hierarchy.from_rows(rows)}
    table = Table.from_arrow(data, {"q": spec, "disease": "sensitive"})
    release = Release(table, {"q": Recoding.at_level(table["q"], 3)}, DIVERSE, node={"q": 3})
    assert minimality(release).held == 1  # only the class of a and b is split by the next one


def test_releases_about_who_may_be_whom_have_no_classes_to_cut(released):
    columns = {"age": [1, 1, 2, 2], "disease": list("aabb")}
    release = replace(released(columns, [0] * 4), model=KKAnonymity(9) & LDiversity(2, "disease"))
    assert (minimality(release).divisible, minimality(release).held) == (0, 0)


def test_the_k_of_any_part_counts(released):
    model = AlphaKAnonymity(0.9, 3, "disease")
    columns = {"age": [1, 1, 2, 2], "disease": list("aabb")}
    found = minimality(released(columns, [0] * 4, model))
    assert (found.k, found.divisible) == (3, 0)


def test_nobody_released_has_no_classes(released):
    columns = {"age": [1, 2], "disease": list("ab")}
    found = minimality(released(columns, [-1, -1], DIVERSE))
    assert (found.classes, found.people, found.held_share) == (0, 0, 0.0)


def test_of_many_cuts_some_are_tried_evenly_spread(released):
    columns = {"age": list(range(1000)), "disease": ["a", "b"] * 500}
    release = released(columns, [0] * 1000, KAnonymity(100))
    found = list(cuts(release, 100))
    sizes = [int((cut.parts == 0).sum()) for cut in found]
    assert len(found) == MAX_CUTS
    assert sizes[0] == 100
    assert sizes == sorted(set(sizes))
    assert max(np.diff(sizes)) <= 800 / MAX_CUTS + 1
    assert 870 < sizes[-1] <= 900


row = st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from("abc"), st.integers(-1, 1))


@given(rows=st.lists(row, min_size=1, max_size=12), k=st.integers(2, 3))
def test_cuts_are_judged_as_by_hand(rows, k, released):
    present = sorted({r[3] for r in rows} - {-1})
    ids = [-1 if r[3] < 0 else present.index(r[3]) for r in rows]
    columns = {
        "x": [r[0] for r in rows],
        "y": [r[1] for r in rows],
        "disease": [r[2] for r in rows],
    }
    release = released(columns, ids, KAnonymity(k) & LDiversity(2, "disease"))
    looks = {}
    for place, number in enumerate(release.classes.ids.tolist()):
        if number >= 0:
            looks.setdefault(number, []).append(rows[place])
    divisible = held = 0
    for members in looks.values():
        fair = [
            (left, right)
            for axis in (0, 1)
            for limit in range(4)
            if len(left := [m for m in members if m[axis] <= limit]) >= k
            and len(right := [m for m in members if m[axis] > limit]) >= k
        ]
        diverse = any(all(len({m[2] for m in part}) >= 2 for part in cut) for cut in fair)
        divisible += bool(fair)
        held += bool(fair) and not diverse
    found = minimality(release)
    assert (found.divisible, found.held) == (divisible, held)


@pytest.mark.parametrize(
    ("person", "divisible"),
    [
        ("abcd", 1),  # two people on either side
        ("aabc", 0),  # one person on the left
        ("abab", 1),  # the same two people on both sides
        ("abcc", 0),
    ],
)
def test_parts_of_a_cut_hold_k_people(released, person, divisible):
    release = released({"age": [20, 20, 30, 30], "disease": list("aabb")}, [0] * 4)
    found = minimality(about(release, person))
    assert (found.divisible, found.people) == (divisible, len(set(person)))
    assert found.divisible_people == divisible * len(set(person))


def test_a_cut_keeps_k_households_too(released):
    release = released({"age": [20, 20, 30, 30], "disease": list("aabb")}, [0] * 4)
    assert minimality(about(release, "abcd", "hhij")).divisible == 0
    assert minimality(about(release, "abcd", "hihi")).divisible == 1


@given(
    ages=st.lists(st.integers(0, 4), min_size=2, max_size=9),
    person=st.lists(st.integers(0, 4), min_size=9, max_size=9),
)
@examples(60)
def test_cuts_in_order_are_those_that_leave_k_people_on_both_sides(released, ages, person):
    person = person[: len(ages)]
    release = about(released({"age": ages}, [0] * len(ages)), person)
    fair = 0
    for limit in sorted(set(ages)):
        left = {who for who, age in zip(person, ages, strict=True) if age <= limit}
        right = {who for who, age in zip(person, ages, strict=True) if age > limit}
        fair += len(left) >= 2 and len(right) >= 2
    assert len(list(cuts(release, 2))) == fair


def test_the_model_is_asked_about_people(released):
    """Both sides show two values; on the left both are one person's, who may show either."""
    columns = {"q": [1, 1, 1, 2, 2], "disease": list("xyxxy")}
    release = released(columns, [0] * 5, KAnonymity(2) & AlphaKAnonymity(0.8, 2, "disease"))
    assert minimality(release).held == 0  # at most two of three rows of a part show one value
    assert minimality(about(release, "aabcd")).held == 1  # both people on the left show x
