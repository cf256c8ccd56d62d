"""Tests of claims on networks and votes, from the stages of a study of robust predictions.

A published figure is judged only on the published study at its published size; a claim in words is
judged wherever there are five pictures or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from studies.claims import Answer, Test
from studies.robust import published
from studies.robust.figures import (
    ahead,
    by_picture,
    is_whole,
    mean_over_draws,
    percent,
    points,
    share,
    stage,
    within,
)
from studies.runs import Row
from studies.verdicts import (
    Decision,
    Estimate,
    Range,
    above,
    all_of,
    at_least,
    below,
    decide,
    estimate_mean,
    estimate_share,
    exact,
    near,
)

CLOSE, NEAR = 0.01, 0.05  # tolerances: of means over thousands of pictures, and over a few
FEW = 0.02  # the tolerance of small shares
WORDS = {"plain": "without noise", "noisy": "with noise"}


def under(rows: Sequence[Row], model: str, count: int) -> Row:
    """Return the stage of single examples, or of sums of two or three."""
    if count == 1:
        return stage(rows, "single", model=model)
    return stage(rows, "superimposed", model=model, count=count)


def at_full_size(rows: Sequence[Row], found: Estimate, claimed: Range) -> Decision:
    """Return the verdict on a published figure; undecided in a study of another size."""
    return decide(found, claimed) if is_whole(rows) else "undecided"


def validation(data: str) -> Test:
    """Test whether single networks have the published accuracy."""

    def test(rows: Sequence[Row]) -> Answer:
        found = estimate_mean(stage(rows, "train")["single_plain"])
        theirs = published.VALIDATION[data]
        text = f"{within(found)} on average, {percent(theirs)} published"
        return at_full_size(rows, found, near(theirs, CLOSE)), text

    return test


def vote_is_better(rows: Sequence[Row]) -> Answer:
    """Test whether the vote is right more often than one network, without noise and with it."""
    row = stage(rows, "train")
    texts, decisions = [], []
    for model, words in WORDS.items():
        vote, single = _vote(row, model), fmean(row[f"single_{model}"])
        decisions.append(decide(vote.minus(exact(single)), above(0)))
        texts.append(f"{words} {within(vote)}, one network {percent(single)}")
    return all_of(decisions), "; ".join(texts)


def _vote(row: Row, model: str) -> Estimate:
    """Return the accuracy of the vote on held-back pictures."""
    return estimate_share(round(row[f"vote_{model}"] * row["validation"]), row["validation"])


def moved_is_better(rows: Sequence[Row]) -> Answer:
    """Test whether networks trained on moved pictures are right more often."""
    train, moved = stage(rows, "train"), stage(rows, "moved")
    pairs = zip(moved["single_plain"], train["single_plain"], strict=True)
    gain = estimate_mean([after - before for after, before in pairs])
    return decide(gain, above(CLOSE)), (
        f"one network gains {within(gain)}; the vote {percent(moved['vote_plain'])} instead of "
        f"{percent(train['vote_plain'])}, with noise {percent(moved['vote_noisy'])} instead of "
        f"{percent(train['vote_noisy'])}"
    )


def vote_compensates(rows: Sequence[Row]) -> Answer:
    """Test whether a vote with noise is as good as one network without."""
    row = stage(rows, "train")
    alone, noisy, vote = fmean(row["single_plain"]), fmean(row["single_noisy"]), _vote(row, "noisy")
    text = (
        f"one network is right on {percent(alone)} without noise and on {percent(noisy)} with it, "
        f"the vote with noise on {within(vote)}"
    )
    if alone - noisy <= CLOSE:  # noise costs nothing that the vote could compensate
        return "undecided", text
    return decide(vote.minus(exact(alone)), at_least(-CLOSE)), text


def vote_right(data: str, model: str, count: int) -> Test:
    """Test whether the vote stays right as often as published."""

    def test(rows: Sequence[Row]) -> Answer:
        found = share(under(rows, model, count))
        theirs = published.CLASSIFICATIONS[count][data][model].correct
        text = f"{within(found)} here, {percent(theirs)} published"
        return at_full_size(rows, found, near(theirs, NEAR)), text

    return test


def vote_taken(data: str, model: str, count: int) -> Test:
    """Test whether as many examples as published move the vote to their target."""

    def test(rows: Sequence[Row]) -> Answer:
        found = share(under(rows, model, count), "target")
        theirs = published.CLASSIFICATIONS[count][data][model].target
        text = f"{within(found)} here, {100 * theirs:.2f} % published"
        return at_full_size(rows, found, near(theirs, FEW)), text

    return test


def _single(row: Row) -> Estimate:
    """Return the accuracy of single networks under attack, over pictures."""
    right = [hits / row["networks"] for hits in row["columns"]["right"]]
    return mean_over_draws(list(by_picture(row, right).values()))


def single_right(data: str, model: str, count: int) -> Test:
    """Test whether single networks lose as much as published, on average."""

    def test(rows: Sequence[Row]) -> Answer:
        row, theirs = under(rows, model, count), published.SINGLE[count][data][model]
        found = _single(row)
        text = f"from {percent(row['single_clean'])} to {within(found)} here"
        return at_full_size(rows, found, near(theirs.attacked, 2 * NEAR)), text

    return test


def transfers_less(rows: Sequence[Row]) -> Answer:
    """Test whether sums of three cost a network less than half as much as published for MNIST."""
    row, there = under(rows, "plain", 3), published.SINGLE[3]["mnist"]["plain"]
    lost, theirs = exact(row["single_clean"]).minus(_single(row)), there.clean - there.attacked
    text = f"three cost a network {within(lost)}, {percent(theirs)} published for MNIST"
    return at_full_size(rows, lost, below(theirs / 2)), text


def noise_helps(count: int, *, helps: bool = True) -> Test:
    """Test whether the vote is right more often, or less often, with noise."""

    def test(rows: Sequence[Row]) -> Answer:
        noisy, plain = under(rows, "noisy", count), under(rows, "plain", count)
        gap = ahead(noisy, plain)
        text = (
            f"with noise {percent(share(noisy).value)}, without {percent(share(plain).value)}; "
            f"{points(gap)}"
        )
        return decide(gap, above(0) if helps else below(0)), text

    return test


def as_on_clean(count: int) -> Test:
    """Test whether noise and vote are as accurate under attack as without one."""

    def test(rows: Sequence[Row]) -> Answer:
        row = under(rows, "noisy", count)
        found, clean = share(row), row["vote_clean"]
        text = f"{within(found)} under attack, {percent(clean)} before"
        return decide(found.minus(exact(clean)), at_least(-NEAR)), text

    return test
