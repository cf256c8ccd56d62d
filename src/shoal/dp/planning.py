"""Which k and β meet a budget, and how many records they are expected to keep.

A larger β keeps more records and costs more ε or δ; a larger k keeps fewer records and lowers δ.
The colours compare δ with 1/N like tables 5.1 and 5.5 of Li, "Improving a de-identification
algorithm that achieves both k-anonymity and differential privacy", 2019: a mechanism with δ = 1/N
may publish some records in full and still be (ε, δ)-private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shoal.dp.claims import check_budget, figure
from shoal.dp.kept_rows import expected_kept
from shoal.dp.rates import as_rate, check_count
from shoal.dp.sample_budget import LEAST_CLASS, SampleBudget
from shoal.dp.sampling import ROUNDING, least_epsilon
from shoal.errors import Infeasible

Colour = Literal["green", "yellow", "red"]
SIZES = (100, 200, 500)
_TENTHS = [tenth / 10 for tenth in range(1, 10)]


@dataclass(frozen=True)
class Setting:
    """A k and a β with their guarantee and the share of records they keep; `plan` returns them.

    Attributes:
        k: The smallest size of a class that is released.
        beta: The sampling rate.
        epsilon: The total budget.
        sampling_epsilon: The part of it that the sample spends.
        choice_epsilon: The part of it that the choice of the recoding spends.
        delta: Tight form.
        size: The size of the class that determines delta.
        least_k: The smallest k that reaches the target δ at this β.
        published_delta: The δ in the published form; None if ε is too small for it.
        published_least_k: The smallest k in the published form; None if ε is too small for it.
        reached: Whether delta is at most the target.
        colour: How delta compares with 1/rows.
        kept: {class size: share of its records expected to be released}.
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
    """Return pairs (k, β) with their δ: for each β the smallest k that reaches it, or the given k.

    `safe-la` can run every returned setting with n0 = rows, epsilon, choice and beta; it refuses
    the red ones unless `allow_large_delta` is set.

    Parameters:
        rows: Number of records, from public knowledge: the plan is not secret.
        epsilon: The total budget; by default each β gets choice − ln(1 − β).
        delta: The target δ; by default a tenth of 1/rows.
        k: Values of k to evaluate; by default the smallest k for each β.
        beta: Sampling rates; by default the tenths for which a k below rows is enough.
        choice_epsilon: The part of the budget that the choice of the recoding spends.
        sizes: Class sizes for which to report the expected share of released records.

    Returns:
        The settings.

    Raises:
        InputError: An option is out of range.
        Infeasible: No k up to `rows` reaches the target δ.

    Examples:
        >>> [(setting.k, setting.beta) for setting in plan(30162, 1.31, 1e-6)][-2:]
        [(110, 0.8), (246, 0.9)]
    """
    check_count("rows", rows)
    for size in sizes:
        check_count("sizes", size)
    for stated in k:
        check_count("k", stated, LEAST_CLASS)
    wanted = 0.1 / rows if delta is None else delta
    check_budget(choice_epsilon if epsilon is None else epsilon, wanted)
    settings = []
    for rate in [float(as_rate(stated)) for stated in beta] or _TENTHS:
        whole = choice_epsilon + least_epsilon(rate) if epsilon is None else epsilon
        budget = SampleBudget(whole, choice_epsilon, rate)
        least = budget.least_k(wanted)
        asked = k or [least] * (least <= rows or bool(beta))
        settings += [_setting(each, budget, wanted, least, rows, sizes) for each in asked]
    if not settings:
        raise Infeasible(
            f"no k up to {rows:,} reaches delta = {figure(wanted)}; raise epsilon or delta"
        )
    return settings


def colour(delta: float, rows: int) -> Colour:
    """Return green below a tenth of 1/rows, yellow below 1/rows, else red."""
    if delta * rows < 0.1:
        return "green"
    return "yellow" if delta * rows < 1 else "red"


def _setting(
    k: int,
    budget: SampleBudget,
    wanted: float,
    least: int,
    rows: int,
    sizes: Sequence[int],
) -> Setting:
    loss = budget.loss(k)
    delta = float(loss.delta)
    published = None
    if budget.per_sample >= least_epsilon(budget.beta) - ROUNDING:
        published = replace(budget, form="published")
    return Setting(
        k=k,
        beta=budget.beta,
        epsilon=budget.epsilon,
        sampling_epsilon=budget.per_sample,
        choice_epsilon=budget.choice,
        delta=delta,
        size=loss.size,
        least_k=least,
        published_delta=None if published is None else published.delta(k),
        published_least_k=None if published is None else published.least_k(wanted),
        reached=delta <= wanted,
        colour=colour(delta, rows),
        kept={size: float(expected_kept(size, k, budget.beta)) / size for size in sizes},
    )
