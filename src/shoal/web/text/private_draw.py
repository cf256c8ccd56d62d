"""Text about differential privacy on the Protect screen."""

from __future__ import annotations

from shoal.web.text.describe import REPLACEMENTS

TITLE = "Hide who took part"
LEAD = (
    "Differential privacy: rows are drawn at random, so that the release is almost as likely with "
    "a person as without them. It costs rows, and replaces the sentences about private columns."
)
SWITCH = "Add differential privacy"
NUMBERS = {  # before the number, after it, its name, and why
    "epsilon": (
        "No release is more than e to the power of",
        "times as likely because a person is in the table.",
        "Privacy budget epsilon",
        "Smaller is safer. 1 is strict, 3 is mild. Every further release of this table adds up.",
    ),
    "beta": (
        "Each row is kept with probability",
        "before anything else is done.",
        "Probability that a row is drawn",
        "Nobody can be sure that a person who took part is in the release.",
    ),
    "n0": (
        "The table has, as everybody may know, about",
        "people.",
        "Publicly known number of people",
        "Not the exact number of rows, which is not public. Groups must be larger for more people.",
    ),
}
DECLARE = "What is possible in each column"
DECLARE_WHY = (
    "A release must not show which values happened to occur. State what you know about a column "
    "without looking at the table."
)
DECLARED = "Every published column is declared."
LEAST = "Smallest value"
GREATEST = "Largest value"
VALUES = "All possible values, separated by commas"
STATE = "State"
NOT_BOUNDS = "State two numbers or dates, the smaller one first."
NO_VALUES = "List at least two values."
GROUPS = "The groups were chosen without looking at the table"
GROUPS_WHY = "Groups that follow the values of the table would show which values it has."
DRAWN = "The release is drawn at random; its figures are known once it is drawn."


def undeclared(names: str) -> str:
    """Return which columns have to be declared."""
    return f"State what is possible in {names}."


def replaced(names: str) -> str:
    """Return that identifiers cannot be replaced in a private draw from disk."""
    return (
        "The rows of this table stay on disk, where differential privacy and replaced identifiers "
        f"cannot be combined. On the screen Describe, choose “{REPLACEMENTS['drop']}” for {names}."
    )
