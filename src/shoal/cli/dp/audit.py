"""`shoal dp audit`: audit Shoal's mechanisms on tables that differ in one record or person."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from shoal.cli.shared.console import bars, emit, grid, out
from shoal.cli.shared.options import Json, seed_option

if TYPE_CHECKING:
    from shoal.auditing import AuditCase
    from shoal.dp.audit import Audit
    from shoal.dp.audit_exact import ExactAudit

    Audited = tuple[AuditCase, Audit, ExactAudit | None]

_MAX_RUNS = 10_000_000


def audit(
    runs: Annotated[
        int, typer.Option(metavar="N", help="Number of runs of each mechanism on each table.")
    ] = 4_000,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level of the bounds on a mechanism.")
    ] = 0.999,
    seed: Annotated[int, seed_option("The same seed gives the same runs.")] = 0,
    json: Json = False,
) -> None:
    """Audit the differentially private mechanisms of this installation on small tables.

    The audit runs the code of `anonymize --method safe-la` and of the private regression on pairs
    of tables that differ in one record or person, and looks for outcomes that refute the claim. It
    uses seeded random numbers: the secure generator is not audited. Use `shoal.dp.audit` in Python
    to audit a mechanism of your own. The exit status is 1 if a claim is refuted.
    """
    from shoal.auditing import audit_cases
    from shoal.errors import InputError
    from shoal.support.progress import report

    if not 2 <= runs <= _MAX_RUNS:
        raise InputError(f"runs must be from 2 to {_MAX_RUNS:,}, not {runs:,}")
    audited: dict[str, Audited] = {}
    with bars():
        cases = audit_cases()
        for index, (name, make) in enumerate(cases.items()):
            report("mechanisms", index, len(cases))
            case = make()
            audited[name] = case, case.by_runs(runs, confidence, seed), case.exactly()
    data = {
        name: {
            "about": case.about,
            "claim": str(case.claim),
            "runs": by_runs.to_dict(),
            "exact": None if exact is None else exact.to_dict(),
        }
        for name, (case, by_runs, exact) in audited.items()
    }
    emit(json, data, lambda: _show(audited, runs))
    if any(_is_refuted(*each) for each in audited.values()):
        raise typer.Exit(1)


def _is_refuted(_: AuditCase, by_runs: Audit, exact: ExactAudit | None) -> bool:
    return by_runs.violated or (exact is not None and exact.violated)


def _show(audited: dict[str, Audited], runs: int) -> None:
    rows = grid("mechanism", "claimed ε, δ", "runs prove ≥", "exact", "noticeable", "verdict")
    for name, (case, by_runs, exact) in audited.items():
        refuted = _is_refuted(case, by_runs, exact)
        rows.add_row(
            name,
            _pair(by_runs.epsilon, by_runs.delta),
            _pair(by_runs.epsilon_found, by_runs.delta_found),
            "" if exact is None else _pair(exact.epsilon_found, float(exact.delta_found)),
            _pair(by_runs.noticeable_epsilon, by_runs.noticeable_delta),
            Text("refuted", "red") if refuted else Text("not refuted", "green"),
        )
    out.print(rows)
    out.print()
    about = grid("", "")
    for name, (case, _, _) in audited.items():
        about.add_row(name, case.about)
    out.print(about)
    confidence = next(iter(audited.values()))[1].confidence
    out.print(
        f"\n{runs:,} runs on each table; the bounds that the runs prove hold with confidence "
        f"{confidence:g}. exact: computed from the scores and classes of the same code over every "
        "possible sample, assuming that records and nodes are drawn with the stated probabilities."
    )
    out.print(
        "An audit cannot prove privacy, and it covers only these tables. noticeable: the smallest "
        "ε of a biased coin, and the smallest probability of an event that is impossible without "
        "the person, that the runs would detect. The audit does not detect faults in the last "
        "digits of noise."
    )


def _pair(epsilon: float, delta: float) -> str:
    return f"{'∞' if math.isinf(epsilon) else format(epsilon, '.3g')}, {delta:.3g}"
