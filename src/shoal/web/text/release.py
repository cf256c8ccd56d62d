"""Text of the screen Release."""

from __future__ import annotations

from shoal.support.wording import counted

TITLE = "Release"
LEAD = "Look at what the release shows and what it costs, then download it."
RELEASES = "Releases"
NONE = "There is no finished release yet. Create one on the screen Protect."
RUNNING = "This release is being made."
FAILED = "This release could not be made."
CANCELLED = "This release was cancelled."
PROMISE = "What it promises"
NOT_COVERED = "What the guarantee does not cover"
FIGURES = "Main figures"
TABS = {
    "columns": "Before and after",
    "choices": "Alternatives",
    "beside": "Side by side",
    "risk": "Risk in words",
    "levels": "Levels",
    "utility": "Usefulness",
    "evidence": "Evidence",
}
NOT_ON_DISK = {
    "choices": (
        "Alternatives are compared in memory, and this table is too large for that. Change the "
        "promise or the method on the screen Protect and make a second release; Side by side "
        "compares the two."
    ),
    "risk": (
        "These questions are answered row by row in memory, and this table is too large for that. "
        "The highest and the average risk above, and the risks in the report, are of all rows."
    ),
    "utility": (
        "Models are trained in memory, and this table is too large for that. Before and after, and "
        "the losses in the report, show what the release keeps."
    ),
    "evidence": (
        "Attacks and the evidence pack need the rows in memory, and this table is too large for "
        "that. Make them for a sample of people, or on a computer with more memory."
    ),
}
CANCEL = "Cancel"
WORKING = "Working"
CANCELLED_WORK = "Cancelled."

DOWNLOADS = "Download"
FILES = {
    "release": ("Released table", "the rows to share"),
    "report": ("Report", "one page for people who decide, with figures and limits"),
    "json": ("Report as data", "the same as JSON, for other programs"),
    "command": ("Command line", "repeats this release exactly"),
    "python": ("Python", "repeats this release from a script"),
    "schema": ("Schema", "roles and hierarchies, for the next time"),
}
PARQUET = "Make a Parquet file"
PARQUET_READY = "Released table as Parquet"

COLUMNS_WHY = (
    "Shares of the released rows, before and after. A value is named only if enough people have it."
)
COLUMN = "Column"
BEFORE = "Before"
AFTER = "After"
VALUES = "Values"
KEPT = "Kept"
COARSER = "Coarser"
HIDDEN = "Hidden"
NO_BARS = "Too few people share any value of this column to show it."
UNCHANGED = "Released unchanged"

CHOICES_WHY = (
    "Other methods and stronger guarantees for the same table. Each keeps at least the guarantee "
    "that you asked for."
)
COMPARE = "Compare alternatives"
COMPARE_COST = "This makes up to 15 releases and takes a while; you can continue to work."
RECOMMENDED = "Recommended"
USE = "Use these settings"
CHART = "Risk and detail of the alternatives"
CHART_WHY = (
    "Further left is safer, further down keeps more detail. No alternative beats those on the line "
    "in both."
)
AXIS_RISK = "highest risk of a person (%)"
AXIS_LOSS = "detail lost (%)"
AS_TABLE = "All alternatives as a table"
METHOD = "Method"
GUARANTEE = "Guarantee"
RISK = "Highest risk"
LOSS = "Detail lost"
LEFT_OUT = "Left out"
ACTION = "Action"
FAILED_RUNS = "Methods without a release"
FRONT = "on the line"

BESIDE_WHY = "Choose two or three releases to compare them line by line."
BESIDE_FEW = "There is only one finished release. Create another one to compare them."
FIGURE = "Figure"
BEST = "better"

RISK_WHY = (
    "Tick what an attacker might know about everyone. The answers count how many people that "
    "knowledge can find in this release."
)
KNOWS = "The attacker knows"
ASSESS = "Answer the questions"
ASSUMPTIONS = "What is assumed"
NOTHING_KNOWN = "Tick at least one column."

LEVELS_WHY = (
    "Every combination of levels of your groups, from the original table at the bottom to all "
    "hidden at the top. Select a point to see what it does to values."
)
EXPLORE = "Show all combinations"
LATTICE = "Combinations of levels"
NODE = "Selected combination"
NO_NODE = "Select a point in the picture or a row in the table."
NODES = "Combinations as a table"
STATE = "State"
STATES = {
    "all": "All",
    "kept": "Keeps the guarantee",
    "minimal": "Lowest levels that keep it",
}
COST = "Detail lost"
LEVELS = "Levels"
SMALL_GROUPS = "Records in groups that are too small"
EXAMPLES = "Examples"
STATE_WORDS = {
    "not anonymous": "does not keep it",
    "anonymous": "keeps it",
    "minimal": "keeps it, lowest levels",
}
USE_LEVELS = "Use these levels"
SELECT = "Select"
PREVIOUS = "Previous page"
FOLLOWING = "Next page"

UTILITY_WHY = (
    "A model learns from the released rows and predicts a column of the original rows. The closer "
    "it comes to a model that learned from the original, the more useful the release is."
)
TARGET = "Column to predict"
MEASURE = "Measure usefulness"
SCORE = "Score"
FROM_RELEASE = "Learned from the release"
FROM_RAW = "Learned from the original"
GUESS = "Always the most common answer"
MEAN = "Always the average"
NO_TARGET = "No column is released unchanged, so there is nothing to predict."
UNDEFINED = "not defined"
SCORES = {
    "accuracy": "Right answers",
    "auroc": "Ranking (AUROC, 0.5 is chance, 1 is perfect)",
    "r2": "Explained variation (R², 1 is perfect)",
    "mae": "Average error",
}

EVIDENCE_WHY = (
    "An evidence pack answers what a regulator asks, with figures that anyone can recompute. What "
    "you leave empty is reported as not stated."
)
QUESTIONS = {
    "purpose": ("What is the release for?", ""),
    "recipient": ("Who receives it?", "public if anyone can"),
    "environment": ("Where and how do they use it?", ""),
    "controls": ("Which contracts and access rules apply?", "one per line"),
    "adversaries": ("Who might try to find people, and what do they know?", "one per line"),
    "additional_information": (
        "Where are the original data and keys kept, and who has access?",
        "",
    ),
    "expert": ("Who judges the risk?", "name and qualifications"),
    "intruder_test": ("Did someone try to find people, and with what result?", ""),
    "maximum_risk": ("Highest acceptable risk of a person", "a number between 0 and 1"),
    "threshold_reason": ("Why is this risk acceptable?", ""),
    "population": (
        "How many people are in the population of this table?",
        "a whole number",
    ),
    "review_date": ("When must this be repeated?", "for example 2027-06-30"),
}
AREAS = "People in ZIP code areas"
AREAS_WHY = (
    "Only for ZIP codes of the United States: HIPAA Safe Harbor lets you publish their first three "
    "digits if more than 20,000 people live in that area. Choose a CSV file with two columns, the "
    "three digits and the number of people. Without it, a person has to judge this point."
)
AREAS_PICK = "Choose a table of areas"
AREAS_FILE = "the table of areas"
AREAS_NOT_TEXT = "This file is not text in UTF-8. Save it as CSV."
AREAS_TOO_LARGE = "This file is too large to be a table of areas."
AREAS_REMOVE = "Remove the table"
ATTACK = "Attack the release"
ATTACK_WHY = (
    "Three attacks on the released rows: singling people out, linking two halves of their data, "
    "and inferring sensitive values."
)
PACK = "Create the evidence pack"
PACK_READY = "Download the evidence pack"
PACK_DIGEST = "SHA-256 of its manifest:"
WRONG_NUMBER = "This must be a number."


def no_report(reason: str) -> str:
    """Return why a release has no report."""
    return f"There is no report of this release: {reason}."


def areas(count: int, large: int) -> str:
    """Return what a table of ZIP code areas contains.

    >>> areas(900, 880)
    '900 areas, 880 of them with more than 20,000 people.'
    """
    return f"{counted(count, 'area')}, {large:,} of them with more than 20,000 people."


def keeps(share: str, target: str) -> str:
    """Return how much of what can be learned a release keeps."""
    return f"The release keeps {share} of what the original table says about {target}."


def not_predictable(target: str) -> str:
    """Return that even the original predicts nothing."""
    return (
        f"Even the original table says too little about {target} for a simple model, so this "
        "column cannot show how useful the release is."
    )


def columns_caption(name: str) -> str:
    """Return the caption of the table of a column."""
    return f"{name} before and after"


def risk_point(method: str, k: int | None) -> str:
    """Return the name of an alternative."""
    return method if k is None else f"{method}, k = {k}"


def choice(names: tuple[str, ...]) -> str:
    """Return the names of a choice in one text."""
    return " and ".join([names[0], *(name.lower() for name in names[1:])])


def alternatives(count: int, front: int) -> str:
    """Return how many alternatives there are."""
    return f"{counted(count, 'alternative')}, {front} of them on the line"


def use_named(method: str, k: int | None) -> str:
    """Return the accessible name of the button that takes the settings of an alternative."""
    return f"{USE}: {risk_point(method, k)}"


def select_node(levels: str) -> str:
    """Return the accessible name of the button that selects a combination."""
    return f"{SELECT} {levels}"


def page(number: int, pages: int, found: int) -> str:
    """Return where the table of combinations is."""
    return f"Page {number + 1:,} of {pages:,} ({counted(found, 'combination')})"


def level_of(level: int, height: int) -> str:
    """Return a level of a column in words."""
    if level == 0:
        return "as it is"
    return "hidden" if level >= height else f"level {level} of {height}"


def recoded(value: str, label: str) -> str:
    """Return one example of a value and its label."""
    return f"{value} → {label}"
