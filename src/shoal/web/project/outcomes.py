"""What came out: the figures of a release in words, releases side by side, and answers about risk.

Everything is read from the report of a release, which names no value that few people share, and
from assessments of risk. Nothing is estimated here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.report.released import released_in_words
from shoal.support.files import read_text
from shoal.support.wording import counted, listed_names

CHECKED = "We regrouped the released rows and checked the guarantee: it holds."
WITHHELD = "not stated"  # it depends on records that are not released


@dataclass(frozen=True)
class Figure:
    """One figure of a release.

    Parameters:
        label: What it is.
        text: The figure as text.
        meaning: What it means, in one sentence.
    """

    label: str
    text: str
    meaning: str = ""


@dataclass(frozen=True)
class Bar:
    """A group of values before and after, as shares of the released rows.

    Parameters:
        label: The group.
        before: Its share in the original table; None for a column that is released unchanged.
        after: Its share in the release.
    """

    label: str
    before: float | None
    after: float


@dataclass(frozen=True)
class ColumnOutcome:
    """What happened to one column.

    Parameters:
        name: The column.
        role: Its role, empty if it has none.
        treatment: How it is released, in words.
        kept, generalized, hidden: Shares of its cells; None for columns that are not generalized.
        by: What the bars are, in words.
        bars: The distribution before and after; empty if none may be shown.
    """

    name: str
    role: str
    treatment: str
    kept: float | None = None
    generalized: float | None = None
    hidden: float | None = None
    by: str = ""
    bars: tuple[Bar, ...] = ()


class Outcome:
    """A release as its report describes it.

    Parameters:
        name: The name of the release.
        report: The contents of its report.
    """

    def __init__(self, name: str, report: Mapping[str, Any]) -> None:
        self.name = name
        self.report = report

    @classmethod
    def read(cls, name: str, path: Path) -> Outcome:
        """Read the report of a release.

        Parameters:
            name: The name of the release.
            path: The report as JSON.

        Raises:
            InputError: The file is not a report.
        """
        try:
            report = json.loads(read_text(path))
        except ValueError:
            report = None
        if not isinstance(report, dict) or "guarantee" not in report:
            raise InputError(f"{path.name}: is not a report of a release; create it again")
        return cls(name, report)

    @property
    def verdict(self) -> str:
        """The result in one or two sentences: what is released, and that it was checked.

        The guarantee and what it does not cover are not repeated, because the page lists them.
        """
        records = self.report.get("records") or {}
        if not self.report["guarantee"].get("verified") or records.get("suppressed") is None:
            return str(self.report.get("verdict") or self.report["guarantee"]["promise"])
        return f"{released_in_words(records)}. {CHECKED}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the guarantee does not cover."""
        return tuple(self.report.get("warnings") or ())

    @property
    def promise(self) -> str:
        """The guarantee as a sentence."""
        return str(self.report["guarantee"]["promise"])

    @property
    def highest_risk(self) -> float | None:
        """The highest risk of a person, from 0 to 1, None if it is not stated."""
        return _number((self.report.get("risk") or {}).get("highest"))

    @property
    def kept(self) -> float | None:
        """The share of cells that show the original value, None if it is not stated."""
        cells = (self.report.get("losses") or {}).get("cells") or {}
        return _number(cells.get("kept_exactly"))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The main figures, in the same order for every release."""
        risk = self.report.get("risk") or {}
        cells = (self.report.get("losses") or {}).get("cells") or {}
        records = self.report.get("records") or {}
        expected = risk.get("expected") or {}
        return (
            Figure("People in the release", _count(_released(records)), _suppressed(records)),
            Figure(
                "Smallest group",
                _count(self.report["guarantee"].get("smallest_class")),
                "people who share one combination of the columns that others may know",
            ),
            Figure(
                "Highest risk",
                one_in(_unrounded(risk)),
                "the chance of finding the right record of the person most at risk",
            ),
            Figure(
                "Average risk",
                percent(risk.get("average")),
                "the same chance, averaged over the people in the release",
            ),
            _matched(expected),
            Figure("Cells kept", percent(cells.get("kept_exactly")), "show the original value"),
            Figure("Cells made coarser", percent(cells.get("generalized")), "show a group"),
            Figure("Cells hidden", percent(cells.get("hidden")), "show nothing"),
        )

    @property
    def columns(self) -> tuple[ColumnOutcome, ...]:
        """What happened to each column, quasi-identifiers first."""
        shares = {
            each["column"]: each
            for each in (self.report.get("losses") or {}).get("attributes") or ()
        }
        drawn = {each["column"]: each for each in self.report.get("distributions") or ()}
        found = [
            _column(each, shares.get(each["name"], {}), drawn.get(each["name"], {}))
            for each in self.report.get("columns") or ()
        ]
        order = ("quasi", "sensitive", "insensitive", "identifier", "")
        return tuple(sorted(found, key=lambda column: order.index(column.role)))

    @property
    def limits(self) -> tuple[tuple[str, str], ...]:
        """What the guarantee does not promise: titles and sentences."""
        return tuple((each["title"], each["text"]) for each in self.report.get("limits") or ())


def _column(
    column: Mapping[str, Any], shares: Mapping[str, Any], drawn: Mapping[str, Any]
) -> ColumnOutcome:
    bars = tuple(
        Bar(str(group["label"]), group["before"], float(group["after"]))
        for group in drawn.get("groups") or ()
        if group["after"] is not None
    )
    return ColumnOutcome(
        column["name"],
        column.get("role") or "",
        column.get("treatment") or "",
        _number(shares.get("kept_exactly")),
        _number(shares.get("generalized")),
        _number(shares.get("hidden")),
        drawn.get("by") or "",
        bars,
    )


@dataclass(frozen=True)
class SideBySide:
    """Releases compared: one line per figure, one text per release.

    Parameters:
        names: The releases.
        lines: The label, the texts, and the position of the best release or None.
    """

    names: tuple[str, ...]
    lines: tuple[tuple[str, tuple[str, ...], int | None], ...]


def side_by_side(outcomes: Sequence[Outcome]) -> SideBySide:
    """Return two or three releases side by side.

    Parameters:
        outcomes: The releases.

    Returns:
        The figures of each, then how each column is released.
    """
    best = {
        "Highest risk": _best([outcome.highest_risk for outcome in outcomes], lowest=True),
        "Cells kept": _best([outcome.kept for outcome in outcomes], lowest=False),
    }
    rows = zip(*(outcome.figures for outcome in outcomes), strict=True)
    lines = [
        (row[0].label, tuple(figure.text for figure in row), best.get(row[0].label)) for row in rows
    ]
    lines.insert(0, ("Guarantee", tuple(outcome.promise for outcome in outcomes), None))
    by_name = [{column.name: column for column in outcome.columns} for outcome in outcomes]
    for name in dict.fromkeys(name for columns in by_name for name in columns):
        each = [columns.get(name) for columns in by_name]
        if any(column is not None and column.role == "quasi" for column in each):
            texts = tuple("left out" if c is None else _in_short(c) for c in each)
            kept = [None if c is None else c.kept for c in each]
            lines.append((name, texts, _best(kept, lowest=False)))
    return SideBySide(tuple(outcome.name for outcome in outcomes), tuple(lines))


def _in_short(column: ColumnOutcome) -> str:
    if column.kept is None:
        return column.treatment
    return f"{percent(column.kept)} kept, {percent(column.hidden)} hidden"


def _best(values: Sequence[float | None], *, lowest: bool) -> int | None:
    """Return the position of the only best value, None if several are best or one is missing."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) or len(values) < 2:
        return None
    wanted = min(known) if lowest else max(known)
    return values.index(wanted) if known.count(wanted) == 1 else None


def percent(share: Any) -> str:
    """Return a share in percent, with a decimal below 10; 0 is none and 100 is all.

    >>> percent(0.1234), percent(0.0123), percent(0.0001), percent(0.9999), percent(None)
    ('12 %', '1.2 %', 'under 0.1 %', 'over 99 %', 'not stated')
    """
    number = _number(share)
    if number is None:
        return WITHHELD
    if number <= 0:
        return "0 %"
    if number >= 1:
        return "100 %"
    if number < 0.0005:
        return "under 0.1 %"
    if number > 0.995:
        return "over 99 %"
    return f"{100 * number:.1f} %" if number < 0.0995 else f"{100 * number:.0f} %"


def one_in(share: Any) -> str:
    """Return a chance as "1 in n", n rounded down so that the chance is never understated.

    >>> one_in(0.2), one_in(1 / 3), one_in(1.0), one_in(0), one_in(None)
    ('1 in 5', '1 in 3', 'certain', 'none', 'not stated')
    """
    number = _number(share)
    if number is None:
        return WITHHELD
    if number <= 0:
        return "none"
    if number >= 1:
        return "certain"
    if number < 1e-9:
        return "under 1 in 1,000,000,000"
    return f"1 in {int(1 / number + 1e-6):,}" if number <= 0.5 else percent(number)


def _unrounded(risk: Mapping[str, Any]) -> float | None:
    """Return the highest risk from its reciprocal, which loses less when it is rounded."""
    highest, parts = _number(risk.get("highest")), _number(risk.get("one_in"))
    return 1 / parts if highest and parts else highest


def _matched(expected: Mapping[str, Any]) -> Figure:
    """Return the share of people whom an attack on all rows finds, or why it is not counted."""
    reason = str(expected.get("reason") or "").partition("; use `")[0]
    meaning = "the expected share of people found if all rows are matched at once"
    stated = "not counted" if reason else percent(expected.get("share"))
    meaning += f"; it is not counted, because {reason}" if reason else ""
    return Figure("Found by matching everyone", stated, meaning)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _count(value: Any) -> str:
    if value is None:
        return WITHHELD
    return value if isinstance(value, str) else f"{int(value):,}"


def _released(records: Mapping[str, Any]) -> Any:
    people = records.get("released_people")
    return records.get("released") if people is None else people


def _suppressed(records: Mapping[str, Any]) -> str:
    left_out = records.get("suppressed_people")
    if left_out is None:
        return ""
    return "no one is left out" if left_out == 0 else f"{_count(left_out)} left out"


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
            "How many people can someone find by trying everyone?",
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
