"""Perfect matchings between people and records, weighed by what an attacker knows."""

from shoal.risk.matchings.exact import Exact, all_marginals, count_matchings, exact_cost
from shoal.risk.matchings.sinkhorn import is_flat
from shoal.risk.matchings.solver import Cost
from shoal.risk.matchings.structure import Structure, split

__all__ = [
    "Cost",
    "Exact",
    "Structure",
    "all_marginals",
    "count_matchings",
    "exact_cost",
    "is_flat",
    "split",
]
