"""Composition: the total cost of several releases of one table.

Uses the smallest valid bound. If parameters are chosen adaptively, that is the sum or the advanced
bound of Whitehouse et al.; the optimal bound requires that all parameters are fixed in advance.
Dwork & Roth, "The Algorithmic Foundations of Differential Privacy", 2014, §3.5;
Kairouz, Oh & Viswanath, "The Composition Theorem for Differential Privacy", 2015;
Whitehouse, Ramdas, Rogers & Wu, "Fully-Adaptive Composition in Differential Privacy", 2023.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from itertools import accumulate

_ROUNDING = 1e-10  # relative error of logarithms and roots
_EXACT = Context(prec=2000, traps=[Inexact, InvalidOperation])  # the widest sum of floats fits


@dataclass(frozen=True)
class Composed:
    """The result of `compose`: the total of several releases.

    Attributes:
        epsilon: The total ε.
        delta: The total δ.
        rule: The composition rule: "basic", "advanced" or "optimal".
    """

    epsilon: float
    delta: float
    rule: str  # "basic", "advanced" or "optimal"


def compose(
    losses: Sequence[tuple[float, float]], *, slack: float = 0.0, adaptive: bool = True
) -> Composed:
    """Return the smallest valid total ε of several releases, and its δ.

    Parameters:
        losses: The ε and δ of each release.
        slack: The δ that the sharper rules may add, fixed before the first release; 0 for the sum.
        adaptive: Whether an ε or δ may depend on earlier releases.

    Returns:
        The total ε and δ with the rule that bounds them.

    Examples:
        >>> compose([(0.5, 1e-6), (0.1, 0.0)])
        Composed(epsilon=0.6, delta=1e-06, rule='basic')
    """
    epsilons = [epsilon for epsilon, _ in losses]
    deltas = [delta for _, delta in losses]
    best = Composed(decimal_sum(epsilons), decimal_sum(deltas), "basic")
    if not losses or not slack:
        return best
    found = {"advanced": advanced_epsilon(epsilons, slack)}
    if not adaptive and len(set(losses)) == 1:
        found["optimal"] = optimal_epsilon(epsilons[0], len(losses), slack)
    rule = min(found, key=found.__getitem__)
    if found[rule] >= best.epsilon:
        return best
    return Composed(found[rule], decimal_sum([*deltas, slack]), rule)


def decimal_sum(numbers: Iterable[float]) -> float:
    """Return the sum of numbers as written in decimals, rounded up: ten times 0.1 is 1.

    >>> decimal_sum([0.1] * 10), decimal_sum([0.1, 0.2])
    (1.0, 0.3)
    """
    total = exact_sum(numbers)
    found = float(total)
    return found if as_written(found) >= total else math.nextafter(found, math.inf)


def exact_sum(numbers: Iterable[float]) -> Decimal:
    """Return the sum of numbers as written in decimals."""
    total = Decimal(0)
    for number, count in Counter(numbers).items():
        total = _EXACT.add(total, _EXACT.multiply(as_written(number), Decimal(count)))
    return total


def as_written(number: float) -> Decimal:
    """Return the shortest decimal form of a number."""
    return Decimal(repr(float(number)))


def advanced_epsilon(epsilons: Sequence[float], slack: float) -> float:
    """Return ε of advanced composition at δ' = slack, also for adaptively chosen ε.

    √(2 ln(1/δ') Σε²) + Σε²/2: the privacy losses minus their mean are a martingale.
    """
    squares = math.fsum(epsilon * epsilon for epsilon in epsilons)
    bound = math.sqrt(2 * math.log(1 / slack) * squares) + squares / 2
    return bound * (1 + _ROUNDING)


def advanced_room(epsilon: float, slack: float) -> float:
    """Return the Σε² at which advanced composition reaches ε."""
    log = math.log(1 / slack)
    root = 2 * epsilon / (math.sqrt(2 * log + 2 * epsilon) + math.sqrt(2 * log))
    return root * root * (1 - 4 * _ROUNDING)


def optimal_epsilon(epsilon: float, count: int, slack: float) -> float:
    """Return the smallest ε of `count` releases of ε each at δ' = slack; no valid bound is smaller.

    In the worst case each release answers truthfully with probability e^ε/(1 + e^ε). With at most i
    lies counted, the loss exceeds ε* by at most Σ_{l ≤ i} C(count, l) (p_l − e^ε* q_l), which is
    solved for ε* at every i.
    """
    truth = -math.log1p(math.exp(-epsilon))  # logarithms throughout: p_l underflows early
    lie = truth - epsilon
    ways = [_log_choose(count, lies) for lies in range(count + 1)]
    here = [way + (count - lies) * truth + lies * lie for lies, way in enumerate(ways)]
    there = [way + lies * truth + (count - lies) * lie for lies, way in enumerate(ways)]
    best = 0.0
    for above, below in zip(accumulate(here, _log_add), accumulate(there, _log_add), strict=True):
        left = math.exp(above) - slack
        if left > 0:
            best = max(best, math.log(left) - below)
    return min(best * (1 + _ROUNDING) + _ROUNDING, decimal_sum([epsilon] * count))


def _log_choose(count: int, part: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(part + 1) - math.lgamma(count - part + 1)


def _log_add(first: float, second: float) -> float:
    high, low = max(first, second), min(first, second)
    return high + math.log1p(math.exp(low - high))
