"""Small mechanisms to try the audit itself on: a sound one, and five with a known fault.

A table is four counts: two quasi-identifier values, with two sensitive values each. A recoding
keeps the quasi-identifier or hides it; a release shows how often each published tuple was drawn.
Small enough to write down every outcome with its probability, quick enough for a million runs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from shoal.dp.claims import DPUnderSampling
from shoal.dp.mechanisms import probabilities
from shoal.dp.planning import expected_kept, kept_sensitivity
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.proportions import exact_chance

Table = Sequence[int]
Outcome = tuple[int, ...]
_TUPLES = ((0, 1, 2, 3), (0, 1, 0, 1))  # of each cell, by recoding: what is published of it
_QUASI = ((0, 0, 1, 1), (0, 0, 0, 0))  # likewise: the published quasi-identifier alone


@dataclass(frozen=True)
class SmallRelease:
    """Choose a recoding on all records, draw a sample, drop what is rare. Sound as it stands.

    k: what a published tuple needs; beta: share drawn; choice_epsilon: budget of the choice.
    cost: what hiding the quasi-identifier costs, in kept rows.
    score: rows kept of a sample on average, or of all records; sensitivity: None is the true one.
    sample: each record by a coin of its own, or a fixed share of all.
    counted: the records of a published tuple, or of its quasi-identifier alone.
    tells_dropped: whether the number of dropped records is published.
    """

    k: int = 5
    beta: float = 0.5
    choice_epsilon: float = 1.0
    cost: float = 2.0
    score: Literal["expected", "all"] = "expected"
    sensitivity: float | None = None
    sample: Literal["bernoulli", "fixed"] = "bernoulli"
    counted: Literal["tuple", "quasi"] = "tuple"
    tells_dropped: bool = False

    @property
    def claim(self) -> DPUnderSampling:
        """What is claimed: the budgets of choice and sample added up, and the sample's δ."""
        return DPUnderSampling.of(self.k, self.beta, self.choice_epsilon)

    def __call__(self, table: Table, runs: int, generator: np.random.Generator) -> Codes:
        """Run it so often; (runs, 6) recoding, what is shown of each cell, records told dropped."""
        recodings = generator.choice(2, runs, p=self.chances(table))
        if self.sample == "fixed":
            drawn = generator.multivariate_hypergeometric(table, self._share(table), runs)
        else:
            drawn = generator.binomial(table, self.beta, (runs, len(table)))
        return self._published(drawn, recodings)

    def distribution(self, table: Table) -> dict[Outcome, float]:
        """Return every outcome with its probability."""
        drawn = np.indices([size + 1 for size in table]).reshape(len(table), -1).T
        weights = np.array([self._weight(table, each) for each in drawn.tolist()])
        found: dict[Outcome, float] = defaultdict(float)
        for recoding, chance in enumerate(self.chances(table).tolist()):
            outcomes = self._published(drawn, np.full(len(drawn), recoding))
            for outcome, weight in zip(outcomes.tolist(), weights.tolist(), strict=True):
                found[tuple(outcome)] += chance * weight
        return dict(found)

    def chances(self, table: Table) -> Floats:
        """(recodings,) the probability that each is chosen."""
        if self.score == "expected":
            worth = [
                float(expected_kept(size, self.k, self.beta)) for size in range(sum(table) + 1)
            ]
            bound = float(kept_sensitivity(self.k, self.beta))
        else:
            worth = [float(size) * (size >= self.k) for size in range(sum(table) + 1)]
            bound = float(self.k)
        sizes = [np.bincount(ids, table).astype(np.int64) for ids in _TUPLES]
        scores = np.array([np.array(worth)[each].sum() for each in sizes]) - [0.0, self.cost]
        bound = bound if self.sensitivity is None else self.sensitivity
        return probabilities(scores, self.choice_epsilon, bound, monotone=True)

    def _published(self, drawn: Counts, recodings: Counts) -> Codes:
        """Show the recoding, and for each cell how often its tuple was drawn, 0 if too rarely."""
        shown = np.zeros_like(drawn)
        kept = np.zeros(drawn.shape, dtype=np.bool_)
        for recoding, tuples in enumerate(_TUPLES):
            rows = recodings == recoding
            sizes = drawn[rows] @ _alike(tuples)
            counted = sizes if self.counted == "tuple" else drawn[rows] @ _alike(_QUASI[recoding])
            kept[rows] = counted >= self.k
            shown[rows] = sizes * kept[rows]
        dropped = (drawn * ~kept).sum(axis=1) * self.tells_dropped
        return np.column_stack([recodings, shown, dropped]).astype(np.int32)

    def _weight(self, table: Table, drawn: Sequence[int]) -> float:
        """Return the probability that so many records of each cell are drawn."""
        ways = math.prod(math.comb(size, part) for size, part in zip(table, drawn, strict=True))
        size, part = sum(table), sum(drawn)
        if self.sample == "fixed":
            return ways * (part == self._share(table)) / math.comb(size, self._share(table))
        return ways * self.beta**part * (1 - self.beta) ** (size - part)

    def _share(self, table: Table) -> int:
        return int(self.beta * sum(table))


def _alike(ids: Sequence[int]) -> Counts:
    """(cells, cells) 1 where two cells become one."""
    return np.equal.outer(ids, ids).astype(np.int64)


@dataclass(frozen=True)
class SameSampleRule:
    """Choose on the sample that is then released, by a private rule made to betray one person.

    The class is published or nothing is. The rule publishes e^ε′ times as readily with the person
    drawn, and e^ε′ times as reluctantly for each further one beyond `start` others. Its choice is
    ε′-private for any two samples that differ in one record, and yet a class that is published in
    spite of its size tells that the person was drawn. Claimed is what Li, Qardaji & Su prove for a
    recoding that does not look at the sample.

    A table is two counts: the others, and the person, 0 or 1.
    """

    k: int = 75
    beta: Fraction = Fraction(7, 10)
    choice_epsilon: float = 1.0
    start: int = 74

    @property
    def claim(self) -> DPUnderSampling:
        """The claim that does not hold."""
        return DPUnderSampling.of(self.k, float(self.beta), self.choice_epsilon, proven=False)

    @property
    def ratio(self) -> Fraction:
        """The claimed e^ε, a fraction."""
        return Fraction(math.exp(self.choice_epsilon)) / (1 - self.beta)

    def readiness(self, others: int, person: int) -> Fraction:
        """Return the probability that a sample's class is published."""
        growth = Fraction(math.exp(self.choice_epsilon))
        return growth ** (person - max(0, others - self.start)) / (1 + growth)

    def __call__(self, table: Table, runs: int, generator: np.random.Generator) -> Counts:
        """Run it so often; (runs,) how many records are shown, 0 for nothing."""
        drawn = generator.binomial(table, float(self.beta), (runs, 2))
        readiness = [[float(self.readiness(i, t)) for t in (0, 1)] for i in range(table[0] + 1)]
        chosen: Bools = generator.random(runs) < np.array(readiness)[drawn[:, 0], drawn[:, 1]]
        sizes = drawn.sum(axis=1)
        return np.asarray(sizes * (chosen & (sizes >= self.k)), dtype=np.int64)

    def distribution(self, table: Table) -> dict[Outcome, Fraction]:
        """Return every outcome with its probability, in fractions."""
        found: dict[Outcome, Fraction] = defaultdict(Fraction)
        for others, person in np.ndindex(table[0] + 1, table[1] + 1):
            weight = exact_chance(others, table[0], self.beta)
            weight *= exact_chance(person, table[1], self.beta)
            shown = others + person if others + person >= self.k else 0
            ready = self.readiness(others, person)
            found[(shown,)] += weight * ready
            found[(0,)] += weight * (1 - ready)
        return dict(found)


@dataclass(frozen=True)
class Example:
    """A mechanism with neighbours to audit it on: with a person, and without."""

    about: str
    mechanism: SmallRelease | SameSampleRule
    pairs: tuple[tuple[Table, Table], ...]
    sound: bool = False


_SOUND = SmallRelease()
_PAIRS = (
    ((8, 1, 8, 0), (8, 0, 8, 0)),  # the only one with a sensitive value
    ((5, 8, 4, 0), (4, 8, 4, 0)),  # makes a tuple large enough
    ((6, 0, 9, 0), (5, 0, 9, 0)),  # in the size of class that pays most for the sample
)
EXAMPLES = {
    "sound": Example("chosen on all records, then a fresh sample", _SOUND, _PAIRS, sound=True),
    "sensitivity": Example(
        "kept rows scored as if one record moved them by 1, not k",
        replace(_SOUND, score="all", sensitivity=1.0),
        _PAIRS,
    ),
    "fixed-sample": Example(
        "a fixed share of the records drawn", replace(_SOUND, sample="fixed"), _PAIRS
    ),
    "quasi-only": Example(
        "classes counted without the sensitive column", replace(_SOUND, counted="quasi"), _PAIRS
    ),
    "dropped-count": Example(
        "the number of dropped records published", replace(_SOUND, tells_dropped=True), _PAIRS
    ),
    "same-sample": Example(
        "the recoding chosen on the sample that is released",
        SameSampleRule(),
        (((91, 1), (91, 0)),),
    ),
}
