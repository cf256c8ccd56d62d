"""`shoal dp audit`: Shoal's own mechanisms, run on tables that differ in one record or person."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from shoal.cli.console import bars, emit, grid, out
from shoal.cli.options import Json, seed_option

if TYPE_CHECKING:
    from shoal.auditing import AuditCase
    from shoal.dp.audit import Audit
    from shoal.dp.audit_exact import ExactAudit

    Audited = tuple[AuditCase, Audit, ExactAudit | None]

_MAX_RUNS = 10_000_000


def audit(
    runs: Annotated[
        int, typer.Option(metavar="N", help="How often each mechanism is run on each table.")
    ] = 4_000,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence of the bounds on a mechanism.")
    ] = 0.999,
    seed: Annotated[int, seed_option("The same seed gives the same runs.")] = 0,
    json: Json = False,
) -> None:
    """Audit the private mechanisms of this installation on small tables.

    Runs the code that `anonymize --method safe-la` and the private regression run, on pairs of
    tables that differ in one record or person, and looks for outcomes that refute the claim. Draws
    come from seeds: the secure generator is not part of it. `shoal.dp.audit` in Python audits a
    mechanism of your own. Exit status 1 if a claim is refuted.
    """
    from shoal.auditing import audit_cases
    from shoal.core.progress import report
    from shoal.errors import InputError

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
        f"\n{runs:,} runs on each table; what they prove holds with confidence {confidence:g}. "
        "exact: scores and classes of the same code, with every sample tried; that records and "
        "nodes are drawn with the stated probabilities is assumed there."
    )
    out.print(
        "An audit cannot prove privacy. It knows these tables only. noticeable: the ε of a biased "
        "coin, and the probability of an event that is impossible without the person, from which "
        "on the runs would have noticed it. Faults in the last digits of noise are not noticed."
    )


def _pair(epsilon: float, delta: float) -> str:
    return f"{'∞' if math.isinf(epsilon) else format(epsilon, '.3g')}, {delta:.3g}"
