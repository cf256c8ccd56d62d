"""The screen Group values: a proposal for each column, edited with few actions."""

from __future__ import annotations

import asyncio
import base64
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("nicegui")

from nicegui import ui
from nicegui.testing import user_simulation
from nicegui.testing.user_interaction import UserInteraction
from tests.web.test_screens import until

from shoal import Column
from shoal.web.project.column_roles import ColumnInfo, Columns
from shoal.web.project.editors import Values
from shoal.web.project.opening import Source
from shoal.web.screens import layout
from shoal.web.screens.group_dialogs import FilePicker, GroupTable
from shoal.web.text import group as text

TOWNS = ["Bern", "Basel", "Chur", "Bern", "Genf", "Bern", "<b>Zug</b>", "Thun"]


@asynccontextmanager
async def opened(project):
    """A tab that shows the screen of a table with two quasi-identifiers."""
    names = ("town", "age")
    project.source = Source(Path("people.csv"), "people.csv", rows=len(TOWNS))
    project.columns = Columns(ColumnInfo(name, "quasi", "quasi") for name in names)
    project.refresh = lambda: None  # there is no file to count
    columns = (Column.encode("town", TOWNS), Column.encode("age", list(range(20, 28))))
    values = {column.name: Values.of(column) for column in columns}
    project.editors.add(values, project.columns.specs)

    def root():
        layout.register(project)

    async with user_simulation() as user:
        root()
        await user.open("/group")
        yield user


def simulate(project, steps):
    async def run():
        async with opened(project) as user:
            await steps(user)

    asyncio.run(run())


def table_of(user):
    (table,) = user.find(GroupTable).elements
    return table


def tick(user, *values, on=True):
    rows = [row["row"] for row in table_of(user).props["rows"] if row["value"] in values]
    user.find(GroupTable).trigger("tick", {"rows": rows, "on": on})


def press(user, name):
    """Click the button with exactly this name."""
    (button,) = [each for each in user.find(ui.button).elements if each.text == name]
    UserInteraction(user, {button}, name).click()


def column(user, name):
    """Open a column in the list."""
    buttons = [e for e in user.current_layout.descendants() if "s-column" in e.classes]
    (found,) = [b for b in buttons if any(getattr(c, "text", "") == name for c in b.descendants())]
    UserInteraction(user, {found}, name).click()


def labels(user):
    return {row["value"]: row["labels"] for row in table_of(user).props["rows"]}


def test_the_first_column_with_open_values_is_shown(project):
    async def steps(user):
        await user.should_see("6 values not grouped yet")
        await user.should_see("town")
        await user.should_see("Automatic proposal")
        assert set(labels(user)) == set(TOWNS)

    simulate(project, steps)


def test_ticked_values_are_grouped_and_undo_takes_it_back(project):
    async def steps(user):
        tick(user, "Bern", "Thun")
        user.find(text.NAME).type("Canton Bern")
        press(user, text.GROUP)
        await user.should_see("4 values not grouped yet")
        assert labels(user)["Bern"] == ["Canton Bern"]
        assert project.hierarchies["town"].rows()[1] == ("Basel", "Basel", "*")
        user.find(GroupTable).trigger("undo", {})
        await user.should_see("6 values not grouped yet")
        assert "town" not in project.hierarchies  # the proposal again
        user.find(GroupTable).trigger("redo", {})
        await user.should_see("4 values not grouped yet")

    simulate(project, steps)


def test_nothing_ticked_says_what_to_do(project):
    async def steps(user):
        user.find(text.NAME).type("North")
        press(user, text.GROUP)
        await user.should_see("Tick at least one value first.")

    simulate(project, steps)


def test_a_group_is_renamed_in_a_dialog(project):
    async def steps(user):
        tick(user, "Bern", "Thun")
        user.find(text.NAME).type("B")
        press(user, text.GROUP)
        await user.should_see("4 values not grouped yet")
        user.find(GroupTable).trigger("rename", {"level": 1, "label": "B"})
        await user.should_see(text.RENAME_TITLE)
        user.find(text.RENAME_LABEL).clear().type("Canton Bern")
        press(user, text.RENAME)
        await until(lambda: labels(user)["Thun"] == ["Canton Bern"])

    simulate(project, steps)


def test_groups_are_built_from_a_recipe(project):
    async def steps(user):
        column(user, "age")
        press(user, text.BUILD)
        await user.should_see(text.BUILD_WHY)
        user.find("Widths").clear().type("2, 4")
        press(user, text.BUILD_DO)
        await user.should_see("Built from a recipe: intervals of 2, 4")
        assert labels(user)["20"] == ["[20, 22[", "[20, 24["]
        assert project.trees["age"] == {"intervals": [2, 4]}

    simulate(project, steps)


def test_a_wrong_recipe_is_explained_and_changes_nothing(project):
    async def steps(user):
        column(user, "age")
        press(user, text.BUILD)
        await user.should_see(text.BUILD_WHY)
        user.find("Widths").clear().type("2, 3")
        press(user, text.BUILD_DO)
        await user.should_see("multiple")
        assert project.editors["age"].undo_text is None

    simulate(project, steps)


def test_an_import_shows_how_it_fits_before_it_replaces_anything(project):
    content = b"Bern;West;*\nThun;West;*\nLugano;South;*\n"

    async def steps(user):
        press(user, text.IMPORT)
        await user.should_see(text.IMPORT_TITLE)
        sent = {"name": "towns.csv", "content": base64.b64encode(content).decode()}
        user.find(FilePicker).trigger("picked", sent)
        await user.should_see("It has 2 of the 6 values in your file.")
        await user.should_see("It also has 1 value that your file does not have")
        assert project.editors["town"].height == 0
        press(user, text.IMPORT_DO)
        await user.should_see("4 values not grouped yet")
        assert labels(user)["Bern"] == ["West"]

    simulate(project, steps)


def test_a_file_that_is_no_hierarchy_is_refused_without_its_cells(project):
    async def steps(user):
        press(user, text.IMPORT)
        await user.should_see(text.IMPORT_TITLE)
        content = base64.b64encode(b"Canary;a;*\nCanary;b;*\n").decode()
        user.find(FilePicker).trigger("picked", {"name": "x.csv", "content": content})
        await user.should_see("listed more than once")
        await user.should_not_see("Canary")

    simulate(project, steps)


def test_values_are_found_by_text_and_by_missing_groups(project):
    async def steps(user):
        user.find(text.FILTER).type("b")
        await user.should_see("Page 1 of 1 (3 values)")
        assert set(labels(user)) == {"Basel", "Bern", "<b>Zug</b>"}

    simulate(project, steps)


def test_two_tabs_see_the_same_groups(project):
    async def steps(user):
        first = table_of(user)
        await user.open("/group")
        tick(user, "Bern", "Thun")
        user.find(text.NAME).type("Canton Bern")
        press(user, text.GROUP)
        await user.should_see("4 values not grouped yet")

        def shown():
            return {row["value"]: row["labels"] for row in first.props["rows"]}

        await until(lambda: shown()["Bern"] == ["Canton Bern"])

    simulate(project, steps)
