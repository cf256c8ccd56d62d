"""Rows of a crosswalk: what a regime asks, where it is answered, the figure, and the status.

A status follows from a rule over figures, so that the verifier of a pack can derive it again. The
18 identifiers of HIPAA's Safe Harbor, 45 CFR 164.514(b)(2)(i), are recognized by the names of
columns here; what cells look like is counted on the released file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.evidence.verify import judge, look_up
from shoal.support.wording import folded_name

MET, NOT_MET, JUDGE = "met", "not met", "for a person to judge"
Row = dict[str, Any]
Condition = dict[str, Any]


def path_to(*names: str) -> str:
    """Return the path of a figure.

    >>> path_to("measured", "sensitive", "blood/type", "t")
    '/measured/sensitive/blood~1type/t'
    """
    return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names)


def at_most(figure: str, limit: float, otherwise: str = NOT_MET) -> Condition:
    """Return the condition that a figure is a number up to the limit."""
    return {"figure": figure, "is": "at most", "limit": limit, "otherwise": otherwise}


def at_least(figure: str, limit: float, otherwise: str = NOT_MET) -> Condition:
    """Return the condition that a figure is a number from the limit upwards."""
    return {"figure": figure, "is": "at least", "limit": limit, "otherwise": otherwise}


def equals(figure: str, value: Any, otherwise: str = NOT_MET) -> Condition:
    """Return the condition that a figure has a value."""
    return {"figure": figure, "is": "equals", "limit": value, "otherwise": otherwise}


def stated(figure: str) -> Condition:
    """Return the condition that the questionnaire answers a question."""
    return {"figure": figure, "is": "stated", "otherwise": NOT_MET}


def row(
    asks: str,
    answered: str,
    figure: str | None = None,
    name: str = "",
    *,
    conditions: Iterable[Condition] = (),
    then: str = JUDGE,
) -> Row:
    """Return a row; the status is `then` if all conditions hold.

    Parameters:
        asks: What the regime asks.
        answered: Where the pack answers it.
        figure: Path of the figure in the evidence.
        name: The name of the figure.
        conditions: Conditions on figures; the first that fails decides.
        then: The status if all conditions hold.
    """
    listed = list(conditions)
    return {
        "asks": asks,
        "answered": answered,
        "figure": None if figure is None else {"name": name, "path": figure},
        "rule": {"conditions": listed, "then": then} if listed else None,
        "status": then,
    }


def asked(asks: str, question: str, answered: str = "Context") -> Row:
    """Return a row that an answer of the questionnaire decides: a person judges the answer."""
    figure = path_to("context", question)
    name = f"question: {question.replace('_', ' ')}"
    return row(asks, answered, figure, name, conditions=[stated(figure)])


def crosswalk(title: str, source: str, rows: Sequence[Row], reason: str | None = None) -> Row:
    """Return a crosswalk; a reason says why the regime does not apply."""
    return {"title": title, "source": source, "rows": list(rows), "does_not_apply": reason}


def resolved(crosswalks: Iterable[Row], evidence: dict[str, Any]) -> list[Row]:
    """Return crosswalks with the values of their figures and the statuses that follow."""
    return [
        each | {"rows": [_resolved(one, evidence) for one in each["rows"]]} for each in crosswalks
    ]


def _resolved(one: Row, evidence: dict[str, Any]) -> Row:
    figure, rule = one["figure"], one["rule"]
    if figure is not None:
        figure = figure | {"value": look_up(evidence, figure["path"])}
    status = one["status"] if rule is None else judge(rule, evidence)
    return one | {"figure": figure, "status": status}


def highest_risk(evidence: dict[str, Any], limit: float) -> list[Condition]:
    """Return the conditions that no one's risk exceeds a limit, by people and by released rows."""
    conditions = [at_most("/risk/after/maximum", limit)]
    if evidence["unit"]["by_class"]:
        conditions.append(at_most("/measured/classes/maximum_risk", limit))
    return conditions


def attacked(asks: str, name: str, *, then: str = MET) -> Row:
    """Return a row that an attack beyond a control group decides; without one, a person judges."""
    at = f"/attacks/{name}"
    return row(
        asks,
        "Attacks",
        f"{at}/low",
        "lower end of the risk beyond the control group",
        conditions=[
            equals(f"{at}/measured", True, otherwise=JUDGE),
            equals(f"{at}/flagged", False),
        ],
        then=then,
    )


def rehearsed(asks: str, evidence: dict[str, Any]) -> Row:
    """Return a row that the rehearsal decides: the share of people found, and the threshold."""
    limit = evidence["threshold"]["maximum_risk"]
    return row(
        asks,
        "Rehearsal",
        "/rehearsal/high",
        "upper end of the share of listed people who are found",
        conditions=[
            equals("/rehearsal/measured", True, otherwise=JUDGE),
            at_most("/rehearsal/low", limit),
        ],
    )


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
