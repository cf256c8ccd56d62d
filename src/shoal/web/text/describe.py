"""Text of the Describe screen."""

from __future__ import annotations

TITLE = "What is in each column?"
LEAD = (
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
ROLE_WHY = {
    "identifier": "Is removed or replaced by a code.",
    "quasi": "Is made coarser until several people share each combination.",
    "sensitive": "Is published unchanged, but cannot be tied to one person.",
    "insensitive": "Is published unchanged and not protected. Use it rarely.",
    "left out": "Is not published.",
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
KEY_MISSING = "Choose a key file and a recipient, or remove these columns."
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
