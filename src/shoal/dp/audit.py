"""Audit: tests whether a mechanism is as private as it claims by running it on neighbouring inputs.

    runs of each input → half of them choose events → the other half count them → bounds → ε, δ

An audit can refute a claim but never confirm it: rare violations go undetected, so a result states
the smallest violation that its runs can detect. Events are sets of outcomes that are likelier on
one of the inputs; they are chosen on runs that are not used for testing, so the test has no
selection bias.

Ding, Wang, Wang, Zhang & Kifer, "Detecting violations of differential privacy", CCS 2018; Neyman &
Pearson, "On the problem of the most efficient tests of statistical hypotheses", Philosophical
Transactions of the Royal Society A 231, 1933.
"""

from __future__ import annotations

import math
import reprlib
import textwrap
from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.dp.claims import Claim
from shoal.errors import InputError
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.progress import report
from shoal.support.proportions import lower_bound, upper_bound

POWER = 0.9  # probability that a violation of the reported size is detected
_BATCH = 100_000  # runs between two progress reports
_BINS = 64  # for outcomes that are real numbers
_TRIED = 2_000  # sets of outcomes that are compared before one is chosen
Outcomes = NDArray[Any] | Sequence[Hashable]
Input = TypeVar("Input")
Once = Callable[[Input, np.random.Generator], Hashable]
Often = Callable[[Input, int, np.random.Generator], Outcomes]
Predicate = Callable[[Any], Any]  # takes one outcome, or an array of all outcomes


def audit(
    mechanism: Once[Input] | Often[Input],
    pairs: Sequence[tuple[Input, Input]],
    claim: Claim,
    *,
    runs: int = 100_000,
    confidence: float = 0.999,
    seed: int = 0,
    vectorised: bool = False,
    events: Mapping[str, Predicate] | None = None,
) -> Audit:
    """Run a mechanism on pairs of neighbouring inputs and search for events that refute its claim.

    Half of the runs choose the events and the other half test them, unless `events` gives
    predicates in advance. All bounds hold simultaneously, over all pairs, events and directions.

    Parameters:
        mechanism: `mechanism(input, generator)` returns one hashable outcome; a vectorised
            mechanism, `mechanism(input, runs, generator)`, returns an array with one outcome per
            row: whole numbers, or one real number.
        pairs: Pairs of neighbouring inputs.
        claim: The claim to test.
        runs: Runs of each input.
        confidence: Confidence with which all bounds hold simultaneously.
        seed: The same seed gives the same runs.
        vectorised: Whether one call of the mechanism makes many runs.
        events: Predicates of an outcome by name, or of the array of all outcomes if vectorised.

    Returns:
        The findings; `violated` says whether they refute the claim.

    Raises:
        InputError: There is no pair or no event, or an option is out of range.

    >>> from shoal.dp import DP
    >>> def sample(record, runs, generator):  # publishes the record with probability 0.1
    ...     return np.where(generator.random(runs) < 0.1, record, -1)
    >>> audit(sample, [(0, 1)], DP(1.0, 0.0, "a sample"), runs=1000, vectorised=True).violated
    True
    """
    _check(pairs, runs, confidence, events)
    tested = runs - runs // 2 if events is None else runs
    error = (1 - confidence) / (8 * len(pairs))  # two bounds, two directions, two events
    tallies: list[_Tally] = []
    for index, pair in enumerate(pairs):
        # each input of each pair has its own stream, whatever the order of runs
        seeds = np.random.SeedSequence(seed, spawn_key=(index,)).spawn(2)
        outcomes = [
            _run(mechanism, each, runs, np.random.default_rng(its_seed), vectorised)
            for each, its_seed in zip(pair, seeds, strict=True)
        ]
        if events is None:
            tallies += _chosen(index + 1, outcomes, runs // 2, claim, error)
        else:
            tallies += _given(index + 1, outcomes, events, vectorised)
    return _judged(tallies, claim, runs, tested, confidence)


@dataclass(frozen=True)
class Audit:
    """The result of `audit`: what the runs prove about a claim of (ε, δ).

    Attributes:
        epsilon: The claimed ε.
        delta: The claimed δ.
        runs: Runs of each input.
        tested: Runs on which events were tested; the other runs chose the events.
        confidence: Confidence with which all findings hold simultaneously.
        findings: What the runs prove about each event.
        noticeable_delta: Smallest probability of an event, impossible on the neighbour, that the
            audit detects 9 times out of 10.
        noticeable_epsilon: Smallest ε of a biased coin that the audit detects 9 times out of 10.
    """

    epsilon: float
    delta: float
    runs: int
    tested: int
    confidence: float
    findings: tuple[Finding, ...]
    noticeable_delta: float
    noticeable_epsilon: float

    @property
    def worst(self) -> Finding:
        """The event with the strongest evidence against the claim."""
        return max(self.findings, key=lambda found: (found.delta, found.epsilon))

    @property
    def epsilon_found(self) -> float:
        """The largest lower bound on ε at the claimed δ."""
        return max(found.epsilon for found in self.findings)

    @property
    def delta_found(self) -> float:
        """The largest lower bound on δ at the claimed ε."""
        return max(found.delta for found in self.findings)

    @property
    def event(self) -> str:
        """The worst event in words."""
        worst = self.worst
        return f"pair {worst.pair}, more likely on the {worst.likelier} input: {worst.event}"

    @property
    def violated(self) -> bool:
        """Whether the claim is false, at the stated confidence."""
        return self.delta_found > self.delta

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain data."""
        derived = {name: getattr(self, name) for name in ("epsilon_found", "delta_found", "event")}
        return {**asdict(self), **derived, "violated": self.violated}

    def report(self) -> str:
        """Return a text with the findings and the smallest violation that is detectable."""
        worst = self.worst
        lines = [
            f"claimed   ε = {self.epsilon:.4g}, δ = {self.delta:.4g}",
            f"found     ε ≥ {self.epsilon_found:.4g} at this δ, δ ≥ {self.delta_found:.4g} "
            f"at this ε, with confidence {self.confidence:g}",
            f"event     {self.event}",
            f"          {worst.hits:,} against {worst.others:,} of {self.tested:,} runs",
            f"tried     {len(self.findings)} events, {self.runs:,} runs of each input",
        ]
        verdict = f"verdict   {self.verdict()}"
        return "\n".join([*lines, textwrap.fill(verdict, 88, subsequent_indent=" " * 10)])

    def verdict(self) -> str:
        """Return one sentence that interprets the audit."""
        if self.violated:
            return "the claim is false"
        return (
            "no violation detected, which proves nothing: on these inputs the audit can only "
            "detect an event that is impossible on the neighbour if its probability is at least "
            f"{self.noticeable_delta:.2g}, and a biased coin if its ε is at least "
            f"{self.noticeable_epsilon:.4g}"
        )


@dataclass(frozen=True)
class Finding:
    """What the runs prove about one event.

    Parameters:
        pair: Number of the pair of neighbours, from 1.
        likelier: The input on which the event is more likely.
        hits, others: How often the event occurred on that input, and on its neighbour.
        low: Lower bound on its probability on that input.
        high: Upper bound on its probability on the neighbour.
        epsilon: Lower bound on a true ε, given the claimed δ.
        delta: Lower bound on a true δ, given the claimed ε.
    """

    pair: int
    likelier: str
    event: str = field(repr=False)
    hits: int
    others: int
    low: float
    high: float
    epsilon: float
    delta: float


class _Tally(NamedTuple):
    pair: int
    likelier: str
    event: str
    hits: int
    others: int


def _check(
    pairs: Sequence[Any], runs: int, confidence: float, events: Mapping[str, Predicate] | None
) -> None:
    if not len(pairs):
        raise InputError("an audit needs at least one pair of neighbouring inputs; none was given")
    if events is not None and not events:
        raise InputError("events is empty; name at least one, or omit events to choose them")
    if runs < 2:
        raise InputError(f"runs must be 2 or more, not {runs}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, not {confidence}")


def _run(
    mechanism: Any, each: Any, runs: int, generator: np.random.Generator, vectorised: bool
) -> Outcomes:
    """Return the outcomes of `runs` runs on one input."""
    if not vectorised:
        return _one_by_one(mechanism, each, runs, generator)
    batches = []
    for start in range(0, runs, _BATCH):
        report("running", start, runs)
        batches.append(np.asarray(mechanism(each, min(_BATCH, runs - start), generator)))
    return np.concatenate(batches)


def _one_by_one(
    mechanism: Any, each: Any, runs: int, generator: np.random.Generator
) -> list[Hashable]:
    outcomes = []
    for run in range(runs):
        if run % 64 == 0:
            report("running", run, runs)
        outcomes.append(mechanism(each, generator))
    return outcomes


def _chosen(
    pair: int, outcomes: Sequence[Outcomes], half: int, claim: Claim, error: float
) -> list[_Tally]:
    """Choose events in each direction on the first half of the runs, count them on the second."""
    coded = Coded.of(outcomes[0], outcomes[1], half)
    size = len(coded.labels)
    chosen_on = [np.bincount(codes[:half], minlength=size) for codes in (coded.first, coded.second)]
    counted = [np.bincount(codes[half:], minlength=size) for codes in (coded.first, coded.second)]
    tallies = []
    for here, likelier in enumerate(("first", "second")):
        there = 1 - here
        promised = (claim.epsilon, claim.delta)
        for inside in strongest_sets(chosen_on[here], chosen_on[there], promised, error):
            words = in_words(inside, chosen_on[here], coded.labels)
            hits, others = int(counted[here][inside].sum()), int(counted[there][inside].sum())
            tallies.append(_Tally(pair, likelier, words, hits, others))
    return tallies


def _given(
    pair: int, outcomes: Sequence[Outcomes], events: Mapping[str, Predicate], vectorised: bool
) -> list[_Tally]:
    """Count events that were given in advance, on all runs and in both directions."""

    def count(holds: Predicate, seen: Outcomes) -> int:
        met: Bools = np.asarray(holds(seen) if vectorised else [holds(each) for each in seen])
        return int(np.count_nonzero(met))

    tallies = []
    for words, holds in events.items():
        first, second = (count(holds, seen) for seen in outcomes)
        tallies.append(_Tally(pair, "first", words, first, second))
        tallies.append(_Tally(pair, "second", words, second, first))
    return tallies


def _judged(
    tallies: list[_Tally], claim: Claim, runs: int, tested: int, confidence: float
) -> Audit:
    """Bound both probabilities of every event so that all bounds hold simultaneously."""
    # Bonferroni: two bounds for each event
    error = (1 - confidence) / (2 * len(tallies))
    low = lower_bound([tally.hits for tally in tallies], tested, error)
    high = upper_bound([tally.others for tally in tallies], tested, error)
    epsilons = proven_epsilon(low, high, claim.delta).tolist()
    deltas = proven_delta(low, high, claim.epsilon).tolist()
    findings = tuple(
        Finding(*tally, *bounds)
        for tally, *bounds in zip(
            tallies, low.tolist(), high.tolist(), epsilons, deltas, strict=True
        )
    )
    setting = (tested, error, claim.epsilon, claim.delta)
    least = noticeable_delta(*setting), noticeable_epsilon(*setting)
    return Audit(claim.epsilon, claim.delta, runs, tested, confidence, findings, *least)


@dataclass(frozen=True)
class Coded:
    """Outcomes of both inputs as codes, and the outcome of each code."""

    first: Counts
    second: Counts
    labels: tuple[Hashable, ...]

    @classmethod
    def of(cls, first: Outcomes, second: Outcomes, chosen_on: int) -> Coded:
        """Give each outcome a code; real numbers are binned by the runs that choose events."""
        if not (isinstance(first, np.ndarray) and isinstance(second, np.ndarray)):
            return cls._numbered(list(first), list(second), chosen_on)
        if first.dtype.kind == "f":
            return cls._binned(first, second, chosen_on)
        rows = np.concatenate([first, second]).reshape(len(first) + len(second), -1)
        if rows.dtype.kind not in "biu":
            raise InputError(
                "outcomes in an array must be numbers; return other outcomes in a list"
            )
        _, where, codes = np.unique(_packed(rows), return_index=True, return_inverse=True)
        labels = (tuple(row) if len(row) > 1 else row[0] for row in rows[where].tolist())
        return cls(codes[: len(first)], codes[len(first) :], tuple(labels))

    @classmethod
    def _numbered(cls, first: list[Hashable], second: list[Hashable], chosen_on: int) -> Coded:
        numbers: dict[Hashable, int] = {}
        # numbered first on the runs that choose events: others cannot influence a choice
        for outcome in (*first[:chosen_on], *second[:chosen_on], *first, *second):
            numbers.setdefault(outcome, len(numbers))
        codes = [np.array([numbers[outcome] for outcome in each]) for each in (first, second)]
        return cls(codes[0], codes[1], tuple(numbers))

    @classmethod
    def _binned(cls, first: NDArray[Any], second: NDArray[Any], chosen_on: int) -> Coded:
        if first.ndim > 1:
            raise InputError(
                "an outcome must be one number or a tuple of whole numbers, not several real "
                "numbers; return one of them, or their sum"
            )
        seen = np.concatenate([first[:chosen_on], second[:chosen_on]])
        finite = seen[np.isfinite(seen)]
        shares = np.linspace(0, 1, _BINS + 1)[1:-1]
        cuts = np.unique(np.quantile(finite if len(finite) else np.zeros(1), shares))
        ends = [-np.inf, *cuts.tolist(), np.inf]
        labels = tuple(f"{low:.4g} to {high:.4g}" for low, high in pairwise(ends))
        places = [np.searchsorted(cuts, each).astype(np.int64) for each in (first, second)]
        return cls(places[0], places[1], labels)


def _packed(rows: NDArray[Any]) -> Counts:
    """(rows,) a code for each row of whole numbers, the same only for equal rows."""
    least = [int(low) for low in rows.min(axis=0)]
    widths = [int(high) - low + 1 for high, low in zip(rows.max(axis=0), least, strict=True)]
    if math.prod(widths) >= 2**62:
        # too wide for one word: compare the rows themselves
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    packed = np.zeros(len(rows), dtype=np.int64)
    for column, low, width in zip(rows.T, least, widths, strict=True):
        packed = packed * width + (column.astype(np.int64) - low)
    return packed


def strongest_sets(
    hits: Counts, others: Counts, claim: tuple[float, float], error: float
) -> list[Bools]:
    """Return the sets of outcomes with the strongest evidence against the claim.

    Outcomes are ranked by how much more likely they are on one input than on the other; the best
    event consists of the first outcomes in this ranking. One set is best against ε, one against δ;
    often they are the same. Only the runs that choose events are used.
    """
    epsilon, delta = claim
    # outcomes that occur only in tested runs are no candidates
    seen = np.flatnonzero(hits + others)
    # half a hit is added to both counts, so that no ratio is infinite
    rank = seen[np.argsort((others[seen] + 0.5) / (hits[seen] + 0.5), kind="stable")]
    ends = np.unique(np.linspace(1, len(rank), min(len(rank), _TRIED)).astype(np.int64))
    low = lower_bound(np.cumsum(hits[rank])[ends - 1], int(hits.sum()), error)
    high = upper_bound(np.cumsum(others[rank])[ends - 1], int(others.sum()), error)
    strongest = {int(np.argmax((low - delta) / high)), int(np.argmax(low - np.exp(epsilon) * high))}
    sets = np.zeros((len(strongest), len(hits)), dtype=np.bool_)
    for inside, end in zip(sets, sorted(strongest), strict=True):
        inside[rank[: ends[end]]] = True
    return list(sets)


def in_words(inside: Bools, hits: Counts, labels: tuple[Hashable, ...]) -> str:
    """Describe the outcomes of an event: their number and the most frequent one."""
    most = reprlib.repr(labels[int(np.argmax(np.where(inside, hits, -1)))])
    size = int(inside.sum())
    return f"outcome {most}" if size == 1 else f"one of {size:,} outcomes, most often {most}"


def proven_delta(low: ArrayLike, high: ArrayLike, epsilon: float) -> Floats:
    """Return the δ that a pair of bounds on an event proves at ε."""
    excess = np.asarray(low) - math.exp(epsilon) * np.asarray(high)
    return np.asarray(np.maximum(excess, 0.0), dtype=np.float64)


def proven_epsilon(low: ArrayLike, high: ArrayLike, delta: float) -> Floats:
    """Return the ε that a pair of bounds on an event proves at δ; high is never 0."""
    ratio = np.maximum(np.asarray(low) - delta, 0.0) / np.asarray(high)
    return np.asarray(np.log(np.maximum(ratio, 1.0)), dtype=np.float64)


def noticeable_delta(runs: int, error: float, epsilon: float, delta: float) -> float:
    """Return the smallest probability of an event that is detected 9 times out of 10.

    The event has this probability on one input and probability 0 on its neighbour: the simplest
    violation. 1 if the runs are too few to detect any.
    """
    from scipy.stats import beta

    never = upper_bound(0, runs, error)

    def is_noticed(hits: int) -> bool:
        return float(proven_delta(lower_bound(hits, runs, error), never, epsilon)) > delta

    enough = bisect_left(range(runs + 1), True, key=is_noticed)
    if enough > runs:
        return 1.0
    return float(beta.ppf(POWER, enough, runs - enough + 1))


def noticeable_epsilon(runs: int, error: float, epsilon: float, delta: float) -> float:
    """Return the smallest ε of a coin that is detected 9 times out of 10 if a smaller ε is claimed.

    The coin is randomised response: the truth with probability e^ε / (1 + e^ε), a lie otherwise.
    Infinite if the runs are too few to detect any.
    """

    def is_noticed(true: float) -> bool:
        return _coin(runs, error, true, delta) > epsilon

    low, high = epsilon, epsilon + 50.0
    if not is_noticed(high):
        return math.inf
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if is_noticed(middle) else (middle, high)
    return high


def _coin(runs: int, error: float, epsilon: float, delta: float) -> float:
    """Return the ε that runs of a biased coin prove, both inputs at an unlucky 1 in 20."""
    from scipy.stats import binom

    unlucky = (1 - POWER) / 2
    lie = math.exp(-epsilon) / (1 + math.exp(-epsilon))
    lies: Any = binom.ppf(1 - unlucky, runs, lie)  # number of lies on either input
    low = lower_bound(runs - lies, runs, error)
    return float(proven_epsilon(low, upper_bound(lies, runs, error), delta))
