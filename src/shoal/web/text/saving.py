"""Text of the dialog that saves a project."""

from __future__ import annotations

TITLE = "Save the project"
LEAD = (
    "The folder holds roles, groups, the promise and all finished releases with their reports. It "
    "does not hold the table itself; but groups list the values of their columns, so keep the "
    "folder private."
)
FOLDER = "Folder"
WITH_DATA = "Also keep a copy of the table"
WITH_DATA_WHY = "Only if this folder is as well protected as the original file."
SAVE = "Save"
CANCEL = "Cancel"


def saved(name: str) -> str:
    """Return that a project is saved."""
    return f"Saved as {name}"
