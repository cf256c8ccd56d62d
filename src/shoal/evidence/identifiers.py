"""The 18 identifiers of HIPAA's Safe Harbor, found by the names of columns.

45 CFR 164.514(b)(2)(i). What cells look like is counted on the released file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shoal.support.wording import folded_name

_PERSON = r"(patient|person|subject|participant|respondent|customer|client|member|user|employee)"


@dataclass(frozen=True)
class Identifier:
    """One kind of identifier.

    Parameters:
        letter: Its letter in the regulation.
        title: Its text, shortened.
        named: A regular expression of names of columns.
        content: The kinds of cells that are counted on the released file.
        partial: Whether other cells may be this identifier, too.
    """

    letter: str
    title: str
    named: str
    content: tuple[str, ...] = ()
    partial: bool = False

    def matches(self, name: str) -> bool:
        """Return whether the name of a column means this identifier."""
        return re.search(self.named, folded_name(name)) is not None


GEOGRAPHIC = Identifier(
    "B",
    "geographic subdivisions smaller than a state, except the first three digits of a ZIP code",
    r"address|adress|street|strasse|(^|_)(zip|plz|city|town|county|ort|ward|suburb)($|_)|zip_?code"
    r"|post_?(al_?)?code|postleitzahl|precinct|municip|district|neighbou?rhood|latitude|longitude",
)
DATES = Identifier(
    "C",
    "all elements of dates except the year, and ages over 89",
    r"(^|_)(dob|date|datum|born)($|_)|birth|geburt|naissance|admission|discharge|death|_date|date_",
    ("date finer than a year",),
)
OTHER = Identifier("R", "any other unique number or code", r"^(id|uuid|guid)$|_(uuid|guid)$")
IDENTIFIERS = (
    Identifier(
        "A",
        "names",
        rf"^names?$|(sur|first|last|middle|full|given|maiden|vor|nach)_?names?|{_PERSON}_?name"
        r"|(^|_)(nom|prenom|apellidos?)($|_)",
    ),
    GEOGRAPHIC,
    DATES,
    Identifier(
        "D", "telephone numbers", r"phone|mobile|telefon|(^|_)tel($|_)", ("telephone number",)
    ),
    Identifier("E", "fax numbers", r"(^|_)(tele)?fax", ("telephone number",)),
    Identifier("F", "e-mail addresses", r"e_?mail", ("e-mail address",)),
    Identifier(
        "G", "social security numbers", r"(^|_)ssn|social_security", ("social security number",)
    ),
    Identifier(
        "H", "medical record numbers", rf"(^|_)mrn($|_)|medical_record|{_PERSON}_?(id|no|nr|number)"
    ),
    Identifier(
        "I", "health plan beneficiary numbers", r"beneficiary|insurance_?n|plan_?(id|number)"
    ),
    Identifier(
        "J",
        "account numbers",
        r"account|(^|_)iban($|_)|konto",
        ("account number (IBAN)",),
        partial=True,
    ),
    Identifier("K", "certificate and license numbers", r"licen[cs]e|certificate|passport"),
    Identifier(
        "L",
        "vehicle identifiers, including license plates",
        r"(^|_)(vin|plate)($|_)|vehicle",
        ("vehicle number (VIN)",),
        partial=True,
    ),
    Identifier(
        "M",
        "device identifiers and serial numbers",
        r"serial|(^|_)(imei|device_id|mac)($|_)",
        ("device address (MAC)",),
        partial=True,
    ),
    Identifier("N", "web addresses", r"(^|_)(url|website|homepage)($|_)", ("web address",)),
    Identifier("O", "IP addresses", r"(^|_)ip(_?address)?($|_)", ("IP address",)),
    Identifier("P", "biometric identifiers", r"finger_?print|biometric|voice_?print|iris"),
    Identifier("Q", "full-face photographs", r"photo|picture|(^|_)(image|face)($|_)"),
    OTHER,
)
_AGE = r"(^|_)(age|alter|edad)($|_)"
_POSTCODE = r"(^|_)(zip|plz)($|_)|zip_?code|post_?(al_?)?code|postleitzahl"


def age_columns(names: Iterable[str]) -> list[str]:
    """Return the names that mean ages.

    >>> age_columns(["Age", "wage", "age_at_death"])
    ['Age', 'age_at_death']
    """
    return [name for name in names if re.search(_AGE, folded_name(name))]


def postcode_columns(names: Iterable[str]) -> list[str]:
    """Return the names that mean postal codes.

    >>> postcode_columns(["ZIP", "zipcode", "unzipped"])
    ['ZIP', 'zipcode']
    """
    return [name for name in names if re.search(_POSTCODE, folded_name(name))]


def kind_of(name: str) -> str | None:
    """Return the letter of the identifier that the name of a column means.

    >>> kind_of("patient_name"), kind_of("birth_date"), kind_of("diagnosis")
    ('A', 'C', None)
    """
    return next((each.letter for each in IDENTIFIERS if each.matches(name)), None)
