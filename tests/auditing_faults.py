"""Known faults of private mechanisms, planted in the shipped code at the seams that it has."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from shoal.dp import functional_logistic_regression, mechanisms
from shoal.methods.lattice import node_choice, sampled_draw
from shoal.methods.lattice.lattice import Lattice
from shoal.methods.lattice.node_choice import NodeChoice
from shoal.methods.lattice.safe_la import SafeLA
from shoal.methods.lattice.sampled_draw import SampledDraw


def wrong_sensitivity(patch):
    """The choice of the node divides its scores by too little."""
    right = node_choice.score_sensitivity
    patch.setattr(node_choice, "score_sensitivity", lambda k, beta: right(k, beta) / 12)


def fixed_size_sample(patch):
    """A fixed share of the records is drawn instead of each by a draw of its own."""

    def fixed(size, beta, seed=None):
        return np.random.default_rng(seed).permutation(np.arange(size) < math.floor(beta * size))

    patch.setattr(mechanisms, "bernoulli", fixed)


def classes_without_sensitive(patch):
    """Classes are counted over the quasi-identifiers alone."""
    patch.setattr(sampled_draw, "all_published", Lattice.of)


def dropped_count_published(patch):
    """A note states how many records were left out."""
    release = SampledDraw._release

    def telling(self, node, kept):
        made, left = release(self, node, kept), int((kept == 0).sum())
        return replace(made, run=replace(made.run, notes=(f"{left} left out",)))

    patch.setattr(SampledDraw, "_release", telling)


def same_seed_every_time(patch):
    """Every release draws the same numbers."""
    patch.setattr(sampled_draw, "draw_seeds", lambda seed, slots: list(range(slots + 2)))


def too_little_noise(patch):
    """The regression draws a third of the noise that its ε needs."""
    noise = mechanisms.laplace
    patch.setattr(
        functional_logistic_regression,
        "laplace",
        lambda values, scale, seed=None: noise(values, scale / 3, seed),
    )


def one_slot_in_the_claim(patch):
    """Rows of one person are in several samples, of which the claim counts one."""
    claim = SafeLA.claim

    def one(self, k, unit="record"):
        budget = self._budget
        alone = budget.choice + budget.per_sample
        return claim(replace(self, max_rows_per_person=1, epsilon=alone), k, unit)

    patch.setattr(SafeLA, "claim", one)


def rows_beyond_the_bound(patch):
    """All rows of a person are in the first slot, however many there are."""
    patch.setattr(mechanisms, "random_ranks", lambda groups, seed=None: np.zeros_like(groups))


@dataclass(frozen=True, eq=False)
class Spiteful(NodeChoice):
    """A choice between two nodes that is ε′-private for the records it looks at, made to betray.

    The scores differ by one sensitivity more if the person is there, and by one less for each
    other record beyond k − 1.
    """

    person: bool = False

    @property
    def scores(self):
        others = self.records - self.person
        lead = self.person - max(0, others - (self.k - 1)) - 0.5
        return np.array([0.0, lead * self.sensitivity])

    @classmethod
    def at(cls, choice, person):
        parts = {f: getattr(choice, f) for f in choice.__dataclass_fields__}
        return cls(**parts, person=person)


def spiteful_scores(patch):
    """The node is chosen by scores that betray the last record, on all records: still private."""
    scored = SampledDraw._scored

    def spiteful(self, parts):
        rows = parts[0].table["code"]
        return Spiteful.at(scored(self, parts), bool((rows.codes == LAST).any()))

    patch.setattr(SampledDraw, "_scored", spiteful)


def node_drawn_from_the_sample(patch):
    """The same choice looks at the sample that is then released."""
    spiteful_scores(patch)

    def on_the_sample(self, slots, samples):
        return self._scored(
            [node_choice.all_published(self.records.take(np.flatnonzero(samples[0])))]
        )

    patch.setattr(SampledDraw, "choice", on_the_sample)


LAST = 6  # the code of the last record of a table of seven different ones
