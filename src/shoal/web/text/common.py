"""Text of the frame around the screens: steps, saving, and what running work is doing."""

from __future__ import annotations

PRODUCT = "Shoal"
LOCAL = "Your data stays on this computer"
STEPS = {  # the name of each step, and what it is for
    "open": ("Open", "Choose the table"),
    "describe": ("Describe", "What others may know"),
    "group": ("Group values", "Make values coarser"),
    "protect": ("Protect", "What the release promises"),
    "release": ("Release", "Check and download"),
}
STEPS_LABEL = "Steps"
SKIP = "Skip to the content"
BACK = "Back"
NEXT = "Next"
CREATE = "Create the release"
CREATING = "Creating the release…"
RELEASES = "See releases"
CANCEL = "Cancel"
SAVE_TITLE = "Save the project"
SAVE_LEAD = (
    "The folder holds roles, groups, the promise and all finished releases with their reports. It "
    "does not hold the table itself; but groups list the values of their columns, so keep the "
    "folder private."
)
FOLDER = "Folder"
WITH_DATA = "Also keep a copy of the table"
WITH_DATA_WHY = "Only if this folder is as well protected as the original file."
SAVE = "Save"
THEMES = {None: "Colours of the system", False: "Light colours", True: "Dark colours"}


def page_title(step: str) -> str:
    """Return the title of the browser tab."""
    return f"{STEPS[step][0]} · {PRODUCT}"


def step_label(number: int, step: str) -> str:
    """Return the accessible name of a step."""
    name, purpose = STEPS[step]
    return f"Step {number} of {len(STEPS)}: {name}. {purpose}"


def saved(name: str) -> str:
    """Return that a project is saved."""
    return f"Saved as {name}"


def sentence(message: str) -> str:
    """Return a message as a sentence; a parameter such as k keeps its small letter.

    >>> sentence("no such file"), sentence("k is 50 but the table has 20 people")
    ('No such file.', 'k is 50 but the table has 20 people.')
    """
    first = message.partition(" ")[0]
    begun = message if len(first) == 1 else message[:1].upper() + message[1:]
    return begun if not begun or begun.endswith((".", "?", "!", "…")) else f"{begun}."


STAGES = {
    "anneal": "Improving the groups",
    "assign": "Assigning records to groups",
    "bound": "Proving how good the release is",
    "cool": "Improving the groups",
    "cut": "Dividing people into groups",
    "divide events": "Dividing events into groups",
    "group": "Forming groups",
    "measure": "Measuring combinations of levels",
    "merge": "Merging groups that are too small",
    "neighbours": "Looking for similar people",
    "replace identifiers": "Replacing identifiers",
    "round": "Improving the groups",
    "search": "Searching for the release that keeps the most detail",
    "solve": "Solving for the best groups",
    "start": "Looking for a first solution",
    "verify": "Checking the guarantee on the released rows",
    "weigh": "Comparing combinations of levels",
}
RUNS = "runs"  # of a comparison


def stage_words(stage: str, done: float, total: float | None) -> str:
    """Return what a stage does; a stage without words keeps its name.

    >>> stage_words("cut", 5, 10), stage_words("runs", 3, 15), stage_words("reading x", 0, None)
    ('Dividing people into groups', '3 of 15 releases made', 'Reading x')
    """
    if stage == RUNS and total:
        return f"{done:,.0f} of {total:,.0f} releases made"
    return STAGES.get(stage, stage[:1].upper() + stage[1:])
