"""Differential privacy: mechanisms, their claims, their budgets and their audits.

Arithmetic and audits are imported here; mechanisms, regression and ledgers on first use.
"""

from typing import TYPE_CHECKING

from shoal.dp.audit import Audit, audit
from shoal.dp.audit_exact import ExactAudit, audit_exactly
from shoal.dp.claims import DP, Claim, DPUnderSampling
from shoal.dp.planning import expected_kept, kept_sensitivity
from shoal.dp.sampling import SamplingLoss, least_epsilon, least_k, sampling_delta, sampling_loss
from shoal.support.imports import on_first_use

if TYPE_CHECKING:
    from shoal.dp.claims import Composed, compose
    from shoal.dp.functional_logistic_regression import FunctionalLogisticRegression
    from shoal.dp.ledger import Ledger
    from shoal.dp.mechanisms import bernoulli, choose, laplace, probabilities
    from shoal.dp.planning import Setting, plan

__all__ = [
    "DP",
    "Audit",
    "Claim",
    "Composed",
    "DPUnderSampling",
    "ExactAudit",
    "FunctionalLogisticRegression",
    "Ledger",
    "SamplingLoss",
    "Setting",
    "audit",
    "audit_exactly",
    "bernoulli",
    "choose",
    "compose",
    "expected_kept",
    "kept_sensitivity",
    "laplace",
    "least_epsilon",
    "least_k",
    "plan",
    "probabilities",
    "sampling_delta",
    "sampling_loss",
]

_ON_FIRST_USE = {  # the module of each name
    "Composed": "claims",
    "FunctionalLogisticRegression": "functional_logistic_regression",
    "Ledger": "ledger",
    "Setting": "planning",
    "bernoulli": "mechanisms",
    "choose": "mechanisms",
    "compose": "claims",
    "laplace": "mechanisms",
    "plan": "planning",
    "probabilities": "mechanisms",
}

if not TYPE_CHECKING:  # a type checker would otherwise accept any name
    __getattr__, __dir__ = on_first_use(__name__, _ON_FIRST_USE, extra=("learn", "sklearn"))
