"""Audits of Shoal's own mechanisms: the shipped code runs on small tables that differ in one unit.

`shoal.dp.audit` searches for events that refute a claim; this package supplies the mechanisms and
the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shoal.dp.audit import Audit, audit
from shoal.dp.audit_exact import ExactAudit, audit_exactly
from shoal.dp.claims import Claim


@dataclass(frozen=True)
class AuditCase:
    """A shipped mechanism with neighbouring inputs.

    Parameters:
        about: Short description of what is run.
        claim: What the mechanism claims.
        run: `run(input, generator)` returns everything that one run publishes.
        pairs: Neighbouring inputs: one with a unit, one without it.
        distribution: Returns the probability of every outcome of an input, where it is known.
    """

    about: str
    claim: Claim
    run: Callable[[Any, np.random.Generator], Any]
    pairs: tuple[tuple[Any, Any], ...]
    distribution: Callable[[Any], dict[Any, float]] | None = None

    def by_runs(self, runs: int, confidence: float = 0.999, seed: int = 0) -> Audit:
        """Run the mechanism on every pair and look for events that refute the claim."""
        return audit(self.run, self.pairs, self.claim, runs=runs, confidence=confidence, seed=seed)

    def exactly(self) -> ExactAudit | None:
        """Return the privacy loss of the worst pair, None if probabilities cannot be computed."""
        if self.distribution is None:
            return None
        known = [
            audit_exactly(self.distribution(first), self.distribution(second), self.claim)
            for first, second in self.pairs
        ]
        return max(known, key=lambda each: each.delta_found)


def audit_cases() -> dict[str, Callable[[], AuditCase]]:
    """Return the mechanisms that Shoal audits, by name; each builds its case when called."""
    from shoal.auditing import people, regression, sampled_tables

    return {
        "safe-la": sampled_tables.case,
        "safe-la, small ε": partial(sampled_tables.case, epsilon=1.2),
        "safe-la, people": people.case,
        "regression": regression.case,
    }
