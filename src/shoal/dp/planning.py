"""Which k and β reach a budget, and what they are expected to keep.

A larger β keeps more records and needs a larger ε; a larger k costs records and lowers δ. δ is held
against 1/N as in tables 5.1 and 5.5 of Li, "Improving a de-identification algorithm that achieves
both k-anonymity and differential privacy", 2019: at 1/N a mechanism may publish some records whole
and still keep its promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shoal.dp.claims import check_budget, figure
from shoal.dp.kept_rows import expected_kept
from shoal.dp.rates import as_rate, check_count
from shoal.dp.sampling import (
    LEAST_BUDGET,
    ROUNDING,
    least_epsilon,
    least_k,
    sampling_delta,
    sampling_loss,
)
from shoal.errors import Infeasible

Colour = Literal["green", "yellow", "red"]
SIZES = (100, 200, 500)
_TENTHS = [tenth / 10 for tenth in range(1, 10)]


@dataclass(frozen=True)
class Setting:
    """A k and a β with what they promise and keep.

    epsilon: the whole budget; sampling_epsilon and choice_epsilon are its parts.
    delta: tight, paid by a class of `size` records.
    least_k: what reaches the δ asked for at this β.
    published_delta, published_least_k: the same by the published form; None where ε is too small
        for it.
    reached: whether delta is at most the one asked for.
    colour: of delta, against 1/rows.
    kept: {size of class: share of its records expected to be drawn and shown}.
    """

    k: int
    beta: float
    epsilon: float
    sampling_epsilon: float
    choice_epsilon: float
    delta: float
    size: int
    least_k: int
    published_delta: float | None
    published_least_k: int | None
    reached: bool
    colour: Colour
    kept: dict[int, float]


def plan(
    rows: int,
    epsilon: float | None = None,
    delta: float | None = None,
    *,
    k: Sequence[int] = (),
    beta: Sequence[float] = (),
    choice_epsilon: float = 0.1,
    sizes: Sequence[int] = SIZES,
) -> list[Setting]:
    """Return the pairs (k, β) with their δ: for each β the least k that reaches it, or the k given.

    rows: how many records there are, from public knowledge: the plan is no secret.
    epsilon: the whole budget; by default each β gets the least that it needs.
    delta: by default a tenth of 1/rows.
    beta: by default the tenths for which a k below rows will do.
    choice_epsilon: what the choice of the recoding takes of the budget.
    sizes: of classes, to tell what is kept of them.

    >>> [(found.k, found.beta) for found in plan(30162, 1.31, 1e-6)][-2:]
    [(110, 0.8), (246, 0.9)]
    """
    check_count("rows", rows)
    for size in sizes:
        check_count("sizes", size)
    wanted = 0.1 / rows if delta is None else delta
    check_budget(choice_epsilon if epsilon is None else epsilon, wanted)
    check_budget(choice_epsilon, 0, option="choice_epsilon")
    left = None if epsilon is None else epsilon - choice_epsilon
    if left is not None and left < LEAST_BUDGET:
        raise Infeasible(
            f"epsilon = {epsilon:g} leaves less than {LEAST_BUDGET} for the sample after "
            f"{choice_epsilon:g} for the choice; raise it or give the choice less"
        )
    found = []
    for rate in [float(as_rate(stated)) for stated in beta] or _TENTHS:
        spent = least_epsilon(rate) if left is None else left
        least = least_k(spent, wanted, rate)
        asked = k or [least] * (least <= rows or bool(beta))
        found += [
            _setting(each, rate, spent, choice_epsilon, wanted, least, rows, sizes)
            for each in asked
        ]
    if not found:
        raise Infeasible(
            f"no k up to {rows:,} reaches delta = {figure(wanted)}; raise epsilon or delta"
        )
    return found


def colour(delta: float, rows: int) -> Colour:
    """Return green below a tenth of 1/rows, yellow below 1/rows, else red."""
    if delta * rows < 0.1:
        return "green"
    return "yellow" if delta * rows < 1 else "red"


def _setting(
    k: int,
    beta: float,
    spent: float,
    choice_epsilon: float,
    wanted: float,
    least: int,
    rows: int,
    sizes: Sequence[int],
) -> Setting:
    loss = sampling_loss(k, beta, spent)
    delta = float(loss.delta)
    published = spent >= least_epsilon(beta) - ROUNDING
    return Setting(
        k=k,
        beta=beta,
        epsilon=choice_epsilon + spent,
        sampling_epsilon=spent,
        choice_epsilon=choice_epsilon,
        delta=delta,
        size=loss.size,
        least_k=least,
        published_delta=float(sampling_delta(k, beta, spent, form="published"))
        if published
        else None,
        published_least_k=least_k(spent, wanted, beta, form="published") if published else None,
        reached=delta <= wanted,
        colour=colour(delta, rows),
        kept={size: float(expected_kept(size, k, beta)) / size for size in sizes},
    )
