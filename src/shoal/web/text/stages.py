"""What work is doing, in words: the stages that the library reports."""

from __future__ import annotations

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
