"""An attack as a matrix: the weight that the attacker gives each pair, the truth, the assumptions.

    distance_attack   the attacker knows everyone's values with errors; the weight of a pair is the
                      likelihood of the error that it implies: Gaussian for numbers, a rate of
                      mistakes for categories
    relation_attack   the attacker knows which pairs are possible, all others equally likely
    values_attack     the same, from released cells and known values

All weights are logarithms, so that distant pairs keep small but positive weights. Fellegi & Sunter,
"A theory for record linkage", JASA 64, 1969; Edman, Sivrikaya & Yener, "A combinatorial approach to
measuring anonymity", 2007; Malik, "Disclosure risk measurement of anonymized datasets after
probabilistic attacks", 2014, section 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, unknown
from shoal.risk.matchings.structure import check_mapping, check_matrix
from shoal.support.arrays import Bools, Counts, Floats, frozen
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.risk.matchings.psi import Psi, SetPsi


EVERYBODY = "Every original entity has exactly one released entity, and the attacker knows that."
TRUE = "Every match that the attacker considers impossible is impossible."


@dataclass(frozen=True, eq=False)
class MatchingAttack:
    """The beliefs of an attacker about a release.

    Parameters:
        matrix: (n, n) weights, rows original entities, columns released entities; only ratios
            matter.
        mapping: (n,) the true column of each row.
        assumptions: Assumptions about the attacker, one sentence each.
    """

    matrix: Any = field(repr=False)
    mapping: Counts = field(repr=False)
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        checked = check_matrix(self.matrix)
        if hasattr(checked, "flags"):
            checked = frozen(checked)
        object.__setattr__(self, "matrix", checked)
        object.__setattr__(self, "mapping", check_mapping(self.mapping, checked.shape[0]))

    def __len__(self) -> int:
        return len(self.mapping)

    def psi(self, **options: Any) -> Psi:
        """Return the expected number of re-identified entities; options as in `shoal.risk.psi`."""
        from shoal.risk.matchings.psi import psi

        return psi(self.matrix, self.mapping, **options)

    def set_psi(self, sets: Sequence[Hashable] | Counts, **options: Any) -> SetPsi:
        """Return the expected number of sets that are found as a whole.

        Parameters:
            sets: (n,) the label of each original entity's set.
            options: As in `shoal.risk.set_psi`.
        """
        from shoal.risk.matchings.psi import set_psi

        return set_psi(self.matrix, sets, self.mapping, **options)

    def with_prior(self, prior: Any, why: str) -> MatchingAttack:
        """Return the attack of an attacker who also has prior weights for each pair.

        Parameters:
            prior: (n, n) weights. One number per row would change nothing, because every row is
                matched; see `population_attack` for people who may be absent.
            why: The basis of the prior, as a sentence.
        """
        weights = check_matrix(prior)
        if weights.shape != self.matrix.shape:
            raise InputError(
                f"the prior must have {len(self)} rows and columns, like the attack, not "
                f"{weights.shape[0]}"
            )
        product = (
            weights * self.matrix if hasattr(weights, "flags") else weights.multiply(self.matrix)
        )
        return MatchingAttack(product, self.mapping, (*self.assumptions, why))


_TOLERANCE = 1e-9  # tolerance of the sum of a balanced row
_MAX_APART = 1e150  # standard deviations; larger squares would overflow


def distance_attack(
    known: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    *,
    deviations: Mapping[str, float] | None = None,
    mistakes: Mapping[str, float] | None = None,
    balanced: bool = False,
    sweeps: int = 1000,
    mapping: Any = None,
) -> MatchingAttack:
    """Return the attack of an attacker who knows values with errors.

    Parameters:
        known: For each attribute, the attacker's value of each original entity, missing if unknown.
        released: For each attribute, the released value of each released entity.
        deviations: For each numeric attribute, the standard deviation of the attacker's errors.
        mistakes: For each categorical attribute, the share of values that the attacker has wrong.
        balanced: Scale until rows and columns sum to 1, with a limited number of sweeps; this does
            not change the probability of any matching. Otherwise only rows sum to 1.
    """
    deviations, mistakes = deviations or {}, mistakes or {}
    sizes = _check(known, released, deviations, mistakes)
    check_whole("sweeps", sweeps, 1)
    logs = np.zeros(sizes)
    for name, deviation in deviations.items():
        check_range(f"the deviation of {name}", deviation, 0, above=True)
        ours, theirs = _numbers(name, known[name]), _numbers(name, released[name])
        with np.errstate(over="ignore"):
            apart = (ours[:, None] - theirs) / deviation
        apart = np.clip(np.nan_to_num(apart, copy=False, nan=0.0), -_MAX_APART, _MAX_APART)
        logs -= apart**2 / 2
    for name, rate in mistakes.items():
        check_range(f"the share of mistakes in {name}", rate, 0, 1)
        logs += _mistaken(known[name], released[name], rate)
    logs = _balance(logs, sweeps) if balanced else logs - _log_sums(logs, 1)[:, None]
    assumptions = [f"The attacker knows {', '.join(known)} of everyone, with errors."]
    assumptions += [
        f"Errors in {name} are Gaussian with standard deviation {deviation:g}."
        for name, deviation in deviations.items()
    ]
    assumptions += [
        f"The attacker has a wrong category for a share {rate:g} of the values of {name}; all "
        "wrong categories are equally likely."
        for name, rate in mistakes.items()
    ]
    assumptions += ["Errors are independent of each other.", EVERYBODY]
    return MatchingAttack(np.exp(logs), mapping, tuple(assumptions))


def _check(
    known: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    deviations: Mapping[str, float],
    mistakes: Mapping[str, float],
) -> tuple[int, int]:
    """Return the number of known and of released entities; raise an error if they do not match."""
    if not known:
        raise InputError("name at least one attribute that the attacker knows")
    for name in known:
        if name not in released:
            raise unknown("no released attribute", name, released)
        if (name in deviations) == (name in mistakes):
            raise InputError(
                f"{name} needs either a deviation (for numbers) or a share of mistakes (for "
                "categories)"
            )
    for name in (*deviations, *mistakes):
        if name not in known:
            raise unknown("no known attribute", name, known)
    lengths = [{len(side[name]) for name in known} for side in (known, released)]
    if any(len(each) > 1 for each in lengths):
        raise InputError("every attribute must have one value for each entity")
    return lengths[0].pop(), lengths[1].pop()


def _numbers(name: str, values: Sequence[Any]) -> Floats:
    """(entities,) the values, missing ones as NaN."""
    try:
        numbers = np.array([math.nan if value is None else value for value in values], dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} has a deviation, so its values must be numbers") from None
    if np.isinf(numbers).any():
        raise InputError(f"{name}: {counted(int(np.isinf(numbers).sum()), 'infinite value')}")
    return numbers


def _mistaken(known: Sequence[Any], released: Sequence[Any], rate: float) -> Floats:
    """(known, released) the logarithm of the likelihood of a category that is right or wrong."""
    codes: dict[Any, int] = {}
    ours, theirs = (
        np.array([-1 if _missing(v) else codes.setdefault(v, len(codes)) for v in side])
        for side in (known, released)
    )
    with np.errstate(divide="ignore"):
        right, wrong = np.log(1 - rate), np.log(rate / max(len(codes) - 1, 1))
    logs = np.where(ours[:, None] == theirs, right, wrong)
    return np.where((ours < 0)[:, None] | (theirs < 0), 0.0, logs)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _balance(logs: Floats, sweeps: int) -> Floats:
    """Scale to rows and columns that sum to 1, or nearly so (Sinkhorn & Knopp 1967)."""
    for done in range(sweeps):
        report("balancing", done, sweeps)
        logs = logs - _log_sums(logs, 0)
        off = _log_sums(logs, 1)
        logs = logs - off[:, None]
        if np.abs(np.expm1(off)).max() <= _TOLERANCE:
            break
    return logs


def _log_sums(logs: Floats, axis: int) -> Floats:
    """Return the logarithms of the sums along an axis; 0 where nothing is possible."""
    peaks = logs.max(axis=axis, keepdims=True)
    peaks = np.where(np.isfinite(peaks), peaks, 0.0)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - peaks).sum(axis=axis)) + peaks.squeeze(axis)
    return np.where(np.isfinite(sums), sums, 0.0)


EVEN = "The attacker considers all matchings that are not ruled out equally likely."


def relation_attack(
    relation: Any,
    original: Sequence[Any] | None = None,
    released: Sequence[Any] | None = None,
    *,
    mapping: Any = None,
) -> MatchingAttack:
    """Return the attack of an attacker who knows which pairs are possible.

    Parameters:
        relation: (n, n) whether each pair is possible, or a function of an original and a released
            entity that returns this.
        original, released: The entities that such a function compares.
        mapping: (n,) the released entity of each original entity, by default at the same position.
    """
    if callable(relation):
        if original is None or released is None:
            raise InputError(
                "give the original and the released entities that the function compares"
            )
        pairs = [[bool(relation(one, other)) for other in released] for one in original]
        matrix = np.array(pairs)
    else:
        matrix = np.asarray(relation)
        if not np.isin(matrix, (0, 1)).all():
            raise InputError(
                "a relation must contain only 0 and 1 (or False and True); for weights use "
                "MatchingAttack"
            )
    return MatchingAttack(matrix.astype(np.float64), mapping, (EVERYBODY, TRUE, EVEN))


def values_attack(
    known: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    *,
    mapping: Any = None,
) -> MatchingAttack:
    """Return the attack of an attacker who knows values of some attributes of everyone.

    Parameters:
        known: For each known attribute, the value of each original entity.
        released: For each attribute, the released cell of each entity: any object that supports
            `in` (a set, a range, an interval).
    """
    if not known:
        raise InputError("name at least one attribute that the attacker knows")
    matrix: Any = True
    for name, values in known.items():
        if name not in released:
            raise unknown("no released attribute", name, released)
        matrix = matrix & _held(name, values, released[name])
    knowledge = f"The attacker knows {', '.join(known)} of everyone, without error."
    return MatchingAttack(matrix.astype(np.float64), mapping, (knowledge, EVERYBODY, TRUE, EVEN))


def _held(name: str, values: Sequence[Any], cells: Sequence[Any]) -> Bools:
    """(values, cells) whether each cell contains each value; equal pairs are evaluated once."""
    different, value_of = _distinct(values)
    containers, cell_of = _distinct(cells)
    try:
        holds = np.array([[value in cell for cell in containers] for value in different])
    except TypeError:
        raise InputError(
            f"released {name}: each cell must be a set, a range or an interval of values"
        ) from None
    return holds.astype(np.bool_)[np.ix_(value_of, cell_of)]


def _distinct(values: Sequence[Any]) -> tuple[list[Any], Counts]:
    """Return the distinct values and the index of each value among them."""
    seen: dict[Any, int] = {}
    distinct: list[Any] = []
    indices = np.empty(len(values), dtype=np.int64)
    for position, value in enumerate(values):
        try:
            index = seen.setdefault(value, len(distinct))
        except TypeError:  # not hashable, such as a set
            index = len(distinct)
        if index == len(distinct):
            distinct.append(value)
        indices[position] = index
    return distinct, indices
