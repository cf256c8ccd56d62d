"""What a column may be to the person behind the row, by its name and its counts."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from shoal.core.column import Role
from shoal.core.spelled import is_spelled
from shoal.core.values import is_text
from shoal.core.wording import folded_name

_FREE_TEXT = r"bemerk|kommentar|comment|remark|freitext|free_?text|anamnes|(^|_)notes?($|_)|notiz"
_NAMES: tuple[tuple[Role, str, str], ...] = (
    (
        Role.IDENTIFIER,
        r"(^|_)(id|uuid|ssn|nhs|mrn|iban|passport|dni|nom|prenom)($|_)|e?mail|phone|mobile"
        r"|(^|_)(sur|first|last|full|vor|nach|familien)?_?name$|address|adress|strasse|insurance_n"
        r"|telefon|nombre|apellido|(patient|person|kund|versicher|customer|case|fall|kranken|mitglied|member)"
        r"\w*(_(nr|nbr|no|num)|nummer|number)($|_)",
        "it names a person",
    ),
    (
        Role.IDENTIFIER,
        _FREE_TEXT,
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
_NEARLY = 0.95  # of the rows, for a text to name people though a few repeat


def suggest_role(name: str, cells: Any, distinct: int) -> tuple[Role, str]:
    """Return a role for a column and why."""
    filled = len(cells) - cells.null_count
    if pa.types.is_nested(cells.type):
        return Role.INSENSITIVE, "a list"
    for role, pattern, reason in _NAMES:
        if re.search(pattern, folded_name(name)):
            return role, reason
    if filled > 20 and distinct == filled and not is_fractional(cells.type):
        return Role.IDENTIFIER, "all values differ"
    if filled > 20 and distinct >= _NEARLY * filled and is_text(cells.type):
        return Role.IDENTIFIER, "nearly all differ"
    if is_fractional(cells.type) and distinct > max(50, filled // 20):
        return Role.SENSITIVE, "measured: guard it"
    return Role.QUASI, "when in doubt"


def is_free_text(name: str) -> bool:
    """Whether a name is that of a free text, which may name a person but does not identify one."""
    return bool(re.search(_FREE_TEXT, folded_name(name)))


def is_fractional(kind: Any) -> bool:
    """Whether values have decimal places: amounts, which differ without naming anybody."""
    return bool(
        is_spelled(kind)
        or pa.types.is_floating(kind)
        or (pa.types.is_decimal(kind) and getattr(kind, "scale", 0) > 0)
    )
