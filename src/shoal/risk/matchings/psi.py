"""Ψ: how many people, or groups of people, an attacker is expected to re-identify.

The weight of a perfect matching is the product of its pairs; Ψ is its mean number of true pairs. On
zeros and ones it is ε, the expected cracks of Lakshmanan, Ng & Ramesh.

    psi             exact components first, the others by a random walk or by belief propagation
    set_psi         sets of people, such as households: a set is found if each of its people is
                    matched with a record of the set, whichever it is, because what its records have
                    in common is then disclosed; with one person in each set it is Ψ
    set_heuristic   H of sets, as if people chose records independently
    Matchings       any distribution over matchings, also one that no matrix of pairs gives

Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014, which
leaves sets, and H for such distributions, open in chapter 5; Lakshmanan, Ng & Ramesh, "To do or not
to do: the dilemma of disclosing anonymized data", 2005.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.risk.matchings.structure import (
    NOWHERE,
    ROUNDOFF,
    Component,
    Edges,
    Structure,
    Sums,
    check_mapping,
    check_matrix,
    split,
)
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.options import check_choice, check_range, check_whole

Method = Literal["auto", "exact", "fast"]
Guarantee = Literal["exact", "95 %", "none"]
_MAX_SECONDS, _MAX_MEGABYTES = 2.0, 1_000.0  # cost of an exact solution of one component
_TOLERANCE = 1e-4  # how far the scaled sums of rows and columns may be from 1


@dataclass(frozen=True, eq=False)
class Psi:
    """Result of `psi` and `expected_cracks`: the expected number of re-identified people, Ψ.

    Attributes:
        value: Ψ.
        low: Lower end of the interval of Ψ.
        high: Upper end of the interval of Ψ.
        method: "exact", "worm" (a random walk over matchings, possibly with exact parts), or
            "belief propagation".
        guarantee: The certainty of the interval: "exact" up to rounding, "95 %" of such intervals,
            or "none": then its ends are bounds for any attack of this kind.
        marginals: (rows,) the probability that each row is re-identified.
        forced: Rows that are matched with their own record in every perfect matching.
        rhat: How well the chains of the walk agree, 1 at best; None without a walk.
        effective: Effective sample size of the walk, the smallest over components; None without a
            walk.
        steps: Steps of the walk.
    """

    value: float
    low: float
    high: float
    method: str
    guarantee: Guarantee
    marginals: Floats = field(repr=False)
    forced: int
    rhat: float | None = None
    effective: float | None = None
    steps: int = 0


def psi(
    matrix: Any,
    mapping: Sequence[int] | Counts | None = None,
    method: Method = "auto",
    *,
    half_width: float = 0.01,
    seed: int | None = None,
    threads: int = 1,
    sums: Sums = "any",
) -> Psi:
    """Return the expected number of rows that are matched with their true columns.

    Parameters:
        matrix: (n, n) weights of at least 0: an array or a scipy sparse array.
        mapping: (n,) the column of each row's true record, by default its own number.
        method: "exact"; "auto": exact where that is fast, otherwise a random walk over matchings
            until the 95 % interval is within a share `half_width` of the value; "fast": belief
            propagation, without a guarantee.
        half_width: Half the width of the interval, relative to the value.
        seed: Seed of the walk.
        threads: Number of threads; the result does not depend on it.
        sums: "rows" requires rows that sum to 1, "both" also columns.

    Returns:
        The value with its interval.

    Raises:
        InputError: The matrix is not valid, or is too large for the method "exact".
        NotConverged: The walk did not become narrow enough.

    >>> psi([[3, 1], [1, 1]]).value
    1.5
    """
    check_choice("method", method, ("auto", "exact", "fast"))
    check_range("half_width", half_width, 0, 1, above=True)
    check_whole("threads", threads, 1)
    structure = matrix if isinstance(matrix, Structure) else split(matrix, mapping, sums=sums)
    if method == "exact":
        from shoal.risk.matchings.exact import exact

        solution = exact(structure, threads=threads)
        result = _Result(solution.marginals, solution.psi, solution.psi_error, "exact")
        return _combine(structure, [result], solution.marginals)
    if method == "fast":
        results = [_propagate(component) for component in structure.components]
    else:
        results = _solve_or_walk(structure, half_width, seed, threads)
    marginals = np.zeros(structure.size)
    for component, result in zip(structure.components, results, strict=True):
        marginals[component.rows] = result.marginals
    return _combine(structure, results, marginals)


def expected_cracks(
    matrix: Any,
    mapping: Sequence[int] | Counts | None = None,
    method: Method = "auto",
    **options: Any,
) -> Psi:
    """Return ε, the expected cracks if all possible matchings are equally likely.

    Parameters:
        matrix: (n, n) weights, of which only the zeros matter.
        mapping: (n,) the column of each row's true record, by default its own number.
        method: "auto", "exact" or "fast", as for `psi`.
        options: As for `psi`.

    Returns:
        The value with its interval.

    Raises:
        InputError: The matrix is not valid, or is too large for the method "exact".
        NotConverged: The walk did not become narrow enough.

    >>> expected_cracks([[3, 1], [1, 1]]).value
    1.0
    """
    return psi(split(matrix, mapping).unweighted, method=method, **options)


class _Result(NamedTuple):
    """The result of one component; error: half the width of its interval."""

    marginals: Floats
    value: float
    error: float
    method: str
    rhat: float | None = None
    effective: float | None = None
    steps: int = 0


def _solve_or_walk(
    structure: Structure, half_width: float, seed: int | None, threads: int
) -> list[_Result]:
    """Solve each component exactly if that is fast; walk over the matchings of the others."""
    from shoal.risk.matchings.solver import Budget, solve_within

    components = structure.components
    seeds = np.random.SeedSequence(seed).generate_state(len(components), np.uint64).tolist()
    results = [_Result(np.zeros(each.size), 0.0, 0.0, "exact") for each in components]
    searched = [i for i, each in enumerate(components) if (each.mapping != NOWHERE).any()]
    solutions = solve_within(
        (components[i] for i in searched), Budget(_MAX_SECONDS, _MAX_MEGABYTES), threads=threads
    )
    for i, (component, solution) in zip(searched, solutions, strict=True):
        if solution is None:
            results[i] = _walk(component, half_width, seeds[i], threads)
        else:
            value = math.fsum(solution.marginals)
            results[i] = _Result(solution.marginals, value, solution.psi_error, "exact")
    return results


def _walk(component: Component, half_width: float, seed: int, threads: int) -> _Result:
    """Walk over the matchings of a component."""
    from shoal.risk.matchings.sinkhorn import sinkhorn
    from shoal.risk.matchings.worm import sample

    scaled = sinkhorn(component, tolerance=_TOLERANCE, sweeps=200).component
    every = np.arange(component.size)
    if component.full and not isinstance(component.stored, Edges):
        indptr, indices, weights = (
            np.arange(component.size + 1) * component.size,
            None,
            scaled.dense,
        )
    else:
        indptr, indices, weights = scaled.edges
    walk = sample(
        indptr, indices, weights, every, np.ones(component.size, dtype=np.int64),
        component.mapping,
        start=_some_matching(component), half_width=half_width, seed=seed, threads=threads,
    )  # fmt: skip
    return _Result(
        walk.marginals,
        walk.value,
        walk.high - walk.value,
        "worm",
        walk.rhat,
        walk.effective,
        walk.steps,
    )


def _propagate(component: Component) -> _Result:
    """Estimate a component by belief propagation; a single pair is certain."""
    from shoal.risk.matchings.sinkhorn import believe, sinkhorn

    feasible = component.mapping != NOWHERE
    if component.size == 1:
        certain = feasible.astype(np.float64)
        return _Result(certain, float(certain.sum()), 0.0, "belief propagation")
    scaled = sinkhorn(component, tolerance=_TOLERANCE, sweeps=200).component
    chances = believe(scaled).marginals
    if component.full and not isinstance(component.stored, Edges):
        pairs = chances.reshape(component.size, -1)
        own = pairs[np.arange(component.size), np.maximum(component.mapping, 0)]
    else:
        edges = component.edges
        rows = np.repeat(np.arange(component.size), np.diff(edges.indptr))
        hit = component.mapping[rows] == edges.indices
        own = np.zeros(component.size)
        own[rows[hit]] = chances[hit]
    own = np.where(feasible, own, 0.0)
    return _Result(own, math.fsum(own), 0.0, "belief propagation")


def _some_matching(component: Component) -> Counts:
    """(size,) the column of each row in one perfect matching, the true one if possible."""
    if (component.mapping != NOWHERE).all():
        return component.mapping
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    # any matching will do to start a walk: the warm-up leaves it
    indptr, indices, weights = component.edges
    shape = (component.size, component.size)
    graph = csr_array((np.ones(len(weights), dtype=np.int8), indices, indptr), shape=shape)
    return np.asarray(maximum_bipartite_matching(graph, perm_type="column"), dtype=np.int64)


def _combine(structure: Structure, results: list[_Result], marginals: Floats) -> Psi:
    """Combine the results of the components."""
    single = [component for component in structure.components if component.size == 1]
    forced = sum(int(component.mapping[0] != NOWHERE) for component in single)
    possible = sum(int((each.mapping != NOWHERE).sum()) for each in structure.components)
    methods = {result.method for result in results}
    value = math.fsum(result.value for result in results)
    method = "worm" if "worm" in methods else methods.pop()
    # Ψ is at least the forced rows and at most the rows whose true pair is possible
    if method == "belief propagation":
        return Psi(value, forced, possible, method, "none", frozen(marginals), forced)
    rounding = math.fsum(each.error for each in results if each.method == "exact")
    walks = [result for result in results if result.method == "worm"]
    # walks are independent, so squares of half widths add up; rounding errors may all point one way
    half = rounding + math.sqrt(math.fsum(walk.error**2 for walk in walks))
    return Psi(
        value,
        max(value - half, 0.0),
        min(value + half, float(possible)) if walks else value + half,
        method,
        "95 %" if walks else "exact",
        frozen(marginals),
        forced,
        max((walk.rhat for walk in walks if walk.rhat is not None), default=None),
        min((walk.effective for walk in walks if walk.effective is not None), default=None),
        sum(walk.steps for walk in walks),
    )


_SUM_TOLERANCE = 1e-6  # how far the probabilities of matchings may be from a sum of 1


@dataclass(frozen=True, eq=False)
class Matchings:
    """Any distribution over perfect matchings, also one that no matrix of pairs gives.

    Example:
        >>> import shoal
        >>> swapped = shoal.risk.Matchings([[0, 1, 2], [1, 0, 2]], [0.75, 0.25])
        >>> swapped.pairs.tolist()
        [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]

    Parameters:
        columns: (matchings, n) the column of each row in each matching.
        probabilities: (matchings,) the probability of each; they sum to 1.
    """

    columns: Counts = field(repr=False)
    probabilities: Floats = field(repr=False)

    def __post_init__(self) -> None:
        columns = np.asarray(self.columns)
        if columns.ndim != 2 or not columns.size:
            raise InputError("matchings must be rows of equal length, at least one")
        for matching in columns:
            check_mapping(matching, columns.shape[1])
        chances = np.asarray(self.probabilities, dtype=np.float64)
        if chances.shape != columns.shape[:1]:
            raise InputError(
                f"{len(columns)} matchings need {len(columns)} probabilities, not {chances.size}"
            )
        positive = np.isfinite(chances).all() and (chances >= 0).all()
        if not positive or abs(chances.sum() - 1) > _SUM_TOLERANCE:
            raise InputError("the probabilities of matchings must be 0 or more and sum to 1")
        object.__setattr__(self, "columns", frozen(columns.astype(np.int64)))
        object.__setattr__(self, "probabilities", frozen(chances / chances.sum()))

    @property
    def pairs(self) -> Floats:
        """(n, n) the probability of each pair; each row and each column sums to 1."""
        size = self.columns.shape[1]
        pairs = np.zeros((size, size))
        for row in range(size):
            np.add.at(pairs[row], self.columns[:, row], self.probabilities)
        return frozen(pairs)


@dataclass(frozen=True, eq=False)
class SetPsi:
    """The expected number of sets that an attacker links as a whole.

    Parameters:
        value: Expected number of sets whose people are all matched with records of the set.
        people: Expected number of people who are matched with a record of their set.
        probabilities: (sets,) the probability that each set is found, in the sorted order of their
            labels.
        error: Bound on the rounding error of `value`; None of the heuristic, which has no bound.
    """

    value: float
    people: float
    probabilities: Floats = field(repr=False)
    error: float | None


def set_psi(
    attack: Any,
    sets: Sequence[Hashable] | Counts,
    mapping: Sequence[int] | Counts | None = None,
    *,
    threads: int = 1,
) -> SetPsi:
    """Return the exact expected number of sets that are found.

    The probability of a set is a product of two permanents, of its pairs and of the others, over
    the permanent of the matrix.

    Example:
        >>> import numpy as np, shoal
        >>> wards = ["north", "north", "south", "south"]
        >>> found = shoal.risk.set_psi(np.ones((4, 4)), wards)
        >>> f"{found.value:.4f} of 2 wards, {found.people:g} of 4 people in their own ward"
        '0.3333 of 2 wards, 2 of 4 people in their own ward'

    Parameters:
        attack: (n, n) weights of at least 0, as for `psi`, or `Matchings`.
        sets: (n,) the label of each row's set.
        mapping: (n,) the column of each row's true record, by default its own number.
        threads: Number of threads; the result does not depend on it.

    Returns:
        The expected numbers of sets and of people, and the probability of each set.

    Raises:
        InputError: The attack or the sets are not valid, or a component is too large to solve
            exactly; use `set_heuristic`.
    """
    if isinstance(attack, Matchings):
        return _enumerate(attack, sets, mapping)
    from shoal.risk.matchings.exact import all_marginals

    structure = split(attack, mapping)
    set_of = _numbered(sets, structure.size)  # (rows,)
    set_of_record = np.empty_like(set_of)
    set_of_record[structure.mapping] = set_of
    count = int(set_of.max()) + 1
    chances, errors, people = np.ones(count), np.zeros(count), 0.0
    for component in structure.components:
        rows, columns = set_of[component.rows], set_of_record[component.columns]
        people += float(all_marginals(component.dense)[rows[:, None] == columns].sum())
        present = np.union1d(rows, columns)
        if len(present) == 1:
            continue  # all rows and columns are of one set
        log_all, error = _log_permanent(component.dense, threads)
        for number in present:
            inside, own = rows == number, columns == number
            # a component with more rows of the set than records of it sends some row outside
            if inside.sum() != own.sum():
                chances[number] = 0.0
                continue
            (first, one), (second, two) = (
                _log_permanent(component.dense[np.ix_(some, others)], threads)
                for some, others in ((inside, own), (~inside, ~own))
            )
            chances[number] *= math.exp(min(first + second - log_all, 0.0))
            errors[number] += error + one + two + 8 * ROUNDOFF
    bound = math.fsum(chances * errors) + ROUNDOFF * count
    return SetPsi(math.fsum(chances), people, frozen(chances), bound)


def set_heuristic(
    attack: Any,
    sets: Sequence[Hashable] | Counts,
    mapping: Sequence[int] | Counts | None = None,
) -> SetPsi:
    """Return H of sets: the same as if people chose records independently of each other.

    It is quick at any size and has no guarantee. The expected number of people is exact if the
    pairs are those of a distribution (`Matchings`), because an expectation needs no more than the
    probabilities of pairs; the same holds for Ψ, which is the case of one person in each set.

    Example:
        >>> import numpy as np, shoal
        >>> wards = ["north", "north", "south", "south"]
        >>> found = shoal.risk.set_heuristic(np.full((4, 4), 0.25), wards)
        >>> f"{found.value:g} of 2 wards, {found.people:g} of 4 people in their own ward"
        '0.5 of 2 wards, 2 of 4 people in their own ward'

    Parameters:
        attack: (n, n) probabilities whose rows and columns sum to 1, or `Matchings`.
        sets: (n,) the label of each row's set.
        mapping: (n,) the column of each row's true record, by default its own number.

    Returns:
        The expected numbers of sets and of people, and the probability of each set.

    Raises:
        InputError: The attack or the sets are not valid.
    """
    pairs = attack.pairs if isinstance(attack, Matchings) else check_matrix(attack, sums="both")
    true = check_mapping(mapping, pairs.shape[0])
    rows_inside = []
    for rows in _members(sets, len(true)):
        block = pairs[rows][:, true[rows]]
        rows_inside.append(np.asarray(block.sum(axis=1)).ravel())
    chances = np.array([math.prod(each.tolist()) for each in rows_inside])
    people = math.fsum(math.fsum(each) for each in rows_inside)
    return SetPsi(math.fsum(chances), people, frozen(chances), None)


def _enumerate(attack: Matchings, sets: Any, mapping: Any) -> SetPsi:
    """Sum over the listed matchings."""
    size = attack.columns.shape[1]
    true, members = check_mapping(mapping, size), _members(sets, size)
    chances, people = np.zeros(len(members)), 0.0
    for number, rows in enumerate(members):
        inside = np.isin(attack.columns[:, rows], true[rows])  # (matchings, rows of the set)
        chances[number] = (attack.probabilities * inside.all(axis=1)).sum()
        people += float((attack.probabilities * inside.sum(axis=1)).sum())
    error = len(attack.columns) * len(members) * ROUNDOFF
    return SetPsi(math.fsum(chances), people, frozen(chances), error)


def _members(sets: Any, size: int) -> list[Counts]:
    """Return the rows of each set, in the sorted order of the labels."""
    numbers = _numbered(sets, size)
    ends = np.cumsum(np.bincount(numbers))[:-1]
    return np.split(np.argsort(numbers, kind="stable"), ends)


def _numbered(sets: Any, size: int) -> Counts:
    """Return (rows,) the number of each row's set, in the sorted order of the labels."""
    labels = list(sets)
    if len(labels) != size:
        raise InputError(f"sets must give one label for each of {size} rows, not {len(labels)}")
    try:
        numbers = {label: number for number, label in enumerate(sorted(set(labels)))}
    except TypeError:
        raise InputError(
            "the labels of sets must be hashable and of one type, so that they can be sorted"
        ) from None
    return np.array([numbers[label] for label in labels])


def _log_permanent(block: Floats, threads: int) -> tuple[float, float]:
    """Return the logarithm of a permanent and a bound on its relative error; 1 of no rows."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    from shoal.risk.matchings.exact import exact

    if not len(block):
        return 0.0, 0.0
    if (maximum_bipartite_matching(csr_array(block != 0)) < 0).any():
        return -math.inf, 0.0
    solution = exact(block, threads=threads)
    return solution.log_permanent, solution.error
