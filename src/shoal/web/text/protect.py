"""Text of the Protect screen."""

from __future__ import annotations

from shoal.web.text.open import REPLACEMENTS

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
    "rare-values": (
        "In each group, rare values of {column} are more frequent than in the whole table by at "
        "most",
        "percentage points.",
        "Then no group shows that its members probably have a rare value. Nearly everybody has the "
        "same value of {column}, so two different values in each group would be stricter, but need "
        "very large groups.",
    ),
}
NAMES = {
    "l-diversity": "Several different values",
    "entropy-l-diversity": "Well mixed values",
    "t-closeness": "Shares close to the whole table",
    "rare-values": "Rare values stay rare",
}
STARTS = {"l-diversity": 2, "entropy-l-diversity": 2, "t-closeness": 0.3, "rare-values": 0.2}
COST_UNKNOWN = "Estimating what this sentence costs…"
PROMISE_IT = "Add a promise"
BY_HAND = "How coarse the values become"
BY_HAND_WHY = (
    "Shoal looks for the groups that keep the most detail. Choose the level of each column "
    "yourself if all rows must have the same groups."
)
BY_HAND_SWITCH = "Choose the levels myself"
BY_HAND_WAIT = "Looking for levels to begin with…"
BY_HAND_HINT = "One level for the whole column. People in groups that are too small are left out."
AS_IT_IS = "as it is"
AT_LEVELS = "At these levels"
LEFT_OUT_WHY = "They are left out, if the promise allows it."
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


def cost(share: float, *, most: bool) -> str:
    """Return what a sentence costs.

    >>> cost(0.034, most=True), cost(0.0, most=False)
    ('Costs about 3 % of the detail, the most of these sentences.', 'Costs next to nothing.')
    >>> cost(0.007, most=False)
    'Costs under 1 % of the detail.'
    """
    if share < 0.005:
        return "Costs next to nothing."
    which = ", the most of these sentences" if most else ""
    about = "" if share < 0.01 else "about "
    return f"Costs {about}{percent(share)} of the detail{which}."


def sentence(model: str, column: str, value: float) -> str:
    """Return a promise about a private column.

    >>> sentence("l-diversity", "disease", 2)
    'In each group, there are at least 2 different values of disease.'
    """
    before, after, _ = SENTENCES[model]
    shown = 100 * value if model == "rare-values" else value
    return f"{before.format(column=column)} {shown:g} {after.format(column=column)}"


def k_sentence(k: int) -> str:
    """Return the promise about the size of groups."""
    return f"{K_BEFORE} {k:,} {K_AFTER}"


def not_promised(column: str) -> str:
    """Return that nothing is promised about a private column."""
    return (
        f"{column} is not protected: everybody in a group may have the same value, and anyone who "
        "finds a person's group then knows it."
    )


def smallest(people: int) -> str:
    """Return what the size of the smallest group counts."""
    return f"{'person' if people == 1 else 'people'} in the smallest group"


def at_risk(people: int) -> str:
    """Return what the number of people at risk counts."""
    return f"{'person' if people == 1 else 'people'} in groups that are too small"


def level(number: int, height: int, example: str) -> str:
    """Return a level with what it shows.

    >>> level(0, 3, "47"), level(2, 3, "[40, 50["), level(3, 3, "*")
    ('as it is, such as 47', 'level 2 of 3, such as [40, 50[', 'hidden')
    """
    if number == height:
        return "hidden"
    name = AS_IT_IS if number == 0 else f"level {number} of {height}"
    return f"{name}, such as {example}"


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


DRAW_TITLE = "Hide who took part"
DRAW_LEAD = (
    "Differential privacy: rows are drawn at random, so that the release is almost as likely with "
    "a person as without them. It costs rows, and replaces the sentences about private columns."
)
SWITCH = "Add differential privacy"
NUMBERS = {  # before the number, after it, its name, and why
    "epsilon": (
        "No release is more than e to the power of",
        "times as likely because a person is in the table.",
        "Privacy budget epsilon",
        "Smaller is safer. 1 is strict, 3 is mild. The budgets of all releases add up.",
    ),
    "beta": (
        "Each row is kept with probability",
        "before anything else is done.",
        "Probability that a row is drawn",
        "Nobody can be sure that a person who took part is in the release.",
    ),
    "n0": (
        "It is public knowledge that the table has about",
        "people.",
        "Publicly known number of people",
        "Not the exact number of rows, which is not public. Groups must be larger for more people.",
    ),
}
DECLARE = "Possible values of each column"
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
    return f"State the possible values of {names}."


def replaced(names: str) -> str:
    """Return why identifiers cannot be replaced in a private draw from disk, and what to do."""
    return (
        "The rows of this table stay on disk, where differential privacy and replaced identifiers "
        f"cannot be combined. On the screen Describe, choose “{REPLACEMENTS['drop']}” for {names}."
    )
