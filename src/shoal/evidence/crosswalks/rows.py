"""Rows of a crosswalk: what a regime asks, where it is answered, the figure, and the status.

A status follows from a rule over figures, so that the verifier of a pack can derive it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shoal.evidence.verify import judge, look_up

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
