"""Text of the screens Open and Describe."""

from __future__ import annotations

from shoal.support.wording import counted

TITLE = "Open a table about people"
LEAD = (
    "Choose a file with one row per person or per event. Nothing is sent anywhere: the file is "
    "read by the program on this computer."
)
UPLOAD = "Choose a file"
UPLOAD_HINT = "CSV, Excel, Parquet or JSON lines, up to 500 MB. You can also drop it here."
UPLOADING = "Copying the file…"
UPLOAD_FAILED = "The file could not be copied. It may be too large; open it by its path instead."
PATH = "Path of a file on this computer"
PATH_HINT = (
    "For large files: the file is read where it is, without a copy. Rows of a table that does not "
    "fit in memory stay on disk."
)
OPEN = "Open"
EXAMPLE = "Use an example"
EXAMPLE_HINT = "No file at hand? Try 2,000 invented patients."
EXAMPLE_NAME = "patients.csv"
RESUME = "Continue a project"
RESUME_LEAD = "A saved project remembers roles, groups and releases, but not the data itself."
RESUME_PATH = "Folder of the project"
RESUME_BUTTON = "Continue"
ANOTHER = "Open another table"
READ_AS = "How the file is read"
READ_AS_WHY = "These settings were detected. Change one if the rows below look wrong."
DELIMITER = "Columns are separated by"
DELIMITERS = {",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Vertical bar"}
ENCODING = "Encoding"
ENCODINGS = {
    "utf-8": "UTF-8",
    "cp1252": "Western European (Windows)",
    "latin-1": "Western European (Latin-1)",
    "utf-16": "UTF-16",
}
HEADER = "First row"
HEADERS = {True: "Contains the column names", False: "Is already data"}
NO_NAMES = (
    "The first row looks like data, not like column names. Without names, columns are called "
    "column_1, column_2 and so on."
)
NO_NAMES_YES = "It is data"
NO_NAMES_NO = "It has the names"
TRIM = "Spaces around cells"
TRIMS = {False: "Stay as they are", True: "Are removed"}
DECIMAL = "Decimal mark"
DECIMALS = {".": "Point, as in 3.5", ",": "Comma, as in 3,5"}
DATES = "Dates are written"
DATE_FORMS = {
    "": "Year first, as in 2024-03-09",
    "DD.MM.YYYY": "DD.MM.YYYY",
    "DD/MM/YYYY": "DD/MM/YYYY",
    "MM/DD/YYYY": "MM/DD/YYYY",
    "DD-MM-YYYY": "DD-MM-YYYY",
    "YYYY/MM/DD": "YYYY/MM/DD",
}
MISSING = "Texts that mean “missing”"
MISSING_HINT = "Separated by commas, such as ?, NA"
SHEET = "Sheet"
CHECK = "Please check"
USE = "Use this"
TREAT_AS_MISSING = "Treat as missing"
FIRST_ROWS = "The first rows of the file"
PERSON = "What identifies a person in this table?"
PERSON_WHY = (
    "The guarantee counts people. If one person has several rows and Shoal counted rows, a group "
    "of five rows could be a single person."
)
PERSON_ROWS = "Every row is a different person"
PERSON_OTHER = "Another column identifies the person"
PERSON_COLUMN = "Column that identifies the person"


def on_disk(sampled: int) -> str:
    """Return what differs for a table whose rows stay on disk."""
    return (
        "This table does not fit in the memory that Shoal may use, so its rows stay on disk. Rows, "
        "people, values and groups are counted on all rows. Suggested roles come from "
        f"{sampled:,} random rows; figures that are estimated say so. The release is made from all "
        "rows and checked on all of them."
    )


def refused(columns: str) -> str:
    """Return which columns are left out, because of their type."""
    return f"{columns}: left out, because values of this type need a table that fits in memory."


def summary(rows: str, columns: int, size: int) -> str:
    """Return the size of the table in words."""
    return f"{rows} · {counted(columns, 'column')} · {size_text(size)}"


def size_text(size: int) -> str:
    """Return a file size with its unit.

    >>> size_text(2_500_000), size_text(900)
    ('2.5 MB', '900 bytes')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def person_is(column: str, distinct: int, rows: int) -> str:
    """Return the answer that a column identifies people."""
    return f"Each {column} is one person: {distinct:,} people in {rows:,} rows"


def codes(code: str, columns: list[str]) -> str:
    """Return the question whether a text means missing.

    >>> codes("NA", ["age", "weight"])
    'Does “NA” mean that the value is missing? It occurs in age, weight.'
    """
    named = ", ".join(columns[:5]) + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")
    return f"Does “{code}” mean that the value is missing? It occurs in {named}."


def hint(words: str) -> str:
    """Return a hint of `shoal.inspect` with the words of this screen instead of options.

    >>> hint("numbers with a decimal comma: add decimal=','")
    'numbers with a decimal comma'
    >>> hint("spaces around names or cells: add trim=True")
    'spaces around names or cells'
    >>> hint("numbers, except for 2 values; fix or declare with missing=…")
    'numbers, except for 2 values; fix them, or list them below: Texts that mean “missing”'
    """
    listed = f"fix them, or list them below: {MISSING}"
    return words.partition(": add ")[0].replace("fix or declare with missing=…", listed)


DESCRIBE_TITLE = "What is in each column?"
DESCRIBE_LEAD = (
    "Say what others may already know about a person, and what nobody should learn. The roles "
    "below are suggestions from names and values: please check each one."
)
ROLES = {
    "identifier": "Names the person",
    "quasi": "Known to others",
    "sensitive": "Private",
    "insensitive": "Harmless",
    "left out": "Leave out",
}
KINDS = {"numeric": "Amount", "ordinal": "Ordered", "nominal": "Category"}
KIND = "Kind of values"
ROLE = "Role"
COLUMN = "Column"
REASON = "Why"
DISTINCT = "Values"
EXAMPLES = "Examples"
TABLE = "Columns and their roles"
FILTER = "Find a column"
SHOW = "Show"
ALL_ROLES = "All roles"
SET_ROLE = "Set the role of the selected columns"
NONE_SELECTED = "Tick columns to change several at once."
PREVIEW = "The first rows"
PREVIEW_LEAD = "Up to 1,000 rows of the file, as they are now."
IDENTIFIERS = "Columns that name people"
IDENTIFIERS_LEAD = (
    "They are removed. If you need to recognize the same person in later deliveries, replace them "
    "by pseudonyms: the same person always gets the same code, and only the key connects the two."
)
REPLACEMENTS = {
    "drop": "Remove it",
    "pseudonym": "Replace by pseudonyms",
    "ff1": "Replace by codes of the same format",
    "shift": "Shift dates by a secret number of days",
    "mask": "Show only the first characters",
    "redact": "Blank out names inside texts",
}
REPLACEMENT_WHY = {
    "drop": "Safest: nothing of it is published.",
    "pseudonym": "The same person has the same code in every delivery to this recipient.",
    "ff1": "Digits stay digits, so that other systems accept the codes. The key reverses them.",
    "shift": "Each person has one shift, so the time between two dates stays true. It can identify "
    "people, and anyone who knows the period of the data can narrow down the shift.",
    "mask": "What remains is treated as something others may know.",
    "redact": "Names and numbers that are recognized are removed; others may remain.",
}
REPLACEMENT = "What happens to it"
DOMAIN = "Recipient or project"
DOMAIN_WHY = "Pseudonyms of two recipients have nothing in common, so they cannot join their data."
KEY = "Key file"
KEY_WHY = "Anyone who has the key can trace codes back to people. Keep it apart from the release."
NEW_KEY = "Create a new key"
KEY_CREATED = "Created the key. Keep this file safe and secret."
NO_QUASI = "No column is marked as known to others, so nothing would be protected."


def banner(columns: int, unique: int, people: int) -> str:
    """Return how many people the chosen columns single out."""
    which = "This column singles" if columns == 1 else f"These {columns} columns together single"
    return f"{which} out {unique:,} of {people:,} people."


def nobody(columns: int) -> str:
    """Return that nobody is unique."""
    which = "this column" if columns == 1 else f"these {columns} columns together"
    return f"Nobody is unique by {which}."


def selected(count: int) -> str:
    """Return how many columns are ticked."""
    return f"{count:,} selected" if count else NONE_SELECTED


def column_values(distinct: int, missing: int, *, approximate: bool = False) -> str:
    """Return the number of values in words."""
    about = "about " if approximate else ""
    values = f"{about}{distinct:,}"
    return values if not missing else f"{values} · {about}{missing:,} missing"
