"""Singling out: predicates from the release that exactly one person of the original fits.

Predicates over one column use cells that are released once and the ends of the column; predicates
over several or all quasi-identifiers use the cells of released rows, the rarest first, and the same
with open ranges: at least, or at most, what a cell of an ordered column allows.

The control group may have another size than the original. A predicate that is unrelated to the
original and fits a small share w of all people fits exactly one of N released people and none of m
others with probability N w (1 − w)^(N + m − 1), and exactly one of the m others and no released one
with m/N of that. So released people who are singled out by chance are N/m times as many as people
of the control group, for every w, and predicates that fit several people play no part.

A few rows that show exact values among generalized ones are a way of their own (`kept_rows`).
"""

from __future__ import annotations

import numpy as np

from shoal.risk.release_attacks.estimates import AttackRisk, Trial, estimate_risk
from shoal.risk.release_attacks.kept_rows import try_kept_rows
from shoal.risk.release_attacks.predicates import (
    Crowd,
    Predicates,
    from_rows,
    of_one_column,
    opened,
)
from shoal.risk.release_attacks.sources import Sources
from shoal.support.arrays import Bools, Codes

_ONE, _SEVERAL, COMPLETE_ROWS = "one column", "several columns", "complete rows"
_OPEN = ", open ranges"


def single_out(sources: Sources, attacks: int, seed: int) -> AttackRisk:
    """Return the risk that predicates single out released people.

    Parameters:
        attacks: The maximum number of predicates of each kind.
        seed: Seed of the drawn predicates.
    """
    rng = np.random.default_rng(seed)
    crowds = [Crowd(sources, slice(0, sources.originals))]
    if sources.controls:
        crowds.append(Crowd(sources, slice(sources.originals, None)))
    cells = list(sources.quasi.values())
    entries = _rarest_rows(sources, attacks, rng)
    mixed = np.stack([rng.permutation(column) for column in entries.T], axis=1)
    everything = np.ones(entries.shape, dtype=np.bool_)
    several = _some_columns(entries.shape, rng) if len(cells) > 2 else None
    kinds: dict[str, tuple[Predicates, Predicates]] = {}
    openings = {"": cells}
    if any(column.column.ordered for column in cells):
        openings[_OPEN] = [opened(column) for column in cells]
    for ending, terms in openings.items():
        for name, used in ((COMPLETE_ROWS, everything), (_SEVERAL, several)):
            if used is not None:
                kinds[name + ending] = (
                    from_rows(terms, entries, used),
                    from_rows(terms, mixed, used),
                )
    single = of_one_column(cells, attacks, rng)
    if len(single):
        kinds[_ONE] = (single, _random_cells(sources, attacks, rng))
    trials = [_try(name, *predicates, crowds, sources) for name, predicates in kinds.items()]
    kept = try_kept_rows(sources, crowds, attacks, rng)
    return estimate_risk(trials if kept is None else [*trials, kept])


def _try(
    name: str, predicates: Predicates, naive: Predicates, crowds: list[Crowd], sources: Sources
) -> Trial:
    fits = crowds[0].count(predicates)
    guessed = crowds[0].count(naive)
    baseline = float((guessed == 1).mean()) if len(naive) else 0.0
    if len(crowds) == 1:
        return Trial(name, int((fits == 1).sum()), len(fits), 0, 0, baseline)
    others = crowds[1].count(predicates)
    people = sources.people_counts
    return Trial(
        name,
        int(((fits == 1) & (others == 0)).sum()),
        len(fits),
        int(((fits == 0) & (others == 1)).sum()),
        len(fits),
        baseline,
        factor=people[0] / people[1],
        exclusive=True,
    )


def _rarest_rows(sources: Sources, count: int, rng: np.random.Generator) -> Codes:
    """(rows, columns) the cells of distinct released rows, those that are released least first."""
    sizes = sources.distinct.sizes()
    drawn = rng.permutation(len(sizes))
    rarest = drawn[np.argsort(sizes[drawn], kind="stable")][:count]
    rows = sources.distinct.first[rarest]
    return np.stack([cells.codes[rows] for cells in sources.quasi.values()], axis=1)


def _some_columns(shape: tuple[int, ...], rng: np.random.Generator) -> Bools:
    """(rows, columns) two columns or more of each row, but not all, drawn at random."""
    rows, columns = shape
    ranks = np.argsort(rng.random((rows, columns)), axis=1)
    some: Bools = ranks < rng.integers(2, columns, rows)[:, None]
    return some


def _random_cells(sources: Sources, count: int, rng: np.random.Generator) -> Predicates:
    """Return predicates over one column that a naive guesser states: any released cell."""
    cells = list(sources.quasi.values())
    rows = rng.integers(0, len(cells[0].codes), count)
    entries = np.stack([column.codes[rows] for column in cells], axis=1)
    used = np.arange(len(cells)) == rng.integers(0, len(cells), count)[:, None]
    return from_rows(cells, entries, used)
