"""`shoal dp audit`: whether broken claims are noticed, shown on small mechanisms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from shoal.cli.console import bars, emit, grid, out
from shoal.cli.options import Json

if TYPE_CHECKING:
    from shoal.dp.audit import Audit
    from shoal.dp.audit_exact import ExactAudit
    from shoal.dp.audit_examples import Example

_MOST = 10_000_000


def audit(
    runs: Annotated[
        int, typer.Option(metavar="N", help="How often each mechanism is run on each table.")
    ] = 200_000,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="With which the bounds on a mechanism hold.")
    ] = 0.999,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same runs.")] = 0,
    json: Json = False,
) -> None:
    """Audit small mechanisms: a sound one, and five with planted faults.

    Shows what an audit of your own mechanism, `shoal.dp.audit` in Python, would and would not
    notice. Exit status 1 if any of them comes out otherwise than is known of it.
    """
    from shoal.core.progress import report
    from shoal.dp.audit_examples import EXAMPLES
    from shoal.errors import InputError

    if not 2 <= runs <= _MOST:
        raise InputError(f"runs must be from 2 to {_MOST:,}, not {runs:,}; choose another number")
    found = {}
    with bars():
        for index, (name, example) in enumerate(EXAMPLES.items()):
            report("mechanisms", index, len(EXAMPLES))
            found[name] = (example, *_audited(example, runs, confidence, seed))
    data = {
        name: {
            "about": example.about,
            "sound": example.sound,
            "runs": by_runs.to_dict(),
            "exact": exactly.to_dict(),
        }
        for name, (example, by_runs, exactly) in found.items()
    }
    emit(json, data, lambda: _show(found, runs))
    if any(not _is_as_known(*each) for each in found.values()):
        raise typer.Exit(1)


def _audited(example: Example, runs: int, confidence: float, seed: int) -> tuple[Audit, ExactAudit]:
    """Return the audit by runs, and the exact one of the pair with the greatest δ."""
    from shoal.dp.audit import audit as run_often
    from shoal.dp.audit_exact import audit_exactly

    mechanism, claim = example.mechanism, example.mechanism.claim
    by_runs = run_often(
        mechanism,
        example.pairs,
        claim,
        runs=runs,
        confidence=confidence,
        seed=seed,
        vectorised=True,
    )
    ratio = getattr(mechanism, "ratio", None)
    exactly = [
        audit_exactly(
            mechanism.distribution(first), mechanism.distribution(second), claim, ratio=ratio
        )
        for first, second in example.pairs
    ]
    return by_runs, max(exactly, key=lambda each: each.delta_found)


def _is_as_known(example: Example, by_runs: Audit, exactly: ExactAudit) -> bool:
    if example.sound:
        return not (by_runs.violated or exactly.violated)
    return exactly.violated


def _show(found: dict[str, tuple[Example, Audit, ExactAudit]], runs: int) -> None:
    rows = grid("mechanism", "claimed ε, δ", "runs prove ≥", "in truth", "verdict")
    for name, (_, by_runs, exactly) in found.items():
        rows.add_row(
            name,
            _pair(by_runs.epsilon, by_runs.delta),
            _pair(by_runs.epsilon_found, by_runs.delta_found),
            _pair(exactly.epsilon_found, float(exactly.delta_found)),
            _verdict(by_runs, exactly),
        )
    out.print(rows)
    out.print()
    about = grid("", "")
    for name, (example, _, _) in found.items():
        about.add_row(name, example.about)
    out.print(about)
    sound = next(by_runs for example, by_runs, _ in found.values() if example.sound)
    out.print(
        f"\n{runs:,} runs on each table; what they prove holds with confidence "
        f"{sound.confidence:g}. Refuted exactly: only the exact audit tells, which knows the "
        "probability of every outcome; so few runs do not."
    )
    out.print(
        "What is not refuted is not thereby private. Here an event that is impossible without a "
        f"person had to have a probability of {sound.noticeable_delta:.2g} to be noticed in the "
        f"runs, and a biased coin ε = {sound.noticeable_epsilon:.3g}."
    )


def _pair(epsilon: float, delta: float) -> str:
    return f"{'∞' if math.isinf(epsilon) else format(epsilon, '.3g')}, {delta:.3g}"


def _verdict(by_runs: Audit, exactly: ExactAudit) -> Text:
    if by_runs.violated:
        return Text("refuted", style="red")
    if exactly.violated:
        return Text("refuted exactly", style="red")
    return Text("not refuted", style="green")
