"""Text of the Protect screen."""

from __future__ import annotations

TITLE = "What does the release promise?"
LEAD = "Read the promise as you would say it to an ethics board, and change the numbers in it."
PROMISE = "The promise"
K_BEFORE = "Each combination of what others may know is shared by at least"
K_AFTER = "people."
K_LABEL = "Smallest number of people who share a combination"
K_WHY = (
    "Anyone who looks for a person then finds at least that many candidates. 5 is common inside "
    "an organization, 10 or more for public data; more people means coarser values."
)
SENTENCES = {  # before the number, after it, and why; {column} is the sensitive column
    "l-diversity": (
        "In each group, there are at least",
        "different values of {column}.",
        "Otherwise a group could share one value, and everybody in it would be exposed.",
    ),
    "entropy-l-diversity": (
        "In each group, values of {column} are as mixed as",
        "equally frequent values.",
        "Stricter: it also prevents that nearly everybody in a group has the same value.",
    ),
    "t-closeness": (
        "In each group, shares of {column} differ from the whole table by at most",
        "(0 to 1).",
        "Then belonging to a group says little about the value. 0.2 is strict, 0.5 is mild.",
    ),
}
NAMES = {
    "l-diversity": "Several different values",
    "entropy-l-diversity": "Well mixed values",
    "t-closeness": "Shares close to the whole table",
}
STARTS = {"l-diversity": 2, "entropy-l-diversity": 2, "t-closeness": 0.3}
ADD = "Add to the promise"
ADD_ABOUT = "About the column"
ADD_BUTTON = "Add"
REMOVE = "Remove"
NO_SENSITIVE = "No column is marked as private, so the promise is only about recognizing people."
ONLY_SIZES = "With differential privacy, the promise about groups is only about their size."
SUPPRESSION_BEFORE = "At most"
SUPPRESSION_AFTER = "percent of the rows may be left out."
SUPPRESSION_LABEL = "Largest share of rows that may be left out, in percent"
SUPPRESSION_WHY = "Leaving out a few unusual people keeps much more detail for everybody else."
EXPECT = "What to expect"
NOW = "In the table as it is"
AFTER = "In the release"
SMALLEST = "people in the smallest group"
AT_RISK = "people in groups that are too small"
KEPT = "of the cells keep their exact value"
COARSER = "become coarser"
HIDDEN = "are hidden"
COUNTING = "Counting…"
ESTIMATING = "Estimating…"
ADVANCED = "Advanced: method and options"
METHOD = "Method"
METHOD_WHY = "The method decides how values become coarser. The first choice suits most tables."
METHODS_ON_DISK = (
    "The rows of this table stay on disk, so methods that need all rows in memory are not listed."
)
FORMULAS = "Make cells safe for spreadsheets"
FORMULAS_WHY = "Puts a quote before cells that Excel would run as a formula, such as =1+1."
RELEASE = "The release"
NAME = "Name of the release"
NAME_WHY = "You can make several releases and compare them."
DONE = "The release is ready."
FAILED = "There is no release"
CANCELLED = "Cancelled. Nothing was released."
SEE = "See the release"
ONLY_PYTHON = "Available in Python only."


def estimate(rows: int) -> str:
    """Return that figures come from a sample."""
    return f"Estimated from {rows:,} random rows; the whole table usually keeps more."


def exact(rows: int) -> str:
    """Return that figures come from all rows."""
    return f"Found on all {rows:,} rows."


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.301), percent(0.0004), percent(1.0)
    ('30 %', 'under 1 %', '100 %')
    """
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def others(generalized: float, hidden: float) -> str:
    """Return what happens to the other cells."""
    return f"{percent(generalized)} {COARSER}, {percent(hidden)} {HIDDEN}"


def of_people(people: int) -> str:
    """Return the total that a count of people belongs to."""
    return f"of {people:,}"
