"""All checks of a release in one list, each with a sentence and a verdict.

The sentences name columns, counts and shares, never a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from shoal.core.release import Release
from shoal.core.wording import counted
from shoal.risk.candidates import Source
from shoal.risk.homogeneity import NEARLY, Homogeneity, homogeneity
from shoal.risk.minimality import Minimality, minimality
from shoal.risk.similarity import Similarity, is_comparable, similarity
from shoal.risk.skewness import Skewness, skewness

Severity = Literal["fine", "look", "serious"]
MANY = 0.2  # share of people from which a finding is serious by its extent
ADVANTAGE = 0.1  # further right guesses, as a share of people, that ask for a look


@dataclass(frozen=True)
class Check:
    """What a kind of attack finds in a release.

    name: the check's, such as `homogeneity`; title: the same for people.
    column: the sensitive column that it is about, None where it is about all.
    sentence: what an attacker learns, in words.
    figures: what was counted, by name.
    severity: `fine`, `look` (somebody should decide), or `serious`: values are certain, or the
        finding touches many people.
    """

    name: str
    title: str
    column: str | None
    sentence: str
    figures: Mapping[str, Any]
    severity: Severity

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return asdict(self)


def checks(source: Source) -> tuple[Check, ...]:
    """Return every check that can be made of a release, or of classes alone.

    For each sensitive column homogeneity, skewness and, where it is known which values are close,
    similarity; for a release whose model looks at sensitive columns also minimality. None without
    sensitive columns.
    """
    release = source if isinstance(source, Release) else None
    table = source.original if isinstance(source, Release) else source.table
    found = []
    for column in table.sensitive:
        found.append(_homogeneity(homogeneity(source, column)))
        found.append(_skewness(skewness(source, column)))
        if is_comparable(source, column):
            found.append(_similarity(similarity(source, column)))
    if release is not None and any(part.columns for part in release.model.parts):
        found.append(_minimality(minimality(release)))
    return tuple(found)


def _homogeneity(found: Homogeneity) -> Check:
    severity: Severity = "fine"
    if found.certain and found.usual < 1:
        severity = "serious"
    elif found.nearly and found.usual < NEARLY:
        severity = "look"
    sentence = (
        f"{_people(found.certain, found.people)}: all records that may be theirs show one value "
        f"of {found.column}"
    )
    if found.nearly > found.certain:
        sentence += f"; with nine tenths showing one value they are {found.nearly:,}"
    figures = _figures(found, "certain_share", "nearly_share")
    return Check("homogeneity", "One value for all", found.column, sentence, figures, severity)


def _skewness(found: Skewness) -> Check:
    severity: Severity = "fine"
    if found.raised_share >= MANY:
        severity = "serious"
    elif found.raised or found.advantage >= ADVANTAGE:
        severity = "look"
    sentence = (
        f"who guesses the commonest value of {found.column} among the records that may be a "
        f"person's is right for {found.guessed:.3f} of people, without the release for "
        f"{found.blind:.3f}; the likelihood of a value rises by {found.rise:.3f} at most"
    )
    figures = _figures(found, "raised_share", "advantage")
    return Check("skewness", "Values grow likelier", found.column, sentence, figures, severity)


def _similarity(found: Similarity) -> Check:
    severity: Severity = "fine"
    if found.different:
        severity = "serious" if found.different_share >= MANY else "look"
    close = (
        "lie close together, with a tenth of the table's people between them or fewer"
        if found.by == "order"
        else "fall under one label of its hierarchy"
    )
    sentence = (
        f"{_people(found.different, found.people)}: the values of {found.column} that may be "
        f"theirs differ, yet {close}"
    )
    figures = _figures(found, "alike_share", "different_share")
    return Check("similarity", "Different, but alike", found.column, sentence, figures, severity)


def _minimality(found: Minimality) -> Check:
    guarded = ", ".join(found.guarded)
    sentence = (
        f"{found.held:,} of {counted(found.classes, 'class')} "
        f"({counted(found.held_people, 'person', 'people')}) could be finer with {found.k:,} "
        f"people each, and only the model on {guarded} forbids it: anyone who "
        "knows the method learns that it would fail there"
    )
    figures = _figures(found, "held_share")
    severity: Severity = "look" if found.held else "fine"
    return Check("minimality", "Coarser than k asks for", None, sentence, figures, severity)


def _people(some: int, every: int) -> str:
    return f"{some:,} of {counted(every, 'person', 'people')}"


def _figures(found: Any, *shares: str) -> dict[str, Any]:
    """Return the fields of a finding and some of its properties, without the column's name."""
    told = {name: value for name, value in asdict(found).items() if name != "column"}
    return {**told, **{name: getattr(found, name) for name in shares}}
