"""Suggest the role of each column, and the columns that identify people and households.

    suggest_role   the first rule that applies: sampling weight, identifier, position, number or
                   free text, private by its name, and otherwise by its counts
    find_people    the stated unit of protection, or the identifier with the most distinct values
    is_…           what the name of a column says about its meaning, in a few languages

In doubt, a column becomes a quasi-identifier. A column that singles people out is never suggested
to be published unchanged, whatever its name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.inspection.shapes import Shape
from shoal.support.wording import counted, folded_name, rows_about
from shoal.table import encoding
from shoal.table.column import Column, Role
from shoal.table.people import Unit, deciding_identifier, group, is_free_text

__all__ = [
    "is_amount",
    "is_class",
    "is_count",
    "is_degrees",
    "is_direct",
    "is_free_text",
    "is_identifying",
    "is_known",
    "is_number_or_name",
    "is_person_name",
    "is_person_number",
    "is_plane",
    "is_private",
    "is_sampling_weight",
    "may_be_text",
]


_FREE_TEXT = "free text may name people"
_OWN = "nearly all differ"
_MAX_CATEGORIES = 50  # distinct texts; more are not a category if many are unique
Suggestion = tuple[Role, str]


def suggest_role(name: str, column: Column | None, names: Collection[str] = ()) -> Suggestion:
    """Return a role for a column, and the reason.

    column: the encoded column, None if its values cannot be compared.
    names: all columns of the table.
    """
    if column is None:
        return Role.IDENTIFIER, "a list of values"
    shape = Shape.of(column)
    return (
        _sampling_weight(name, shape, names)
        or _identifier(name, shape)
        or _position(name, shape, names)
        or _number_or_text(name, shape)
        or _private(name, shape)
        or _by_values(name, shape)
    )


def _sampling_weight(name: str, shape: Shape, names: Collection[str]) -> Suggestion | None:
    """Return the role of the first column that is named like a sampling weight."""
    named = [other for other in names or [name] if is_sampling_weight(other)]
    positive = shape.distinct and shape.lies_within(math.inf) and min(shape.extent) > 0
    if name not in named or not positive:
        return None
    if name != named[0]:
        return Role.IDENTIFIER, "another sampling weight"
    return Role.WEIGHT, "a sampling weight"


def _identifier(name: str, shape: Shape) -> Suggestion | None:
    """Return the role of a column whose name identifies people, regardless of its counts."""
    if is_free_text(name):
        return Role.IDENTIFIER, _FREE_TEXT
    if is_person_name(name) or (is_direct(name) and not shape.is_choice):
        return Role.IDENTIFIER, "it names a person"
    if is_person_number(name) and not (is_class(name) and shape.is_category):
        return Role.IDENTIFIER, "it names a person"
    return None


def _position(name: str, shape: Shape, names: Collection[str]) -> Suggestion | None:
    degrees = is_degrees(name) and shape.lies_within(180)
    plane = is_plane(name, names) and shape.lies_within(math.inf)
    if shape.distinct and (degrees or plane):
        return Role.QUASI, "a position"
    if shape.is_position_text:
        return Role.IDENTIFIER, "a position, as text"
    return None


def _number_or_text(name: str, shape: Shape) -> Suggestion | None:
    """Return the role of numbers and names of records and of free text, by their counts."""
    if not shape.distinct or shape.is_temporal:
        return None
    if is_number_or_name(name) and not (shape.is_category or shape.is_fractional):
        return Role.IDENTIFIER, "it names a record"
    if shape.is_prose or (shape.is_text and may_be_text(name) and not shape.is_category):
        return Role.IDENTIFIER, _FREE_TEXT
    return None


def _private(name: str, shape: Shape) -> Suggestion | None:
    if not is_private(name) or shape.is_temporal:
        return None
    if shape.is_text and shape.is_own:
        return Role.IDENTIFIER, _OWN
    if shape.singles_out:
        return Role.QUASI, _OWN if shape.is_own else "it singles people out"
    return Role.SENSITIVE, "it sounds private"


def _by_values(name: str, shape: Shape) -> Suggestion:
    """Return the role of a column whose name does not sound private."""
    if shape.is_constant:
        return Role.INSENSITIVE, "same in all rows"
    if is_known(name):
        return Role.QUASI, "others may know it"
    if shape.is_own and (shape.is_temporal or shape.is_fractional or is_amount(name)):
        return Role.QUASI, _OWN
    if shape.is_temporal or is_amount(name):
        return Role.QUASI, "others may know it"
    if shape.is_fractional:
        return Role.QUASI, "a measurement"
    if shape.filled > 20 and shape.distinct == shape.filled:
        return Role.IDENTIFIER, "all values differ"
    if shape.is_number_text:
        return Role.QUASI, "unclear: assumed to be known"
    if shape.is_text and shape.singles_out and shape.distinct > _MAX_CATEGORIES:
        return Role.IDENTIFIER, "many occur once"
    return Role.QUASI, "unclear: assumed to be known"


_HOUSEHOLD = r"^(household|family|hh|haushalts?|familien?|hogar|menage)"
_NUMBER_ENDING = r"_?(id|nr|no|num|number|nummer|key)$"
_MAX_HOUSEHOLD = 10  # people on average
_MIN_HOUSEHOLDS = 16  # for a column not named as a number, which may be a size or a kind


@dataclass(frozen=True, eq=False)
class People:
    """The unit of protection that a schema should declare.

    person, household: the columns to name; empty if each row is one person or none is found.
    unit: the person of each row; None if each row is one person.
    households: their number; None if no column identifies them.
    repeated: an identifier that repeats, if it is not clear that it identifies people.
    """

    rows: int
    person: tuple[str, ...] = ()
    household: tuple[str, ...] = ()
    unit: Unit | None = None
    households: int | None = None
    repeated: str | None = None

    @property
    def people(self) -> int:
        """Number of people."""
        return self.rows if self.unit is None else self.unit.count

    @property
    def sentence(self) -> str:
        """The number of rows, people and households, with the columns that identify them."""
        counts = rows_about(self.rows, self.people)
        if self.person:
            counts += f" ({', '.join(self.person)})"
        if self.households is not None:
            named = ", ".join(self.household)
            counts += f", {counted(self.households, 'household')} ({named})"
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as plain data."""
        return {
            "records": self.rows,
            "people": self.people,
            "households": self.households,
            "person": list(self.person),
            "household": list(self.household),
        }


def find_people(
    data: Any,
    columns: Sequence[dict[str, Any]],
    person: Sequence[str] = (),
    household: Sequence[str] = (),
    *,
    rows_are_people: bool = False,
) -> People:
    """Return the stated unit of protection, or else the identifier with the most distinct values.

    Only a column with the name of an identifier may be the person: other texts repeat by chance.

    columns: as described; those that identify people or households become identifiers.
    """
    # stated columns are taken as they are; a household that was only found by its name must also
    # group people plausibly
    named = tuple(household) or _named_household(columns)
    identifiers = [
        column["name"]
        for column in columns
        if column["role"] == Role.IDENTIFIER and column["name"] not in named
    ]
    repeated = None
    if not person and not rows_are_people:
        identifier = deciding_identifier(data, identifiers)
        if identifier is not None and identifier.repeats:
            person = (identifier.column,) if is_identifying(identifier.column) else ()
            repeated = None if person else identifier.column
    unit = _unit(data, person) if person else None
    homes = _unit(data, named) if named else None
    if homes is not None and not household and not _groups_people(homes, unit, data.num_rows):
        named, homes = (), None
    for column in columns:
        if column["name"] in (*person, *named):
            what = "person" if column["name"] in person else "household"
            column |= {"role": str(Role.IDENTIFIER), "reason": f"identifies the {what}"}
            column |= {"hierarchy": None, "values": None}
    counts = None if homes is None else homes.count
    return People(data.num_rows, tuple(person), tuple(named), unit, counts, repeated)


def _named_household(columns: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return the first column with the name of a household or of its number."""
    for column in columns:
        name = folded_name(column["name"])
        if re.search(f"{_HOUSEHOLD}{_NUMBER_ENDING}", name):
            return (column["name"],)
        if re.search(f"{_HOUSEHOLD}$", name) and column["distinct"] >= _MIN_HOUSEHOLDS:
            return (column["name"],)
    return ()


def _unit(data: Any, columns: Sequence[str]) -> Unit:
    """Return the units of some columns; a row without a value is its own unit."""
    encoded, blank = [], np.zeros(data.num_rows, dtype=np.bool_)
    for name in columns:
        cells = encoding.with_missing(data.column(name), name)
        blank |= cells.is_null().to_numpy(zero_copy_only=False)
        encoded.append(encoding.encode(cells, name))
    ids = group([codes for codes, _ in encoded], [len(values) for _, values in encoded]).ids
    # rows without a value are not one person: each gets a number of its own behind the others
    ids = ids.astype(np.int64)
    ids[blank] = ids.max(initial=0) + 1 + np.arange(int(blank.sum()))
    used, numbers = np.unique(ids, return_inverse=True)
    return Unit(tuple(columns), numbers.astype(np.int32), len(used))


def _groups_people(homes: Unit, person: Unit | None, rows: int) -> bool:
    """Return whether every person has one household, with a plausible number of people."""
    people = rows if person is None else person.count
    if person is not None:
        pairs = group([person.ids, homes.ids], [person.count, homes.count])
        if len(pairs) != people:
            return False
    return homes.count < people <= _MAX_HOUSEHOLD * homes.count


_PEOPLE = (
    r"(patient|person|subject|participant|respondent|member|customer|client|user|student|pupil"
    r"|employee|staff|worker|citizen|resident|insured|passenger|beneficiary|subscriber|holder"
    r"|account|card|driver|inmate|offender|victim|applicant|borrower|donor|guest|player|voter"
    r"|proband|kunde|versicher|kranken|mitglied|schueler|einwohner|konto|fall|case)"
)
_PERSON_NUMBER = (
    rf"^(id|uuid|guid)$|(^|_){_PEOPLE}\w*?(_(id|nr|nbr|no|num|ref|key|hash)|number|nummer)s?($|_)"
    rf"|(^|_){_PEOPLE}(e?n?s?)(id|nr|nbr)$"
)
_PERSON_NAME = (
    r"^names?$|(^|_)(sur|first|last|middle|full|given|maiden|nick|user|fore|vor|nach|familien)_?"
    rf"names?($|_)|(^|_){_PEOPLE}\w*?_?name$|(^|_)(doctor|physician|teacher|owner|mother|father"
    r"|parent|spouse|officer|contact)_?name$|(^|_)(nom|prenom|apellidos?)($|_)|^nombre$"
)
_PERSON = (
    r"^(patient|person|participant|respondent|customer|client|student|pupil|employee|member|user"
    r"|proband|kunde|mitglied)$"
)
_DIRECT = (  # one person has one, and it may also be asked for with yes or no
    r"(^|_)(ssn|nhs|mrn|iban|passport|dni|imei|vin|licen[cs]e|plate|login|url|ip)($|_)|e?mail"
    r"|phone|mobile|telefon|address|adress|strasse|(^|_)street($|_)|insurance_n|social_security"
)
_WORD_NUMBER = (
    r"(^|_)(id|nr|nbr|num|number|nummer|key|ref|uuid|guid|hash|serial)_?$|_no_?$|_name$|^index$"
)
_COUNT = r"(^|_)(count|counts|anzahl|num_of|number_of|no_of|nr_of)($|_)|^(n|num|number)_"
_CLASSES = (  # a category, even if it is coded as numbers
    r"(^|_)(type|kind|class|category|status|source|disposition|level|group|segment|tier|reason"
    r"|mode|flag|role)($|_)"
)
_TEXT = r"descri|narrati|summary|message|complaint|detail|(^|_)(text|title|reason|abstract)($|_)"
_PRIVATE = (
    r"diagnos|(^|_)diag($|_|\d)|disease|illness|condition|(^|_)icd|symptom|treatment|medication"
    r"|drug|(^|_)hiv|cancer|tumou?r|diabet|h[iy]pertens|alcohol|tobacco|smok|handi?cap|asthma"
    r"|stroke|injur|depress|mental|suicid|infect|covid|vaccin|allerg|surgery|medical|clinical|glucose"
    r"|insulin|a1c|cholest|disab|pregnan|contracep|genetic|test_result|chd|death|died|surviv"
    r"|mortality|readmi|no_show|salary|income|wage|debt|credit|loan|deposit|default|bankrupt|fraud"
    r"|welfare|scholarship|benefit|attrition|churn|religio|belief|politic|party|union|sexual"
    r"|crime|convict|arrest|offen[cs]e|violen|grade|score|rating|satisfaction|outcome"
    r"|salair|salario|gehalt|einkommen|revenu|krank|befund|maladie|enfermedad|konfession"
)
_KNOWN = (
    r"(^|_|-)(age|sex|gender|race|born|dob|job|area|ward|zone|block|beat|day|year|month)($|_|-)"
    r"|birth|zip|post_?code|postal|city|town|county|region|state|country|nation|ethnic|origin|marital"
    r"|neighbou?rhood|district|borough|precinct|suburb|municip|province|parish|communit|tract"
    r"|education|school|degree|occupation|profession|workclass|employ|household|children|family"
    r"|sibling|spouse|language|height|weight|admission|visit|discharge|arrival|(^|_)date"
    r"|nationality|citizen|department|tenure|seniority|insurance|payer"
    r"|(^|_)(alter|ort|land|stadt|sexe|sexo|edad|ville|ciudad|plz)($|_)|geschlecht|geburt"
    r"|gewicht|(^|_)gro(e?)sse($|_)|postleitzahl|wohnort|beruf|familienstand|staatsang|aufnahme"
    r"|entlassung|naissance|nacimiento"
)
_AMOUNT = (
    r"amount|price|cost|balance|fee($|_)|fare|charge|income|salary|wage|revenue|total|payment|paid"
    r"|billing|budget|(^|_)(tax|rent|rate|value|sum|limit|sales)($|_)|betrag|preis|kosten|gehalt"
)
_SAMPLING_WEIGHT = (
    r"(^|_)(sampl(e|ing)|survey|design|person|pers|final|fin|population|pop|household|hh|calib\w*"
    r"|grossing|expansion|post_?strat\w*)_?(wt|wgt|weight|weighting|factor)s?($|_)"
    r"|^(wt|wgt|fnlwgt|pweight|pwgt|perwt|hhwt|pwgtp|wgtp|finalwt|hochrechnungsfaktor)$"
    r"|gewichtungsfaktor|hochrechnungs_?faktor|poids_?(sondage|final)|ponderation"
)
_DEGREES = (
    r"(^|_)(lat|lon|lng|long)(_?\d+|_deg\w*)?$|latitude|longitude|latitud|longitud"
    r"|breitengrad|laengengrad"
)
_PLANE = r"easting|northing|(^|_)(utm|geo|coord\w*)_?[xy]($|_)|(^|_)[xy]_?coord"
_AXES = ({"x", "y"}, {"x_axis", "y_axis"}, {"pos_x", "pos_y"})


def _says(pattern: str, name: str) -> bool:
    return bool(re.search(pattern, folded_name(name)))


def is_person_number(name: str) -> bool:
    """Return whether a name means a person's number, which repeats in all rows of the person."""
    return _says(_PERSON_NUMBER, name)


def is_person_name(name: str) -> bool:
    """Return whether a name means the names of people."""
    return _says(_PERSON_NAME, name)


def is_direct(name: str) -> bool:
    """Return whether a name means a person, an address, a telephone number or similar."""
    return _says(f"{_PERSON}|{_DIRECT}", name)


def is_identifying(name: str) -> bool:
    """Return whether a name identifies people or records, or something that belongs to one."""
    kinds = (is_person_number, is_person_name, is_direct, is_number_or_name)
    return any(is_such(name) for is_such in kinds)


def is_number_or_name(name: str) -> bool:
    """Return whether a name ends like that of a number or a name, of any kind of thing."""
    return _says(_WORD_NUMBER, name)


def is_count(name: str) -> bool:
    """Return whether a name means a count, such as the number of visits."""
    return _says(_COUNT, name)


def is_class(name: str) -> bool:
    """Return whether a name means a category."""
    return _says(_CLASSES, name)


def may_be_text(name: str) -> bool:
    """Return whether a name may mean free text, or a category."""
    return _says(_TEXT, name)


def is_private(name: str) -> bool:
    """Return whether a name sounds private."""
    return _says(_PRIVATE, name)


def is_known(name: str) -> bool:
    """Return whether a name means something that others may know about people."""
    return _says(_KNOWN, name)


def is_amount(name: str) -> bool:
    """Return whether a name means an amount, not the number of a record."""
    return _says(_AMOUNT, name)


def is_sampling_weight(name: str) -> bool:
    """Return whether a name means a sampling weight; `weight` alone means that of a body."""
    return _says(_SAMPLING_WEIGHT, name)


def is_degrees(name: str) -> bool:
    """Return whether a name means a latitude or a longitude."""
    return _says(_DEGREES, name)


def is_plane(name: str, others: Collection[str]) -> bool:
    """Return whether a name means a plane coordinate; x needs a y among the other columns."""
    folded = {folded_name(other) for other in others}
    axes = any(folded_name(name) in pair and pair <= folded for pair in _AXES)
    return axes or _says(_PLANE, name)
