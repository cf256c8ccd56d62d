"""Inference: the nearest released rows reveal a person's sensitive value.

The attacker knows the quasi-identifiers of a person and guesses the most frequent sensitive value
of the nearest released rows. A guess of a number is right within a tolerance, and the guess is the
middle of the numbers that lie densest.
"""

from __future__ import annotations

import numpy as np

from shoal.core.column import Kind
from shoal.core.grouping import order_rows
from shoal.risk.release_attacks.cells import Cells
from shoal.risk.release_attacks.estimates import NOT_TRIED, AttackRisk, Trial, estimate_risk
from shoal.risk.release_attacks.neighbours import EXACT, Space
from shoal.risk.release_attacks.sources import Sources
from shoal.support.arrays import Bools, Counts, Floats

TOLERANCE = 0.05  # of the range of the values
_NEIGHBOURS = 5  # combinations that are equally near and vote together


def infer(sources: Sources, attacks: int, seed: int) -> AttackRisk:
    """Return the risk that sensitive values are inferred, every sensitive column in turn.

    Parameters:
        attacks: The maximum number of people to attack.
        seed: Seed of the drawn people, and of the choice among equally near rows.
    """
    if not sources.sensitive:
        return NOT_TRIED
    rng = np.random.default_rng(seed)
    priority = rng.permutation(len(sources.distinct))
    space = Space(sources, list(sources.quasi), priority)
    rows = [sources.draw(attacks, rng, control=control) for control in (False, True)]
    voters = [_equally_near(space, part) for part in rows]
    released = _RowsOf(sources)
    trials = []
    for name, cells in sources.sensitive.items():
        votes = _Votes(cells)
        naive = votes.guess(np.arange(len(cells.codes)))
        hits, others = (
            votes.are_right(_guesses(votes, near, released, naive), part)
            for near, part in zip(voters, rows, strict=True)
        )
        baseline = votes.are_right(np.full(len(rows[0]), naive), rows[0]).mean()
        trial = Trial(
            name, int(hits.sum()), len(hits), int(others.sum()), len(others), float(baseline)
        )
        trials.append(trial)
    return estimate_risk(trials)


def _equally_near(space: Space, rows: Counts) -> list[tuple[int, ...]]:
    """Return, for each person, the nearest combinations of released quasi-identifiers."""
    near = space.search(rows, _NEIGHBOURS, EXACT)
    tied = near.distances <= near.distances[:, :1] + EXACT
    return [
        tuple(sorted(found[kept].tolist()))
        for found, kept in zip(near.rows, tied & (near.rows >= 0), strict=True)
    ]


class _RowsOf:
    """The released rows of each combination of quasi-identifiers."""

    def __init__(self, sources: Sources) -> None:
        self._order = order_rows([sources.distinct.ids], [len(sources.distinct)])
        self._begins = np.concatenate(([0], np.cumsum(sources.distinct.sizes())))

    def rows(self, combinations: tuple[int, ...]) -> Counts:
        """Return the rows of some combinations."""
        parts = [self._order[self._begins[c] : self._begins[c + 1]] for c in combinations]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _guesses(votes: _Votes, near: list[tuple[int, ...]], released: _RowsOf, naive: float) -> Floats:
    """(people,) the guess for each person; where no row votes, that of a naive guesser."""
    made: dict[tuple[int, ...], float] = {}
    for combinations in near:
        if combinations not in made:
            made[combinations] = votes.guess(released.rows(combinations), naive)
    return np.array([made[combinations] for combinations in near], dtype=np.float64)


class _Votes:
    """Guesses of one sensitive column: numbers as positions, other values as codes.

    A missing value is −1 among codes and NaN among positions; both can be guessed.
    """

    def __init__(self, cells: Cells) -> None:
        self._cells, self._column = cells, cells.column
        self._numeric = self._column.kind is Kind.NUMERIC
        self._tolerance = TOLERANCE * cells.unit
        with np.errstate(invalid="ignore"):
            self._middle = (cells.low + cells.high) / 2
        states_nothing = (cells.sizes == 0) | cells.whole
        if self._numeric:
            states_nothing = ~np.isfinite(self._middle) & (cells.sizes != 1)
        self._silent = states_nothing

    def guess(self, rows: Counts, otherwise: float = 0.0) -> float:
        """Return the guess that these released rows suggest."""
        entries = self._cells.codes[rows]
        entries = entries[~self._silent[entries]]
        if not len(entries):
            return otherwise
        return self._number(self._middle[entries]) if self._numeric else self._code(entries)

    def _number(self, numbers: Floats) -> float:
        known = np.sort(numbers[~np.isnan(numbers)])
        if 2 * len(known) < len(numbers):
            return np.nan  # most are missing
        stops = np.searchsorted(known, known + 2 * self._tolerance, side="right")
        first = int(np.argmax(stops - np.arange(len(known))))
        return float((known[first] + known[stops[first] - 1]) / 2)

    def _code(self, entries: Counts) -> float:
        """Return the code with most votes; a cell that stands for n values is 1/n vote for each."""
        cells = self._cells
        times = np.bincount(entries, minlength=len(cells))
        voting = times[cells.run_entry] > 0  # (runs,)
        which = cells.run_entry[voting]
        shares = times[which] / cells.sizes[which]
        size = self._column.domain + 1
        changes = np.bincount(cells.starts[voting], shares, size)
        changes -= np.bincount(cells.stops[voting], shares, size)
        return float(np.argmax(np.round(np.cumsum(changes)[:-1], 9)))

    def are_right(self, guesses: Floats, rows: Counts) -> Bools:
        """(people,) whether the guesses are right for the people in these rows."""
        codes = self._column.codes[rows]
        if not self._numeric:
            right: Bools = codes == guesses
            return right
        truth = self._column.positions[codes]
        close: Bools = np.abs(truth - guesses) <= self._tolerance * (1 + 1e-9)
        return close | (np.isnan(truth) & np.isnan(guesses))
