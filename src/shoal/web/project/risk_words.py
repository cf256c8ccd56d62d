"""The risk of a release in sentences, for an attacker whose knowledge the reader chooses.

Every number is one of the library's figures; nothing is estimated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.support.wording import counted, listed_names
from shoal.web.project.outcomes import one_in, percent


@dataclass(frozen=True)
class Answer:
    """The answer to one question about the risk.

    Parameters:
        question: What the reader wants to know.
        figure: The answer as one figure.
        sentence: What the figure means.
        share: The figure from 0 to 1, None if it is a count.
    """

    question: str
    figure: str
    sentence: str
    share: float | None = None


def answers(
    assessment: Mapping[str, Any], outside: Mapping[str, Any] | None = None
) -> tuple[Answer, ...]:
    """Return the answers for an attacker who knows some columns of everyone.

    Parameters:
        assessment: `Assessment.to_dict()` of an attacker who knows who is in the release.
        outside: The same for an attacker who does not know it, None if no one is left out.

    Returns:
        One answer for each question.
    """
    known = listed_names(assessment["known"], 6)
    people = int(assessment["people"])
    if not people:
        return (Answer("Can anyone be found?", "no one", "No person is in the release."),)
    highest, share = float(assessment["highest_risk"]), float(assessment["share"])
    found = [
        Answer(
            "Can someone find a person who is in the table?",
            one_in(highest),
            f"An attacker who knows {known} of a person, and that the person is in the table, "
            f"picks the right record with a chance of at most {percent(highest)}.",
            highest,
        ),
        _unsure(outside, known, highest),
        Answer(
            "How many people can someone find who tries everyone?",
            percent(share),
            f"An attacker who knows {known} of everyone and matches all records at once is "
            f"expected to find {_expected(assessment)} of {counted(people, 'person', 'people')}.",
            share,
        ),
        _above(assessment, people),
        _forced(assessment, people),
    ]
    return tuple(found)


def _unsure(outside: Mapping[str, Any] | None, known: str, highest: float) -> Answer:
    question = "What if they do not know whether the person is in the table?"
    if outside is None:
        return Answer(
            question,
            one_in(highest),
            "No one is left out of the release, so the chance is the same as above.",
            highest,
        )
    chance = float(outside["highest_risk"])
    return Answer(
        question,
        one_in(chance),
        f"An attacker who knows {known} of a person, but not that the person is in the release, "
        f"picks the right record with a chance of at most {percent(chance)}.",
        chance,
    )


def _expected(assessment: Mapping[str, Any]) -> str:
    """Return the expected number of people, with its interval if it was sampled."""
    value, low, high = (assessment[name] for name in ("value", "low", "high"))
    text = f"{value:,.1f}" if value < 10 else f"{value:,.0f}"
    if low is None or high is None or high - low < 0.05:
        return text
    return f"{text} (between {low:,.1f} and {high:,.1f})"


def _above(assessment: Mapping[str, Any], people: int) -> Answer:
    above, k = int(assessment["above"]), int(assessment["k"])
    return Answer(
        f"Does anyone have a risk above 1 in {k}?",
        "no one" if not above else f"{above:,} of {people:,}",
        f"No one has a risk above 1 in {k}."
        if not above
        else f"{counted(above, 'person has', 'people have')} a risk above 1 in {k}: "
        f"{percent(above / people)} of the release.",
    )


def _forced(assessment: Mapping[str, Any], people: int) -> Answer:
    forced = int(assessment["forced"])
    return Answer(
        "Is anyone found for certain?",
        "no one" if not forced else f"{forced:,} of {people:,}",
        "Everyone could also be matched with the record of someone else."
        if not forced
        else f"{counted(forced, 'person', 'people')} can only be matched with their own record.",
    )
