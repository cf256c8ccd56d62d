"""Text of the screen Group values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.support.wording import counted

TITLE = "Group values"
LEAD = (
    "People blend in when they share values. Each column below has groups that make its values "
    "coarser, level by level. A proposal is filled in; change it where you know better."
)
COLUMNS = "Columns"
COLUMN = "Column"
LOADING = "Reading the values of this column …"
NO_VALUES = "This column has no values to group."
FAILED = "The values of this column cannot be read."
UNDO = "Undo"
REDO = "Redo"
AUTOMATIC = "Use the automatic groups"
BUILD = "Build groups"
IMPORT = "Import"
EXPORT = "Export"
FILTER = "Find a value or a group"
ONLY_UNGROUPED = "Only values without a group"
ORDER = "Order"
ORDERS = {"value": "By value", "rows": "Most rows first", "group": "By group"}
TICK_FOUND = "Tick all found"
CLEAR = "Clear ticks"
NAME = "Name of the group"
NAME_HINT = "for example: Europe"
LEVEL = "Level"
GROUP = "Group"
UNGROUP = "Ungroup"
GROUP_WHY = "Tick values in the table, give their group a name, and choose its level."
PREVIOUS = "Previous page"
FOLLOWING = "Next page"
CANCEL = "Cancel"
RENAME_TITLE = "Rename the group"
RENAME = "Rename"
RENAME_LABEL = "New name"
BUILD_TITLE = "Build groups"
BUILD_WHY = "This replaces the groups of the column; Undo brings them back."
BUILD_DO = "Replace the groups"
RECIPE = "Kind of groups"
IMPORT_TITLE = "Import groups"
IMPORT_WHY = (
    "A CSV file with one line per value: the value, its group at level 1, at level 2, and so on, "
    "up to * (the form that ARX uses)."
)
IMPORT_FILE = "Choose a file"
IMPORT_DO = "Replace the groups"
IMPORT_CLEAR = "Nothing is replaced before you have seen how the file fits."
TOO_LARGE = "The file is too large to import here; the limit is 2.5 MB."
SHOW_UNGROUPED = "Show them"
FIGURES = "What the groups do to the table"
FEW = "Few values: groups are not needed"
UNGROUPED_WHY = "These values are shown as they are, or hidden entirely."
GROUPED_WHY = "A release can show a group instead of hiding a value."
TABLE: dict[str, str] = {
    "region": "Values and their groups",
    "caption": "One row per value, one column per level",
    "tickPage": "Tick all values on this page",
    "tick": "Tick {0}",
    "empty": "(empty)",
    "rename": "{0}, level {1}: rename this group",
    "same": "same as before",
    "root": "hidden",
    "top": "Hidden",
    "topInfo": "shows *",
    "addLevel": "Add a level",
    "none": "No value fits the filter.",
    "notInFile": "not in your file",
}


def level_title(level: int) -> str:
    """Return the title of a column of the table."""
    return f"Level {level}" if level else "Value"


def remove_level(level: int) -> str:
    """Return the name of the button that removes a level."""
    return f"Remove level {level}"


def new_level(level: int) -> str:
    """Return the choice that adds a level."""
    return f"Level {level} (new)"


def groups(level: int, count: int) -> str:
    """Return how many groups a level has."""
    return counted(count, "group" if level else "value")


def smallest(rows: int) -> str:
    """Return the size of the smallest group of a level."""
    return f"smallest: {counted(rows, 'row')}"


def rows(count: int) -> str:
    """Return the number of rows of a value."""
    return counted(count, "row")


def page(number: int, pages: int, found: int) -> str:
    """Return where the table is."""
    return f"Page {number + 1:,} of {pages:,} ({counted(found, 'value')})"


def ticked(count: int) -> str:
    """Return how many values are ticked."""
    return f"{counted(count, 'value')} ticked"


def levels(count: int) -> str:
    """Return the number of levels of a column."""
    return counted(count, "level") if count else "shown or hidden"


def origin(made: str, recipe: Mapping[str, Any] | None) -> str:
    """Return where the groups come from."""
    how = {
        "automatic": "Automatic proposal",
        "recipe": "Built from a recipe",
        "file": "Imported from a file",
        "edited": "Edited by you",
    }[made]
    if recipe is None:
        return how
    name, argument = next(iter(recipe.items()))
    words = {
        "intervals": "intervals of {0}",
        "dates": "dates by {0}",
        "mask": "characters hidden from the {0}",
        "quantiles": "equal groups: {0}",
        "frequency": "values under these shares of the rows together: {0}",
        "ordering": "neighbours",
        "suppression": "shown or hidden",
    }.get(name, name)
    parts = argument if isinstance(argument, list) else [argument]
    return f"{how}: {words.format(', '.join(str(part) for part in parts))}"


def fits(covered: int, values: int) -> str:
    """Return how many values of the file an import has."""
    if covered == values:
        return f"It has all {counted(values, 'value')} in your file."
    return f"It has {covered:,} of the {counted(values, 'value')} in your file."


def lacking(count: int) -> str:
    """Return what happens to values that an import lacks."""
    return (
        f"It lacks {counted(count, 'value')} in your file. They are added without a group; you can "
        "group them afterwards. The first ones are:"
    )


def further(count: int) -> str:
    """Return that an import has more values than the file."""
    return f"It also has {counted(count, 'value')} that your file does not have; they are kept."


def import_levels(count: int) -> str:
    """Return the number of levels of an import."""
    return f"It has {counted(count, 'level')} between the values and *."


def grouped(count: int, level: int, rest: str) -> str:
    """Return the result of grouping, for a screen reader."""
    return f"{counted(count, 'value')} grouped at level {level}; {rest}."
