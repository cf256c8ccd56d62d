"""The random choice of a lattice node: a score and a probability for each node.

    classes of every node → kept records, some estimated → scores → probabilities → a node

Scores, with g the mean over attributes of level / height and f the penalty of suppression:

- "expected": expected number of released records if the table is sampled and classes below k are
  dropped, minus β·n0·g/f. One record changes the sum of `expected_kept` over classes by at most
  `kept_sensitivity`.
- "kept": records in classes of k or more, minus n0·g/f. One record changes them by 0, 1 or k.
- "published": −(g + f·share suppressed), which one record changes by f·k/n; the utility of Li,
  "Improving a de-identification algorithm that achieves both k-anonymity and differential privacy",
  2019, eq. 3.10, with g where the paper prints 1 − g and so rewards generalization. It divides by
  n, the number of records, which is not constant: the sensitivity is the paper's and not proven.

n0 and the hierarchies are public constants. An additional record never lowers the first two scores
at any node, so they are monotone and need no factor of two. Scores of these two kinds are multiples
of 2**−20, so their sums are exact in any order, and the sensitivity accounts for the rounding.

Interpolation estimates the values of some nodes from their neighbours, one level up or down in one
attribute (Li 2019, section 3.3, halves its running time this way). The public shape of the lattice
determines which nodes are estimated, from which others and with which weights. So an estimate is a
convex combination of counted values with fixed weights: if a record changes each of these by at
most Δ, it changes the estimate by at most Δ, and if it changes them all in one direction, so does
the estimate. Anchors that depend on the data, or values scaled to their least and greatest, would
break this: a record could then also change weights and scale. One pass over the lattice counts
every node in less time, so interpolation is useful only to measure its error, and for lattices
whose nodes are counted one by one.

Everything here is for the owner of the table: only a node that was drawn may be published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

import numpy as np

from shoal.errors import InputError
from shoal.methods.lattice.entries import Worth
from shoal.methods.lattice.lattice import Lattice, Node
from shoal.support.arrays import Bools, Codes, Floats, frozen
from shoal.support.options import check_choice, check_range, check_whole
from shoal.table import encoding
from shoal.table.column import Column, Kind, Role
from shoal.table.table import Table

Score = Literal["expected", "kept", "published"]
GRID = 2.0**-20  # scores are rounded to multiples of it
MOST_PENALTY = 2.0**32  # above it scores would not be multiples of the grid
_SLACK = 4 * GRID  # two roundings by half a step for each of two tables, and those of floats


class Interpolation(Protocol):
    """Estimates the values of some nodes from others; both are fixed in advance."""

    def fill(self, values: Floats) -> Floats:
        """Return the values with those of the estimated nodes replaced."""


@dataclass(frozen=True, eq=False)
class NodeChoice:
    """The exponential mechanism over the nodes of a lattice.

    kept: records kept at each node, in the lattice's shape, by the kind of score.
    epsilon: budget of the draw of a node.
    penalty: f, the cost of losing all records relative to hiding all cells.
    n0: publicly known approximate number of records of the table; unused by "published".
    records: number of scored records.
    slots: number of scored parts of the table; one person has at most one row in each.
    """

    lattice: Lattice
    kept: Floats
    k: int
    beta: float
    epsilon: float
    penalty: float
    n0: float
    score: Score
    records: int
    slots: int = 1

    @classmethod
    def of(
        cls,
        table: Table | Lattice | Sequence[Lattice],
        *,
        k: int,
        beta: float = 1.0,
        epsilon: float,
        penalty: float = 1.0,
        n0: float,
        score: Score = "expected",
        interpolation: Interpolation | None = None,
        threads: int | None = None,
    ) -> NodeChoice:
        """Score every node of a table, with classes over all of its published columns.

        table: a table, or a lattice, which may count classes differently; or several lattices of
            one shape, one for each slot, whose scores are summed.
        interpolation: estimates some nodes instead of counting them; the generalization of each
            node is known without the data and never estimated.
        """
        check_whole("k", k, 2)
        check_range("beta", beta, 0, 1, above=True)
        check_range("epsilon", epsilon, 0, above=True)
        check_range("penalty", penalty, 0, above=True)
        check_range("n0", n0, 0, above=True)
        check_range("n0 / penalty", n0 / penalty, 0, MOST_PENALTY)
        check_choice("score", score, get_args(Score))
        parts = [all_published(table)] if isinstance(table, Table) else table
        parts = [parts] if isinstance(parts, Lattice) else parts
        rate = beta if score == "expected" else 1.0
        kept = np.sum([_kept(part, k, rate, threads) for part in parts], axis=0)
        if interpolation is not None:
            kept = interpolation.fill(kept)
        records = sum(part.table.records for part in parts)
        options = (k, beta, epsilon, penalty, n0, score, records, len(parts))
        return cls(parts[0], frozen(kept), *options)

    def __repr__(self) -> str:
        return (
            f"NodeChoice({self.lattice.nodes} nodes, score={self.score}, k={self.k}, "
            f"beta={self.beta:g}, epsilon={self.epsilon:g}, penalty={self.penalty:g})"
        )

    @cached_property
    def generalization(self) -> Floats:
        """The mean over attributes of level / height, at each node."""
        cube, attributes = np.zeros(self.lattice.shape), len(self.lattice.shape)
        for axis, height in enumerate(self.lattice.heights):
            shape = [1] * attributes
            shape[axis] = -1
            share = np.arange(height + 1) / max(height, 1) / attributes
            cube = cube + share.reshape(shape)
        return frozen(cube)

    @cached_property
    def suppression(self) -> Floats:
        """Share of records that are not kept at each node, among drawn records if sampled."""
        drawn = self.records * (self.beta if self.score == "expected" else 1.0)
        return frozen(1 - self.kept / drawn if drawn else np.zeros(self.lattice.shape))

    @cached_property
    def scores(self) -> Floats:
        """Score of each node, from the data and the public constants."""
        if self.score == "published":
            return frozen(-(self.generalization + self.penalty * self.suppression))
        drawn = self.n0 * (self.beta if self.score == "expected" else 1.0)
        return frozen(_rounded(self.kept - drawn * self.generalization / self.penalty))

    @property
    def sensitivity(self) -> float:
        """Largest change of a score if one person, with a row in each slot, is added or removed."""
        if self.score == "published":
            return self.penalty * self.k / max(self.records, 1)
        rate = self.beta if self.score == "expected" else 1.0
        return self.slots * score_sensitivity(self.k, rate)

    @property
    def monotone(self) -> bool:
        """Whether a record changes all scores in one direction."""
        return self.score != "published"

    @cached_property
    def probabilities(self) -> Floats:
        """Probability of each node, in the lattice's shape."""
        from shoal.dp.mechanisms import probabilities

        return frozen(
            probabilities(self.scores, self.epsilon, self.sensitivity, monotone=self.monotone)
        )

    @property
    def best(self) -> Node:
        """The most likely node; the first among equals."""
        return self._node(int(np.argmax(self.scores)))

    def mass(self, which: Bools | Callable[[NodeChoice], Bools]) -> float:
        """Return the probability of a set of nodes, given as an array or a function of the choice.

        >>> good = lambda choice: (choice.suppression <= 0.15) & (choice.generalization < 0.6)
        """
        chosen = which(self) if callable(which) else which
        return float(self.probabilities[np.asarray(chosen, dtype=np.bool_)].sum())

    def grid(
        self,
        epsilons: Sequence[float],
        penalties: Sequence[float],
        which: Bools | Callable[[NodeChoice], Bools],
    ) -> Floats:
        """(epsilons, penalties) probability of these nodes at other budgets and penalties."""
        return np.array(
            [[replace(self, epsilon=e, penalty=f).mass(which) for f in penalties] for e in epsilons]
        )

    def distance(self, other: NodeChoice) -> float:
        """Return the total variation distance between two choices, from 0 (equal) to 1."""
        return float(np.abs(self.probabilities - other.probabilities).sum() / 2)

    def draw(self, seed: int | None = None) -> Node:
        """Draw a node; a seed, for testing, repeats the draw."""
        from shoal.dp.mechanisms import choose

        return self._node(
            choose(self.scores, self.epsilon, self.sensitivity, monotone=self.monotone, seed=seed)
        )

    def _node(self, place: int) -> Node:
        return tuple(int(level) for level in np.unravel_index(place, self.lattice.shape))


def all_published(table: Table) -> Lattice:
    """Return the lattice whose classes are records that are equal in all published columns.

    If a published column were left out, a single record in a large class could still be identified
    by its value in that column.
    """
    columns = []
    for column in table:
        if column.role is Role.INSENSITIVE:
            codes, values = _encoded(column)
            columns.append(Column(column.name, column.role, Kind.NOMINAL, codes, values))
        elif column.role is not Role.IDENTIFIER:
            columns.append(column)
    apart = [column.name for column in columns if column.role is not Role.QUASI]
    return Lattice.of(Table(tuple(columns), table.counts), apart=apart)


def _encoded(column: Column) -> tuple[Codes, Any]:
    try:
        return encoding.encode(column.to_arrow(), column.name)
    except InputError:
        raise InputError(
            f"column {column.name!r}: classes are counted over all published columns, but values "
            "of this type cannot be compared; leave the column out"
        ) from None


def score_sensitivity(k: int, beta: float) -> float:
    """Return the sensitivity of the number of kept records, including rounding.

    A convex combination of nodes, with fixed weights, changes at most as much as any of the nodes.
    """
    from shoal.dp.planning import kept_sensitivity

    return float(k if beta == 1 else kept_sensitivity(k, beta)) + _SLACK


def _kept(lattice: Lattice, k: int, beta: float, threads: int | None) -> Floats:
    """Return the expected number of kept records at every node; the number without sampling."""
    from shoal.dp.planning import expected_kept, surely_kept

    if lattice.table.records < k:
        return np.zeros(lattice.shape)
    sizes = np.arange(min(lattice.table.records, surely_kept(k, beta)) + 1)
    worth = np.where(sizes >= k, sizes, 0.0) if beta == 1 else expected_kept(sizes, k, beta)
    by_size = np.maximum.accumulate(_rounded(worth))
    return lattice.total(Worth(by_size, beta, GRID), threads=threads)


def _rounded(scores: Floats) -> Floats:
    rounded: Floats = np.rint(scores / GRID) * GRID
    return rounded


@dataclass(frozen=True)
class LevelInterpolation:
    """Estimates every other row of the lattice: the nodes whose levels have an odd sum.

    All neighbours of such a node are counted, as a step changes the sum by one.

    even: estimate the nodes with an even sum instead.
    """

    even: bool = False

    def guessed(self, shape: Node) -> Bools:
        """Return which nodes are estimated."""
        sums = np.indices(shape).sum(axis=0)
        return np.asarray(sums % 2 == (0 if self.even else 1), dtype=np.bool_)

    def fill(self, values: Floats) -> Floats:
        """Return the values, with the mean over all neighbours at each estimated node."""
        return _filled(values, self.guessed(values.shape), range(values.ndim))


@dataclass(frozen=True)
class DictionaryInterpolation:
    """Estimates the nodes at one level of one attribute.

    Their neighbours in the other attributes are estimated too, so only the neighbours in this
    attribute are used: the nodes one level below and above.

    attribute: its index among the quasi-identifiers.
    """

    attribute: int
    level: int

    def __post_init__(self) -> None:
        check_whole("attribute", self.attribute, 0)
        check_whole("level", self.level, 0)

    def guessed(self, shape: Node) -> Bools:
        """Return which nodes are estimated."""
        if self.attribute >= len(shape) or self.level >= shape[self.attribute]:
            raise InputError(
                f"no level {self.level} of attribute {self.attribute}; the lattice has the shape "
                f"{shape}"
            )
        found = np.zeros(shape, dtype=np.bool_)
        np.moveaxis(found, self.attribute, 0)[self.level] = True
        return found

    def fill(self, values: Floats) -> Floats:
        """Return the values, with the mean of the levels below and above at estimated nodes."""
        return _filled(values, self.guessed(values.shape), (self.attribute,))


def _filled(values: Floats, guessed: Bools, axes: range | tuple[int, ...]) -> Floats:
    """Replace estimated values by the mean over their neighbours along some axes."""
    sums, numbers = np.zeros(values.shape), np.zeros(values.shape)
    for axis in axes:
        ahead, total, number = (np.moveaxis(a, axis, 0) for a in (values, sums, numbers))
        for here, there in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
            total[here] += ahead[there]
            number[here] += 1
    if (guessed & (numbers == 0)).any():
        raise InputError("a lattice with a single level has no neighbours to interpolate from")
    return np.where(guessed, sums / np.maximum(numbers, 1), values)
