"""Questions to the stages of a study of robust predictions, each of which a claim rests on.

A published figure is only judged on the published study in its published size; what is said in
words is judged wherever the pictures suffice to tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from shoal.risk.proportion import Interval, proportion
from studies.claims import Answer, Test
from studies.robust import published
from studies.robust.figures import (
    above,
    ahead,
    is_whole,
    percent,
    share,
    stage,
    within,
)
from studies.runs import Row

CLOSE, NEAR = 0.01, 0.05  # means over thousands of pictures, and over a few, that agree
FEW = 0.02  # the same of shares that are small
WORDS = {"plain": "without noise", "noisy": "with noise"}


def under(rows: Sequence[Row], model: str, count: int) -> Row:
    """Return the stage of single examples, or of two or three laid over each other."""
    if count == 1:
        return stage(rows, "single", model=model)
    return stage(rows, "superimposed", model=model, count=count)


def agrees(rows: Sequence[Row], found: Interval, theirs: float, near: float = NEAR) -> bool | None:
    """Hold a share against a published one: near it, apart from it, or too few pictures to tell.

    Theirs rests on as many pictures as ours, so that the difference is less certain than either.
    """
    if not is_whole(rows):
        return None
    gap = theirs - found.value
    if abs(gap) <= near:
        return True
    side = found.high - found.value if gap > 0 else found.value - found.low
    return None if abs(gap) <= 2**0.5 * side else False


def together(holds: Sequence[bool | None]) -> bool | None:
    """Join answers: one that disagrees decides, then one that is open."""
    return False if False in holds else None if None in holds else True


def validation(data: str) -> Test:
    """Ask whether one network learns as much as published."""

    def test(rows: Sequence[Row]) -> Answer:
        found, theirs = fmean(stage(rows, "train")["single_plain"]), published.VALIDATION[data]
        told = f"{percent(found)} on average, {percent(theirs)} published"
        return (abs(found - theirs) <= CLOSE if is_whole(rows) else None), told

    return test


def vote_is_better(rows: Sequence[Row]) -> Answer:
    """Ask whether the vote is right more often than one network, without noise and with it."""
    row = stage(rows, "train")
    told, holds = [], []
    for model, words in WORDS.items():
        vote, single = row[f"vote_{model}"], fmean(row[f"single_{model}"])
        found = proportion(round(vote * row["validation"]), row["validation"])
        holds.append(above(Interval(*(end - single for end in found))))
        told.append(f"{words} {percent(vote)} for {percent(single)}")
    return together(holds), "; ".join(told)


def moved_is_better(rows: Sequence[Row]) -> Answer:
    """Ask whether networks that learned from moved pictures are right more often."""
    train, moved = stage(rows, "train"), stage(rows, "moved")
    before, after = (fmean(row["single_plain"]) for row in (train, moved))
    return after > before + CLOSE, (
        f"one network {percent(after)} for {percent(before)}, the vote "
        f"{percent(moved['vote_plain'])} for {percent(train['vote_plain'])}, with noise "
        f"{percent(moved['vote_noisy'])} for {percent(train['vote_noisy'])}"
    )


def vote_gives_back(rows: Sequence[Row]) -> Answer:
    """Ask whether a vote with noise is as good as one network without."""
    row = stage(rows, "train")
    alone, noisy, vote = fmean(row["single_plain"]), fmean(row["single_noisy"]), row["vote_noisy"]
    lost = alone - noisy > CLOSE  # or there is nothing to give back
    return (vote >= alone - CLOSE if lost else None), (
        f"one network is right on {percent(alone)} without noise and on {percent(noisy)} with it, "
        f"the vote with noise on {percent(vote)}"
    )


def vote_right(data: str, model: str, count: int) -> Test:
    """Ask whether the vote stays right as often as published."""

    def test(rows: Sequence[Row]) -> Answer:
        found, theirs = share(under(rows, model, count)), published.CLASSIFICATIONS[count][data]
        told = f"{within(found)} here, {percent(theirs[model].correct)} published"
        return agrees(rows, found, theirs[model].correct), told

    return test


def vote_taken(data: str, model: str, count: int) -> Test:
    """Ask whether as many examples as published take the vote to their target."""

    def test(rows: Sequence[Row]) -> Answer:
        found = share(under(rows, model, count), "target")
        theirs = published.CLASSIFICATIONS[count][data][model].target
        told = f"{within(found)} here, {100 * theirs:.2f} % published"
        return agrees(rows, found, theirs, FEW), told

    return test


def single_right(data: str, model: str, count: int) -> Test:
    """Ask whether one network, on average, loses as much as published."""

    def test(rows: Sequence[Row]) -> Answer:
        row, theirs = under(rows, model, count), published.SINGLE[count][data][model]
        ours = row["single_clean"], row["single_attacked"]
        told = f"from {percent(ours[0])} to {percent(ours[1])} here"
        near = all(abs(a - b) <= 2 * NEAR for a, b in zip(ours, theirs, strict=True))
        return (near if is_whole(rows) else None), told

    return test


def carries_less(rows: Sequence[Row]) -> Answer:
    """Ask whether three laid over each other cost a network less than half of what they do there.

    There is the published study of mnist, without noise.
    """
    row, there = under(rows, "plain", 3), published.SINGLE[3]["mnist"]["plain"]
    lost, theirs = row["single_clean"] - row["single_attacked"], there.clean - there.attacked
    told = f"three cost a network {100 * lost:.0f} points, {100 * theirs:.0f} published of MNIST"
    return (lost < theirs / 2 if is_whole(rows) else None), told


def noise_helps(count: int, *, helps: bool = True) -> Test:
    """Ask whether the vote is right more often, or less, where noise was met."""

    def test(rows: Sequence[Row]) -> Answer:
        noisy, plain = under(rows, "noisy", count), under(rows, "plain", count)
        gap = ahead(noisy, plain)
        told = (
            f"with noise {percent(share(noisy).value)}, without {percent(share(plain).value)}; "
            f"the difference lies between {100 * gap.low:+.0f} and {100 * gap.high:+.0f} points"
        )
        held = above(gap)
        return (held if helps or held is None else not held), told

    return test


def as_on_clean(count: int) -> Test:
    """Ask whether noise and vote fare under attack as without one."""

    def test(rows: Sequence[Row]) -> Answer:
        row = under(rows, "noisy", count)
        found, clean = share(row), row["vote_clean"]
        holds = found.value >= clean - NEAR
        if not holds and found.high >= clean - NEAR:
            return None, f"{within(found)} under attack, {percent(clean)} before"
        return holds, f"{within(found)} under attack, {percent(clean)} before"

    return test
