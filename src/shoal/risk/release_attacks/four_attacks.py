"""Four attacks on any release, each beyond a control group of people who were not released.

    singling out   predicates from the release that exactly one person of the original fits: over
                   one column, cells released once and the ends of the column; over several or all,
                   the cells of the rarest rows, also with open ranges ("at least", "at most")
    linkability    the attacker has two files, each with half of the quasi-identifiers; if the
                   nearest released row is the same for both halves, the release links the files
    inference      the most frequent sensitive value of the nearest released rows; a guess of a
                   number is the middle of the numbers that lie densest, right within a tolerance
    membership     a person is claimed to be released if a released row is near enough; how near is
                   learned on half of the drawn people and tried on the other half. A second way
                   claims people whose values a row covers exactly

`attack` reads the tables (`attacked_tables.py`), draws people and runs the four; `list_members`
counts people whose own values the cells write out. A predicate that is unrelated to the original
and fits a small share w of all people fits exactly one of N released people and none of m others
with probability N w (1 − w)^(N + m − 1), and exactly one of the m others and no released one with
m/N of that. So released people who are singled out by chance are N/m times as many as people of the
control group, for every w, and predicates that fit several people play no part.

The three criteria of anonymization: Article 29 Working Party, Opinion 05/2014 (WP216); measured as
in Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.
Membership, which k-anonymity does not limit: Nergiz, Atzori & Clifton, "Hiding the presence of
individuals from shared databases", SIGMOD 2007; Shokri et al., "Membership inference attacks
against machine learning models", IEEE S&P 2017.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.risk.release_attacks.attacked_tables import Cells, Sources
from shoal.risk.release_attacks.estimates import NOT_TRIED, AttackRisk, Trial, estimate_risk
from shoal.risk.release_attacks.listed_members import ListedMembers, list_members
from shoal.risk.release_attacks.neighbours import EXACT, Space
from shoal.risk.release_attacks.predicates import (
    Crowd,
    Predicates,
    from_rows,
    of_one_column,
    opened,
    try_kept_rows,
)
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.options import check_seed, check_whole
from shoal.support.wording import counted, option
from shoal.table.column import Kind
from shoal.table.people import order_rows

_FEW_CONTROLS = 500  # with fewer people, intervals are too wide to find a leak of some percent
_MEANINGS = {
    "singling_out": "predicates from the release that exactly one released person fits",
    "linkability": "people whose two halves of quasi-identifiers lead to the same released row",
    "inference": "people whose sensitive value the nearest released rows reveal",
    "membership": "people of whom the nearest released row reveals that they are in the release",
}
ATTACKS = tuple(_MEANINGS)
_NOBODY = "no released cell writes out a value that only one person has, beyond chance"


@dataclass(frozen=True)
class ReleaseAttacks:
    """Result of `attack`: the risk of four attacks on a release.

    Attributes:
        singling_out: Predicates from the release that exactly one person of the original fits.
        linkability: Two halves of a person's quasi-identifiers that lead to the same released row.
        inference: Sensitive values that the nearest released rows reveal; `ways` has every column.
        membership: Released people who are recognized as released; needs a control group.
        people: Number of people in the original.
        control: Number of people in the control group, None without one.
        quasi: The released quasi-identifiers, which the attacker knows.
        sensitive: The released sensitive columns.
        notes: What to know about the figures.
        listed_members: For each released quasi-identifier, the people whose own value, which nobody
            else has, its cells write out: anyone who knows it learns that they are in the release.
    """

    singling_out: AttackRisk
    linkability: AttackRisk
    inference: AttackRisk
    membership: AttackRisk
    people: int
    control: int | None
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    notes: tuple[str, ...]
    listed_members: tuple[ListedMembers, ...] = ()

    @property
    def listing(self) -> tuple[str, ...]:
        """The columns that list more people by their own values than chance explains."""
        return tuple(each.column for each in self.listed_members if each.discloses)

    @property
    def flagged(self) -> tuple[str, ...]:
        """The attacks that find more than in the control group, beyond chance."""
        return tuple(name for name in _MEANINGS if getattr(self, name).flagged)

    def sentences(self) -> list[str]:
        """Return the result of each attack in words, and the columns that list people."""
        listed = [each.sentence() for each in self.listed_members if each.discloses]
        return [
            *(_sentence(name, getattr(self, name), self.control) for name in _MEANINGS),
            *(f"listed members: {each}" for each in listed or [_NOBODY]),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            **{name: getattr(self, name).to_dict() for name in _MEANINGS},
            "flagged": list(self.flagged),
            "listed_members": [each.to_dict() for each in self.listed_members],
            "listing": list(self.listing),
            "people": self.people,
            "control": self.control,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "notes": list(self.notes),
        }


def attack(
    original: Any,
    released: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    control: Any = None,
    person: str | Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    schema: Any = None,
    attacks: int = 2000,
    seed: int = 0,
) -> ReleaseAttacks:
    """Attack a release in four ways: singling out, linkability, inference, membership.

    The release may be made by any tool: generalized, suppressed, perturbed or synthetic. Each
    attack is also tried on a control group of people who were not released. The risk is the success
    beyond that: what the release reveals about its own people, not about people in general.
    Without being an attack, `listed_members` counts the people whom the cells list by values that
    nobody else has.

    Parameters:
        original: The table that was released: a file, a frame or a `Table`.
        released: The release: a file, a frame or a `Release`.
        quasi: The columns that the attacker knows; by default those of the schema or the `Table`.
        sensitive: The columns to infer, in the same way.
        control: People of the same population who were not released. If all of them are in the
            original, they are left out of it. Without them the risk includes what anyone could
            learn about people in general.
        person: The columns that identify the person of a row, if people have several.
        hierarchies: `{column: CSV path, Hierarchy or recipe}`, to read labels in the release.
        schema: A YAML file, or its content as a mapping.
        attacks: The maximum number of attacks of each kind.
        seed: Seed of the drawn people and predicates.

    Returns:
        For each attack the risk with its 95 % interval, and the baseline of a naive guesser.

    Raises:
        InputError: A table cannot be read, or lacks a column.

    >>> import pyarrow as pa
    >>> ages = list(range(20, 80))
    >>> people = pa.table({"age": ages, "zip": [f"{7 * a % 60}" for a in ages], "ill": ages})
    >>> others = pa.table({"age": ages, "zip": [f"{11 * a % 60}" for a in ages], "ill": ages})
    >>> found = attack(people, people, quasi=["age", "zip"], sensitive="ill", control=others)
    >>> found.flagged
    ('singling_out', 'linkability', 'inference', 'membership')
    """
    from shoal.risk.release_attacks.attacked_tables import read_sources

    check_whole("attacks", attacks, 1)
    check_seed(seed)
    sources = read_sources(
        original,
        released,
        control,
        quasi=quasi,
        sensitive=sensitive,
        person=person,
        hierarchies=hierarchies,
        schema=schema,
    )
    people = sources.people_counts
    notes = [*_control_notes(people[1]), *sources.notes]
    if len(sources.quasi) < 2:
        notes.append("linkability needs two released quasi-identifiers or more")
    if not sources.sensitive:
        notes.append(f"inference needs a released sensitive column; name it: {option('sensitive')}")
    if not people[1]:
        notes.append("membership inference needs a control group")
    singled_out = single_out(sources, attacks, seed)
    notes += _isolated_notes(singled_out)
    return ReleaseAttacks(
        singled_out,
        link_halves(sources, attacks, seed),
        infer(sources, attacks, seed),
        recognize_members(sources, attacks, seed),
        people[0],
        people[1] or None,
        tuple(sources.quasi),
        tuple(sources.sensitive),
        tuple(notes),
        list_members(sources),
    )


def _isolated_notes(result: AttackRisk) -> list[str]:
    """State rows that fit exactly one person, which the interval leaves to chance."""
    way = next((way for way in result.ways if way.name == COMPLETE_ROWS), None)
    if way is None or result.flagged:
        return []
    rows, chance = (round((share or 0.0) * way.attacks) for share in (way.success, way.control))
    if rows <= chance:
        return []
    which = counted(rows, "different row fits", "different rows fit")
    return [
        f"{which} exactly one person of the original, and chance explains about {chance:,}; "
        "unless the release is synthetic, generalize or remove such rows"
    ]


def _control_notes(controls: int) -> list[str]:
    if not controls:
        return [
            "without a control group the risk includes what anyone could learn about people in "
            f"general; hold people back before anonymizing and name them: {option('control')}"
        ]
    if controls < _FEW_CONTROLS:
        return [
            f"the control group has only {counted(controls, 'person', 'people')}, so the intervals "
            "are wide"
        ]
    return []


def _sentence(name: str, result: AttackRisk, control: int | None) -> str:
    title = name.replace("_", " ")
    if not result.attacks and name == "membership" and control is None:
        return f"{title}: not measured, it needs a control group"
    if not result.attacks:
        return f"{title}: not possible with these columns"
    share = f"{100 * result.risk:.1f} % ({100 * result.low:.1f} to {100 * result.high:.1f} %)"
    if control is None:
        return f"{title}: {share} of attacks succeed, including those that succeed by chance"
    if result.flagged:
        return f"{title}: {share} of attacks succeed beyond the control group: {_MEANINGS[name]}"
    return f"{title}: not more than in the control group, beyond chance; the risk is {share}"


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
        tuple(sorted(combinations[nearest].tolist()))
        for combinations, nearest in zip(near.rows, tied & (near.rows >= 0), strict=True)
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
        # the window of twice the tolerance that holds the most numbers
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
        # votes of runs as steps up and down; their running sum is the votes of each code
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


_NEAREST_LINKED, _COPIES = "nearest row", "exact copy"


def link_halves(sources: Sources, attacks: int, seed: int) -> AttackRisk:
    """Return the risk that the halves of a person's quasi-identifiers are linked.

    Parameters:
        attacks: The maximum number of people to attack.
        seed: Seed of the drawn people, and of the choice among equally near rows.
    """
    if len(sources.quasi) < 2:
        return NOT_TRIED
    rng = np.random.default_rng(seed)
    priority = rng.permutation(len(sources.distinct))
    spaces = [Space(sources, half, priority) for half in halves(sources)]
    rows = [sources.draw(attacks, rng, control=control) for control in (False, True)]
    (linked, copied), (control_linked, control_copied) = (_link(spaces, part) for part in rows)
    blind = 1 / len(next(iter(sources.quasi.values())).codes)
    trials = [
        Trial(name, int(hits.sum()), len(hits), int(others.sum()), len(others), blind)
        for name, hits, others in (
            (_NEAREST_LINKED, linked, control_linked),
            (_COPIES, copied, control_copied),
        )
    ]
    return estimate_risk(trials)


def halves(sources: Sources) -> tuple[list[str], list[str]]:
    """Return the quasi-identifiers in two halves that are about equally informative.

    Columns are ordered by the number of values that would separate as many rows if they were
    equally frequent, and dealt one to each half and then back.
    """
    ranked = sorted(sources.quasi, key=lambda name: -_effective_values(sources.quasi[name]))
    return ranked[0::4] + ranked[3::4], ranked[1::4] + ranked[2::4]


def _effective_values(cells: Cells) -> float:
    """Return the number of values that would separate as many rows if equally frequent."""
    counts = np.bincount(cells.codes).astype(np.float64)
    return float(counts.sum() ** 2 / (counts**2).sum())


def _link(spaces: list[Space], rows: Counts) -> tuple[Bools, Bools]:
    """(people,) whether both halves lead to the same row, and to one with exactly these values."""
    nearest = [space.search(rows, 1) for space in spaces]
    same: Bools = nearest[0].rows[:, 0] == nearest[1].rows[:, 0]
    exact: Bools = (nearest[0].distances[:, 0] == 0) & (nearest[1].distances[:, 0] == 0)
    return same, same & exact


_NEAREST_MEMBERS, _COVERED = "nearest row", "covered by a row"


def recognize_members(sources: Sources, attacks: int, seed: int) -> AttackRisk:
    """Return the risk that released people are recognized as released.

    Parameters:
        attacks: The maximum number of people to attack.
        seed: Seed of the drawn people.
    """
    if sources.people_counts[1] < 2:  # one to learn from, one to try
        return NOT_TRIED
    rng = np.random.default_rng(seed)
    space = Space(sources, list(sources.quasi), rng.permutation(len(sources.distinct)))
    members, others = (
        space.search(sources.draw(attacks, rng, control=control), 1).distances[:, 0]
        for control in (False, True)
    )
    # every other person teaches the threshold, the rest are judged by it
    threshold = best_threshold(members[0::2], others[0::2])
    return estimate_risk(
        [
            _trial(_NEAREST_MEMBERS, members[1::2] <= threshold, others[1::2] <= threshold),
            _trial(_COVERED, members < EXACT, others < EXACT),
        ]
    )


def best_threshold(members: Floats, others: Floats) -> float:
    """Return the distance up to which the share of members exceeds that of others most.

    >>> best_threshold(np.array([0.0, 0.1, 0.9]), np.array([0.5, 0.6, 0.9]))
    0.1
    """
    distances = np.unique(np.concatenate((members, others)))
    shares = [
        np.searchsorted(np.sort(group), distances, side="right") / max(len(group), 1)
        for group in (members, others)
    ]
    return float(distances[np.argmax(shares[0] - shares[1])])


def _trial(name: str, claimed: Bools, others: Bools) -> Trial:
    """Return the trial; a naive guesser claims as many people, but at random."""
    blind = float((claimed.mean() + others.mean()) / 2) if len(claimed) and len(others) else 0.0
    counts = int(claimed.sum()), len(claimed), int(others.sum()), len(others)
    return Trial(name, *counts, blind, difference=True)


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
    # the naive guesser states the same cells, each column shuffled on its own
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
