"""The groups of a hierarchy stay nested, whatever is done to them."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from tests.examples import examples

from shoal import Column, Hierarchy
from shoal.web.project.grouping import EditError, Grouping
from shoal.web.project.hierarchies import HierarchyEditor

COUNTRIES = ["France", "Italy", "Japan", "Malta"]
REGIONS = Hierarchy.from_rows(
    [
        ("France", "West", "Europe", "*"),
        ("Italy", "South", "Europe", "*"),
        ("Malta", "South", "Europe", "*"),
        ("Japan", "East", "Asia", "*"),
    ]
)


def rows(grouping):
    return [row[1:-1] for row in grouping.to_hierarchy("data").rows()]


def test_a_hierarchy_comes_back_as_it_was():
    grouping = Grouping.of(REGIONS, COUNTRIES)
    assert sorted(grouping.to_hierarchy("declared").rows()) == sorted(REGIONS.rows())
    assert grouping.domain.own.all()


def test_values_that_a_hierarchy_lacks_are_not_grouped():
    grouping = Grouping.of(REGIONS, ["Chile", *COUNTRIES])
    assert grouping.ungrouped.tolist() == [0]
    assert grouping.to_hierarchy("data").rows()[0] == ("Chile", "Chile", "Chile", "*")


def test_values_that_only_the_hierarchy_has_are_kept_but_not_counted():
    alone = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*"), ("c", "c", "*")])
    grouping = Grouping.of(alone, ["a"])
    assert grouping.domain.own.tolist() == [True, False, False]
    assert not len(grouping.ungrouped)
    assert len(grouping.to_hierarchy("file")) == 3


def test_values_of_one_group_move_together_at_the_next_level():
    grouping = Grouping.of(REGIONS, COUNTRIES)
    assert grouping.extended([1], 2).tolist() == [1, 3]  # Italy and Malta share South
    assert rows(grouping.group([1], 2, "Sea")) == [
        ("West", "Europe"),
        ("South", "Sea"),
        ("East", "Asia"),
        ("South", "Sea"),
    ]


def test_a_new_group_stays_where_most_of_its_values_are():
    grouping = Grouping.of(REGIONS, COUNTRIES).group([0, 1, 2], 1, "Mixed")
    assert rows(grouping)[:3] == [("Mixed", "Europe")] * 3


def test_a_group_joined_by_name_keeps_its_place():
    grouping = Grouping.of(REGIONS, COUNTRIES).group([0, 1], 1, "East")
    assert rows(grouping) == [
        ("East", "Asia"),
        ("East", "Asia"),
        ("East", "Asia"),
        ("South", "Europe"),
    ]


def test_a_group_with_the_name_of_a_value_contains_that_value():
    plain = Grouping.of(Hierarchy.from_rows([(c, "*") for c in COUNTRIES]), COUNTRIES)
    grouping = plain.add_level(1).group([1], 1, "Malta")
    assert rows(grouping) == [("France",), ("Malta",), ("Japan",), ("Malta",)]
    assert grouping.ungrouped.tolist() == [0, 2]
    with pytest.raises(EditError, match="rename the group first"):
        grouping.ungroup([3], 1)
    assert rows(grouping.ungroup([1, 3], 1)) == [(c,) for c in COUNTRIES]


def test_ungrouped_values_follow_at_the_levels_above():
    grouping = Grouping.of(REGIONS, COUNTRIES).add_level(3).ungroup([3], 2).ungroup([3], 1)
    assert rows(grouping)[3] == ("Malta", "Malta", "Malta")
    assert rows(grouping)[1] == ("South", "South", "South")  # South left Europe first


def test_a_name_that_exists_is_refused_for_another_group():
    grouping = Grouping.of(REGIONS, COUNTRIES)
    with pytest.raises(EditError, match="already at this level"):
        grouping.rename(1, "South", "West")
    assert rows(grouping.rename(1, "South", "Sea"))[1] == ("Sea", "Europe")


@pytest.mark.parametrize("name", ["", "  ", "*"])
def test_a_group_needs_a_name_of_its_own(name):
    with pytest.raises(EditError):
        Grouping.of(REGIONS, COUNTRIES).group([0], 1, name)


def test_a_removed_level_leaves_the_other_labels():
    grouping = Grouping.of(REGIONS, COUNTRIES)
    assert rows(grouping.remove_level(1)) == [("Europe",), ("Europe",), ("Asia",), ("Europe",)]
    added = grouping.add_level(2)
    assert rows(added.remove_level(1)) == rows(grouping)  # level 2 had taken its labels


def test_a_removed_top_level_leaves_the_groups_below():
    assert rows(Grouping.of(REGIONS, COUNTRIES).remove_level(2))[3] == ("South",)


NAMES = st.sampled_from(["a", "b", "c", "A", "B", "x", "France"])
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["group", "ungroup", "rename", "add", "remove", "undo", "redo", "build"]),
        st.sets(st.integers(0, 6), min_size=1, max_size=5),
        st.integers(1, 4),
        NAMES,
        NAMES,
    ),
    max_size=25,
)


def apply(editor, edit):
    """Make one edit; return whether it changed anything."""
    what, picks, level, name, other = edit
    editor.clear_ticks()
    editor.tick(sorted(picks))
    if what == "group":
        editor.group(name, level)
    elif what == "ungroup":
        editor.ungroup(level)
    elif what == "rename":
        editor.rename(level, name, other)
    elif what == "add":
        editor.add_level(min(level, editor.height + 1))
    elif what == "remove":
        editor.remove_level(level)
    elif what == "build":
        editor.build({"mask": "right"} if level % 2 else {"suppression": True})
    else:
        getattr(editor, what)()


def picture(editor):
    """Everything that the present sheet says."""
    sheet = editor.sheet
    entries = tuple(tuple(each.tolist()) for each in sheet.grouping.entries)
    return entries, sheet.grouping.domain.values, sheet.grouping.root, sheet.origin, sheet.recipe


@given(EDITS)
@examples(150)
def test_any_edits_keep_levels_nested_and_can_be_undone_one_by_one(edits):
    editor = HierarchyEditor(Column.encode("code", ["a", "b", "c", "ab", "ba", "cc", "a", "x"]))
    expected, position = [picture(editor)], 0
    for edit in edits:
        try:
            apply(editor, edit)
        except EditError:
            assert picture(editor) == expected[position]  # a refused edit changes nothing
            continue
        if edit[0] == "undo":
            position = max(position - 1, 0)
        elif edit[0] == "redo":
            position = min(position + 1, len(expected) - 1)
        else:
            position += 1
            expected = [*expected[:position], picture(editor)]
        assert picture(editor) == expected[position]
        made = editor.hierarchy()  # refuses levels that are not nested
        assert made.height == editor.height + 1
        assert set(editor.values) <= set(made.values)
        assert Grouping.of(made, editor.values).ungrouped.tolist() == (
            editor.grouping.ungrouped.tolist()
        )
    while editor.undo_text:
        editor.undo()
    assert picture(editor) == expected[0]
    while editor.redo_text:
        editor.redo()
    assert picture(editor) == expected[-1]


@given(EDITS)
@examples(60)
def test_saved_groups_can_be_edited_again(edits):
    editor = HierarchyEditor(Column.encode("code", ["a", "b", "c", "ab", "ba", "cc", "a", "x"]))
    for edit in edits:
        try:
            apply(editor, edit)
        except EditError:
            continue
    reopened = Grouping.of(editor.hierarchy(), editor.values)
    assert reopened.to_hierarchy("data").rows() == editor.grouping.to_hierarchy("data").rows()
    assert all(
        np.array_equal(one.sizes(level)[one.labels[level]], two.sizes(level)[two.labels[level]])
        for one, two in [(reopened, editor.grouping)]
        for level in range(editor.height + 1)
    )
