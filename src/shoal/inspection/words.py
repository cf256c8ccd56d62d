"""What the name of a column says about its meaning, in a few languages."""

from __future__ import annotations

import re
from collections.abc import Collection

from shoal.core.people import is_free_text
from shoal.support.wording import folded_name

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
_NUMBER = (
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
    return _says(_NUMBER, name)


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
