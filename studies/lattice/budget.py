"""Both mechanisms in a row: an anonymized table and a private regression from one budget.

Half of ε each, kept by a ledger that refuses a third release. Learning from the released table
costs nothing more: what is computed from a release alone is covered by its claim.
"""

from __future__ import annotations

from shoal.dp import Ledger, least_k
from shoal.methods import anonymize
from shoal.methods.lattice.safe_la import SafeLA
from shoal.privacy.k_anonymity import KAnonymity
from studies.lattice.methods import EPSILON, PLANNED_BETA, SPARING, published_delta
from studies.lattice.models import (
    TIGHT_FORM,
    Shown,
    learn,
    learn_privately,
    private_model,
)
from studies.lattice.tables import Study
from studies.runs import Row


def in_a_row(study: Study, seed: int) -> Row:
    """Release a table, then a regression; draws are secure, as a ledger asks for."""
    train, test = study.split(seed)
    half, delta = EPSILON / 2, published_delta(study)
    k = least_k(half - SPARING, delta, PLANNED_BETA, form="tight")
    method = SafeLA(epsilon=half, choice=SPARING, beta=PLANNED_BETA, n0=study.n0)
    model = private_model(study, half, few=True, options=TIGHT_FORM, seed=None)
    ledger = Ledger(EPSILON, delta, table=study.name)
    with ledger.spend(method.claim(k), what="the table"):
        release = anonymize(study.few_part(train), KAnonymity(k), method)
    with ledger.spend(model.claim, what="the regression"):
        private = learn_privately(study, model, train, test, few=True)
    assert release.node is not None
    kept = train if release.suppressed is None else train[~release.suppressed]
    shown = learn(study, Shown(study.few, release.node, kept), test)
    spent = ledger.spent()
    table, regression = ledger.entries
    return {
        "k": k,
        "table epsilon": table.epsilon,
        "table delta": table.delta,
        "regression epsilon": regression.epsilon,
        "epsilon": spent.epsilon,
        "delta": spent.delta,
        "granted": EPSILON,
        "third refused": not ledger.affords(model.claim),
        "from the table": shown["accuracy"],
        "from the regression": private["accuracy"],
    }
