"""Job: attacks on a released file, by Shoal or by anonymeter; both begin with rows in memory."""

from __future__ import annotations

import warnings
from typing import Any

from jobs import answer, receive
from meter import metered


def by_shoal(job: dict[str, Any]) -> dict[str, Any]:
    from pyarrow import csv

    from shoal.risk import attack

    parts = {name: csv.read_csv(job[name]) for name in ("original", "released", "control")}
    roles = {"quasi": job["quasi"], "sensitive": job["sensitive"], "attacks": job["attacks"]}
    few = {name: part.slice(0, 50) for name, part in parts.items()}
    attack(few["original"], few["released"], control=few["control"], **roles)  # loads kernels
    with metered() as cost:
        found = attack(parts["original"], parts["released"], control=parts["control"], **roles)
    risks = {
        name: {part: getattr(getattr(found, name), part) for part in ("risk", "low", "high")}
        for name in ("singling_out", "linkability", "inference", "membership")
    }
    return {**cost, "risks": risks}


def by_anonymeter(job: dict[str, Any]) -> dict[str, Any]:
    import pandas as pd
    from anonymeter.evaluators import (
        InferenceEvaluator,
        LinkabilityEvaluator,
        SinglingOutEvaluator,
    )

    ori, syn, control = (pd.read_csv(job[n]) for n in ("original", "released", "control"))
    known, secret, tries = job["quasi"], job["sensitive"], job["attacks"]
    halves = (known[0::2], known[1::2])
    with metered() as cost, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = {"ori": ori[known], "syn": syn[known], "control": control[known]}
        singled = {}
        for mode in ("univariate", "multivariate"):
            evaluator = SinglingOutEvaluator(
                **tables, n_attacks=tries, seed=0, max_attempts=20 * tries
            )
            try:
                singled[mode] = evaluator.evaluate(mode=mode).risk()
            except RuntimeError:  # no predicate of this kind
                continue
        every = {"ori": ori, "syn": syn, "control": control, "n_attacks": tries}
        linked = LinkabilityEvaluator(**every, aux_cols=halves).evaluate(n_jobs=1).risk()
        inferred = (
            InferenceEvaluator(**every, aux_cols=known, secret=secret).evaluate(n_jobs=1).risk()
        )
    most = max(singled.values(), key=lambda risk: risk.value)
    found = {"singling_out": most, "linkability": linked, "inference": inferred}
    return {
        **cost,
        "risks": {
            name: {"risk": float(r.value), "low": float(r.ci[0]), "high": float(r.ci[1])}
            for name, r in found.items()
        },
    }


def main() -> None:
    folder, job = receive()
    answer(folder, by_shoal(job) if job["by"] == "shoal" else by_anonymeter(job))


main()
