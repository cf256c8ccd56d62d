"""Superimposition: add up the smallest perturbations that were found against single networks.

A greedy attack on what many networks have in common. Liang, "Algorithms in privacy & security for
data analytics and machine learning", 2020, §4.3.3.
"""

from __future__ import annotations

import torch

from shoal.errors import InputError
from shoal.robust.attacks.attack import Examples
from shoal.robust.inputs import check_bounds
from shoal.support.options import check_whole


def superimpose(
    examples: Examples, count: int, *, bounds: tuple[float, float] | None = None
) -> Examples:
    """Add the smallest perturbations of each row to its original.

    Only examples that succeeded are used. `judge` measures which networks the result misleads.

    Parameters:
        examples: Examples against several networks.
        count: Number of perturbations to add; a row with fewer successes gets those it has.
        bounds: Lowest and highest value of a pixel; by default those of the examples.

    Returns:
        One example per row, inside the bounds; `success` is whether the row has `count` successes.

    Raises:
        InputError: `count` is greater than the number of attacked networks.

    >>> import torch
    >>> found = torch.tensor([[[0.6, 0.5]], [[0.5, 0.3]]])  # (2 networks, 1 row, 2 pixels)
    >>> goals, success = torch.tensor([1]), torch.ones(2, 1, dtype=torch.bool)
    >>> examples = Examples(torch.full((1, 2), 0.5), goals, found, success)
    >>> superimpose(examples, 2).adversarial[0, 0]
    tensor([0.6000, 0.3000])
    """
    networks = len(examples.adversarial)
    check_whole("count", count, 1)
    if count > networks:
        raise InputError(
            f"count must be at most {networks}, the number of attacked networks, not {count}"
        )
    limits = examples.bounds if bounds is None else check_bounds(bounds)
    lengths = torch.where(examples.success, examples.distances, torch.inf)
    chosen = lengths.argsort(dim=0, stable=True)[:count]  # (count, rows) networks
    rows = torch.arange(chosen.shape[1], device=chosen.device).expand_as(chosen)
    used = examples.success[chosen, rows]
    changes = (examples.adversarial - examples.originals)[chosen, rows]
    kept = torch.where(used.view(*used.shape, *[1] * (changes.ndim - 2)), changes, 0.0)
    adversarial = (examples.originals + kept.sum(dim=0)).clamp(*limits)
    return Examples(
        examples.originals,
        examples.goals,
        adversarial.unsqueeze(0),
        used.all(dim=0, keepdim=True),
        examples.targeted,
        limits,
    )
