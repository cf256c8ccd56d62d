"""All checks of a release in one list, each with a sentence and a severity.

The sentences contain column names, counts and shares, never a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from shoal.release.release import Release
from shoal.risk.minimality import Minimality, minimality
from shoal.risk.sensitive import (
    NEARLY,
    Homogeneity,
    Similarity,
    Skewness,
    Source,
    homogeneity,
    is_comparable,
    similarity,
    skewness,
)
from shoal.support.wording import counted

Severity = Literal["fine", "look", "serious"]
MANY = 0.2  # share of people from which a finding is serious
ADVANTAGE = 0.1  # additional correct guesses, as a share of people, that need a look


@dataclass(frozen=True)
class Check:
    """The result of one kind of attack on a release, from `checks`.

    Attributes:
        name: Name of the check, such as `homogeneity`.
        title: Title for readers.
        column: The sensitive column, None if the check covers all.
        sentence: What an attacker learns, in words.
        figures: The counts, by name.
        severity: `fine`, `look` (needs a decision), or `serious`: values are certain, or the
            finding affects many people.
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
    """Return every check that applies to a release, or to classes alone.

    For each sensitive column: homogeneity, skewness and, if distances between values are known,
    similarity. For a release whose model uses sensitive columns also minimality, unless only its
    counts are known. Without sensitive columns there are no checks.

    Parameters:
        source: A release, or classes.

    Returns:
        The checks.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")
    >>> [(check.name, check.severity) for check in checks(release)]
    [('homogeneity', 'serious'), ('skewness', 'fine')]
    """
    release = source if isinstance(source, Release) else None
    table = source.original if isinstance(source, Release) else source.table
    results = []
    for column in table.sensitive:
        results.append(_homogeneity(homogeneity(source, column)))
        results.append(_skewness(skewness(source, column)))
        if is_comparable(source, column):
            results.append(_similarity(similarity(source, column)))
    if release is not None and guards_values(release) and release.knows("tuple"):
        results.append(_minimality(minimality(release)))
    return tuple(results)


def guards_values(release: Release) -> bool:
    """Return whether the model uses sensitive columns."""
    return any(part.columns for part in release.model.parts)


def _homogeneity(result: Homogeneity) -> Check:
    severity: Severity = "fine"
    if result.certain and result.usual < 1:
        severity = "serious"
    elif result.nearly and result.usual < NEARLY:
        severity = "look"
    sentence = (
        f"{_people(result.certain, result.people)}: all records that may be theirs show one value "
        f"of {result.column}"
    )
    if result.nearly > result.certain:
        sentence += f"; for {result.nearly:,} at least nine tenths of them show one value"
    figures = _figures(result, "certain_share", "nearly_share")
    return Check("homogeneity", "One value for all", result.column, sentence, figures, severity)


def _skewness(result: Skewness) -> Check:
    severity: Severity = "fine"
    if result.raised_share >= MANY:
        severity = "serious"
    elif result.raised or result.advantage >= ADVANTAGE:
        severity = "look"
    sentence = (
        f"guessing the most common value of {result.column} among the records that may be a "
        f"person's is right for {result.guessed:.3f} of people, compared with {result.blind:.3f} "
        f"without the release; the probability of a value rises by at most {result.rise:.3f}"
    )
    figures = _figures(result, "raised_share", "advantage")
    return Check("skewness", "Values become likelier", result.column, sentence, figures, severity)


def _similarity(result: Similarity) -> Check:
    severity: Severity = "fine"
    if result.different:
        severity = "serious" if result.different_share >= MANY else "look"
    close = (
        "lie close together, with at most a tenth of the table's people between them"
        if result.by == "order"
        else "fall under one label of its hierarchy"
    )
    sentence = (
        f"{_people(result.different, result.people)}: the values of {result.column} that may be "
        f"theirs differ but {close}"
    )
    figures = _figures(result, "alike_share", "different_share")
    return Check("similarity", "Different, but alike", result.column, sentence, figures, severity)


def _minimality(result: Minimality) -> Check:
    guarded = ", ".join(result.guarded)
    sentence = (
        f"{result.held:,} of {counted(result.classes, 'class')} "
        f"({counted(result.held_people, 'person', 'people')}) could be split into classes of at "
        f"least {result.k:,} people, and only the model on {guarded} prevents it: an attacker who "
        "knows the method learns that the model would fail there"
    )
    figures = _figures(result, "held_share")
    severity: Severity = "look" if result.held else "fine"
    return Check("minimality", "Coarser than k requires", None, sentence, figures, severity)


def _people(some: int, every: int) -> str:
    return f"{some:,} of {counted(every, 'person', 'people')}"


def _figures(result: Any, *shares: str) -> dict[str, Any]:
    """Return the fields of a finding and some of its properties, without the column's name."""
    fields = {name: value for name, value in asdict(result).items() if name != "column"}
    return {**fields, **{name: getattr(result, name) for name in shares}}
