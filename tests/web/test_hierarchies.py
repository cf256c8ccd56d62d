"""The hierarchy editor: pages, imports, recipes, and coverage."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import Column, Hierarchy, InputError
from shoal.web.project.editors import BY_NAME, read_outline, recipe_of, suitable, texts_of
from shoal.web.project.grouping import EditError
from shoal.web.project.hierarchies import HierarchyEditor

TOWNS = ["Bern", "Basel", "Chur", "Bern", "Genf", "Bern", None]


def towns():
    return HierarchyEditor(Column.encode("town", TOWNS))


def test_the_editor_begins_with_the_automatic_proposal():
    editor = HierarchyEditor(Column.encode("age", list(range(20, 80))))
    assert editor.sheet.recipe == {"intervals": [5, 10, 20, 40]}
    assert editor.height == 4
    assert editor.ungrouped_text == "every value is grouped"
    assert editor.hierarchy().rows()[0] == (
        "20",
        "[20, 25[",
        "[20, 30[",
        "[20, 40[",
        "[0, 40[",
        "*",
    )


def test_values_without_a_group_are_counted_all_the_time():
    editor = towns()
    assert editor.ungrouped_text == "4 values not grouped yet"
    editor.add_level()
    editor.tick([0, 1])
    editor.group("North", 1)
    assert editor.ungrouped_text == "2 values not grouped yet"
    editor.undo()
    assert editor.ungrouped_text == "4 values not grouped yet"


def test_levels_say_what_they_do_to_the_rows():
    editor = towns()
    editor.add_level()
    editor.tick([0, 2])  # Basel, Chur
    editor.group("Other", 1)
    values, first = editor.levels()
    assert (values.groups, values.smallest) == (4, 1)
    assert (first.groups, first.smallest, first.ungrouped) == (3, 1, 2)
    assert ("Other", 2, 2) in editor.groups(1)


def test_pages_filter_and_order():
    editor = towns()
    assert [row.value for row in editor.page(order="rows").rows] == [
        "Bern",
        "Basel",
        "Chur",
        "Genf",
    ]
    assert [row.value for row in editor.page(text="e", size=2).rows] == ["Basel", "Bern"]
    assert editor.page(9, text="e", size=2).number == 1
    editor.add_level()
    editor.tick([0, 3])
    editor.group("Rhine", 1)
    assert [row.value for row in editor.page(text="rhin").rows] == ["Basel", "Genf"]
    assert [row.value for row in editor.page(only_ungrouped=True).rows] == ["Bern", "Chur"]
    assert [row.value for row in editor.page(order="group").rows][:2] == ["Basel", "Genf"]


def test_all_values_of_a_filter_can_be_ticked_at_once():
    editor = towns()
    assert editor.tick_found("b") == 2
    assert np.flatnonzero(editor.ticked).tolist() == [0, 1]


def test_nothing_ticked_is_refused():
    editor = towns()
    editor.add_level()
    with pytest.raises(EditError, match="tick at least one value"):
        editor.group("North", 1)


def test_an_import_is_checked_before_it_replaces_anything():
    editor = towns()
    imported = Hierarchy.from_rows(
        [("Bern", "West", "*"), ("Genf", "West", "*"), ("Zug", "East", "*")], origin="file"
    )
    coverage = editor.coverage(imported)
    assert (coverage.covered, coverage.values, coverage.further) == (2, 4, 1)
    assert coverage.missing == ("Basel", "Chur")
    assert not coverage.complete
    assert editor.height == 0
    editor.import_groups(imported)
    assert editor.ungrouped_text == "2 values not grouped yet"
    assert editor.sheet.origin == "data"  # two of its values come from the table
    editor.undo()
    assert editor.height == 0


def test_a_complete_import_keeps_its_origin_and_its_other_values():
    editor = towns()
    names = ["Basel", "Bern", "Chur", "Genf", "Zug"]
    editor.import_groups(Hierarchy.from_rows([(n, n[0], "*") for n in names], origin="file"))
    assert editor.sheet.origin == "file"
    assert len(editor.hierarchy()) == 5
    assert editor.page(text="Zug").rows[0].own is False
    column = Column.encode("town", TOWNS)
    assert editor.hierarchy().aligned(column).height == 2


def test_an_imported_file_can_be_edited_saved_and_edited_again(tmp_path):
    editor = towns()
    names = ["Basel", "Bern", "Chur", "Genf"]
    Hierarchy.from_rows([(n, n[0], "*") for n in names]).write(tmp_path / "towns.csv")
    editor.import_groups(Hierarchy.read(tmp_path / "towns.csv"))
    editor.rename(1, "B", "Both")
    editor.hierarchy().write(tmp_path / "edited.csv")
    again = towns()
    again.import_groups(Hierarchy.read(tmp_path / "edited.csv"))
    assert again.hierarchy().rows() == editor.hierarchy().rows()
    again.tick([2])
    again.group("Both", 1)
    assert ("Both", 3, 5) in again.groups(1)


def test_an_edit_makes_a_recipe_a_list_of_groups_and_undo_brings_it_back():
    editor = HierarchyEditor(Column.encode("age", list(range(20, 80))))
    editor.rename(1, "[20, 25[", "young")
    assert editor.sheet.recipe is None
    assert editor.sheet.origin == "data"
    assert editor.hierarchy().rows()[0][1] == "young"
    editor.undo()
    assert editor.sheet.recipe == {"intervals": [5, 10, 20, 40]}
    assert editor.hierarchy().levels[1].bounds is not None


def test_a_recipe_that_does_not_fit_changes_nothing():
    editor = towns()
    with pytest.raises(InputError):
        editor.build({"intervals": [5]})
    assert editor.undo_text is None


@pytest.mark.parametrize(
    ("name", "texts", "recipe"),
    [
        (
            "intervals",
            {"widths": "5, 10 20", "origin": "3"},
            {"intervals": [5, 10, 20], "origin": 3},
        ),
        ("intervals", {"widths": "0.5;1"}, {"intervals": [0.5, 1]}),
        ("dates", {"units": "month, year"}, {"dates": ["month", "year"]}),
        ("mask", {"side": "left", "keep": "3"}, {"mask": "left", "keep": 3}),
        ("quantiles", {"groups": "8, 2"}, {"quantiles": [8, 2]}),
        ("suppression", {}, {"suppression": True}),
    ],
)
def test_forms_state_recipes(name, texts, recipe):
    assert recipe_of(BY_NAME[name], texts) == recipe


def test_forms_are_filled_in_from_recipes():
    for form in BY_NAME.values():
        if form.name not in ("tree", "suppression"):
            texts = {field.name: field.default for field in form.fields}
            filled = texts_of(recipe_of(form, texts))
            assert filled is not None
            assert recipe_of(form, filled[1]) == recipe_of(form, texts)


def test_empty_fields_are_asked_for():
    with pytest.raises(EditError, match="Widths"):
        recipe_of(BY_NAME["intervals"], {"widths": " "})


def test_forms_suit_the_values():
    dates = Column.encode("day", np.array(["2024-01-01", "2024-02-01"], dtype="datetime64[D]"))
    assert "dates" in [form.name for form in suitable(dates)]
    assert "intervals" not in [form.name for form in suitable(dates)]
    assert "intervals" in [form.name for form in suitable(Column.encode("age", [1, 2]))]


def test_an_outline_makes_groups():
    editor = towns()
    outline = "West\n  Bern\n  Genf\nEast\n\tBasel\n\tChur"
    editor.build(recipe_of(BY_NAME["tree"], {"nested": outline}))
    assert editor.ungrouped_text == "every value is grouped"
    assert [group[0] for group in editor.groups(1)] == ["East", "West"]


def test_an_outline_without_all_values_leaves_the_others_ungrouped():
    editor = towns()
    editor.build({"tree": read_outline("West\n  Bern\n  Genf")})
    assert editor.ungrouped_text == "2 values not grouped yet"
    assert editor.hierarchy().aligned(editor.column).height == 2
    assert editor.sheet.origin == "data"


@pytest.mark.parametrize("text", ["", "  a\nb", "a\n    b\n  c"])
def test_an_outline_with_wrong_indents_is_refused(text):
    with pytest.raises(EditError):
        read_outline(text)


def test_many_edits_of_many_values_take_little_memory():
    editor = HierarchyEditor(Column.encode("code", [f"v{n:05}" for n in range(50_000)]))
    editor.add_level()
    for n in range(100):
        editor.tick([n, n + 1])
        editor.group(f"g{n}", 1)
    cells = [step.cells for step in editor._history._done]
    stored = sum(c.rows.nbytes + c.old.nbytes + c.new.nbytes for s in cells for c in s or ())
    assert stored < 20_000
    while editor.undo_text:
        editor.undo()
    assert editor.sheet.made == "automatic"
