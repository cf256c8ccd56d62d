"""What a column may be to the person behind the row, by its name and its counts."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pyarrow as pa

from shoal.core.column import Role
from shoal.core.spelled import is_spelled
from shoal.core.values import is_text

_NAMES: tuple[tuple[Role, str, str], ...] = (
    (
        Role.IDENTIFIER,
        r"(^|_)(id|uuid|ssn|nhs|mrn|iban|passport|dni|nom|prenom)($|_)|e?mail|phone|mobile"
        r"|(^|_)(sur|first|last|full|vor|nach|familien)?_?name$|address|adress|strasse|insurance_n"
        r"|telefon|nombre|apellido|(patient|person|kund|versicher|customer|case|fall|kranken|mitglied|member)"
        r"\w*(_(nr|no|num)|nummer|number)($|_)",
        "it names a person",
    ),
    (
        Role.IDENTIFIER,
        r"bemerk|kommentar|comment|remark|freitext|free_?text|anamnes|(^|_)notes?($|_)|notiz",
        "free text may name",
    ),
    (
        Role.SENSITIVE,
        r"diagnos|disease|illness|condition|icd|symptom|treatment|medication|drug|hiv|cancer"
        r"|salary|income|wage|debt|credit|religio|belief|politic|party|union|sexual|crime|convict"
        r"|disab|pregnan|genetic|test_result|grade|score|outcome|chd"
        r"|salair|salario|gehalt|einkommen|revenu|krank|befund|maladie|enfermedad|konfession",
        "it sounds private",
    ),
    (
        Role.QUASI,
        r"(^|_|-)(age|sex|gender|race|born|dob|job)($|_|-)|birth|zip|post_?code|postal|city|town"
        r"|county|region|state|country|nation|ethnic|marital|education|school|degree|occupation"
        r"|profession|workclass|employ|household|children|language|height|weight|admission|visit"
        r"|discharge|arrival|(^|_)date|nationality|citizen|department"
        r"|(^|_)(alter|ort|land|stadt|sexe|sexo|edad|ville|ciudad|plz)($|_)|geschlecht|geburt"
        r"|gewicht|(^|_)gro(e?)sse($|_)|postleitzahl|wohnort|beruf|familienstand|staatsang|aufnahme|entlassung|naissance"
        r"|nacimiento",
        "others may know it",
    ),
)
_NUMBERED = r"(^|_)(id|uuid|ssn|nhs|mrn)($|_)|(nr|no|num|nummer|number)$"  # one for each person
_NEARLY = 0.95  # of the rows, for a text to name people though a few repeat


def suggest_role(name: str, cells: Any, distinct: int) -> tuple[Role, str]:
    """Return a role for a column and why."""
    filled = len(cells) - cells.null_count
    if pa.types.is_nested(cells.type):
        return Role.INSENSITIVE, "a list"
    for role, pattern, reason in _NAMES:
        if re.search(pattern, spelled(name)):
            return role, reason
    if filled > 20 and distinct == filled and not is_fractional(cells.type):
        return Role.IDENTIFIER, "all values differ"
    if filled > 20 and distinct >= _NEARLY * filled and is_text(cells.type):
        return Role.IDENTIFIER, "nearly all differ"
    if is_fractional(cells.type) and distinct > max(50, filled // 20):
        return Role.SENSITIVE, "measured: guard it"
    return Role.QUASI, "when in doubt"


def is_numbered(name: str) -> bool:
    """Whether a name is that of a number given to each person."""
    return bool(re.search(_NUMBERED, spelled(name)))


def spelled(name: str) -> str:
    """Return a name without capitals and accents, its words parted by underscores.

    >>> spelled(" Straße"), spelled("birthDate"), spelled("Âge (années)")
    ('strasse', 'birth_date', 'age_annees_')
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).casefold()
    letters = unicodedata.normalize("NFKD", apart)
    bare = "".join(sign for sign in letters if not unicodedata.combining(sign))
    return re.sub(r"[\W_]+", "_", bare)


def is_fractional(kind: Any) -> bool:
    """Whether values have decimal places: amounts, which differ without naming anybody."""
    return bool(
        is_spelled(kind)
        or pa.types.is_floating(kind)
        or (pa.types.is_decimal(kind) and getattr(kind, "scale", 0) > 0)
    )
