"""Superimposition: the smallest perturbations found against single networks, laid over each other.

A greedy way at what many networks have in common. Liang, "Algorithms in privacy & security for data
analytics and machine learning", 2020, §4.3.3.
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
    """Return one example a row: the original plus its `count` smallest perturbations, in bounds.

    Only examples that succeeded are used; a row that has fewer gets those it has, and its `success`
    says whether there were enough. Whom it fools is for an evaluation to find out.

    bounds: of a pixel; by default those of the examples.
    """
    networks = len(examples.adversarial)
    check_whole("count", count, 1)
    if count > networks:
        raise InputError(
            f"count must be at most {networks}, the number of attacked networks, not {count}"
        )
    kept_in = examples.bounds if bounds is None else check_bounds(bounds)
    lengths = torch.where(examples.success, examples.distances, torch.inf)
    chosen = lengths.argsort(dim=0, stable=True)[:count]  # (count, rows) networks
    rows = torch.arange(chosen.shape[1], device=chosen.device).expand_as(chosen)
    used = examples.success[chosen, rows]
    changes = (examples.adversarial - examples.originals)[chosen, rows]
    kept = torch.where(used.view(*used.shape, *[1] * (changes.ndim - 2)), changes, 0.0)
    found = (examples.originals + kept.sum(dim=0)).clamp(*kept_in)
    return Examples(
        examples.originals,
        examples.goals,
        found.unsqueeze(0),
        used.all(dim=0, keepdim=True),
        examples.targeted,
        kept_in,
    )
