"""`shoal robust attack` and `superimpose`: adversarial examples, as those find them who try."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import bars, emit, note, number, out, share
from shoal.cli.options import Force, Json
from shoal.cli.robust_attacker import Attacker, starting
from shoal.cli.robust_files import (
    Kept,
    check_safetensors,
    load_examples,
    read_pictures,
    save_examples,
)
from shoal.cli.robust_options import (
    Device,
    Distribution,
    Held,
    Method,
    MethodOptions,
    Networks,
    Pictures,
    Queries,
    Samples,
    Seed,
    Tensors,
    Threat,
    Vote,
    check_fit,
    check_scale,
)
from shoal.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


def attack(
    data: Pictures,
    networks: Networks,
    output: Tensors,
    method: Method = "carlini-wagner",
    options: MethodOptions = None,
    threat: Threat = "queries",
    noise: Annotated[
        float, typer.Option(metavar="X", help="Scale of the noise that the defender adds.")
    ] = 0.0,
    distribution: Distribution = "laplace",
    queries: Queries = 16,
    vote: Vote = False,
    samples: Samples = 9,
    held: Held = 0.2,
    device: Device = "cpu",
    seed: Seed = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find adversarial examples: each picture towards each class but its own.

    Starts from the first held-back pictures that the vote gets right.
    """
    from shoal.robust import Ensemble, NoisyLogit

    check_safetensors(output, force=force)
    check_scale(noise)
    attacker = Attacker.of(method, options, threat, queries, vote=vote)
    images, labels = read_pictures(data)
    ensemble = Ensemble.load(networks, device=device)
    check_fit(ensemble, images, labels)
    start = starting(ensemble, images, labels, held=held, count=samples)
    with bars():
        found = attacker.run(NoisyLogit(ensemble, noise, distribution, seed=seed), ensemble, start)
    told = {**attacker.told(), "noise": noise, "distribution": distribution, "seed": seed}
    save_examples(output, Kept(found, start.labels, start.samples, told), force=force)
    counted = {
        "examples": found.success.numel(),
        "success": float(found.success.double().mean()),
        "perturbation": _mean(found.perturbations[found.success]),
    }
    emit(json, {**told, **counted}, lambda: _show_attacked(counted, output))


def superimpose(
    examples: Annotated[
        Path,
        typer.Argument(metavar="EXAMPLES", help="What `robust attack` wrote, without --vote."),
    ],
    output: Tensors,
    count: Annotated[
        int, typer.Option(metavar="N", help="Perturbations to lay over each other.")
    ] = 2,
    force: Force = False,
    json: Json = False,
) -> None:
    """Lay over each other the smallest perturbations that single networks fell for.

    One example for each picture and class. A row that fewer networks fell for gets what it has.
    """
    from shoal.robust import superimpose as laid_over

    check_safetensors(output, force=force)
    kept = load_examples(examples)
    success = kept.examples.success
    if kept.told.get("vote") or kept.told.get("superimposed") or len(success) < 2:
        raise InputError(
            f"{examples}: holds one example a row; only those against several networks, of "
            "`shoal robust attack` without --vote, can be laid over each other"
        )
    if not 2 <= count <= len(success):
        raise InputError(f"count must be from 2 to {len(success)}, the networks, not {count}")
    if not success.any():
        raise InputError(f"{examples}: no example in it succeeded; there is nothing to lay over")
    found = laid_over(kept.examples, count)
    told = {**kept.told, "superimposed": count}
    save_examples(output, replace(kept, examples=found, told=told), force=force)
    fallen = success.sum(dim=0)  # (rows,) networks that fell
    counted = {
        "count": count,
        "rows": len(fallen),
        "complete": int((fallen >= count).sum()),
        "fewer": int(((fallen > 0) & (fallen < count)).sum()),
        "unchanged": int((fallen == 0).sum()),
        "perturbation": _mean(found.perturbations[0, fallen > 0]),
    }
    emit(json, counted, lambda: _show_laid(counted, output))


def _mean(values: Tensor) -> float | None:
    return float(values.mean()) if len(values) else None


def _show_attacked(counted: dict[str, Any], output: Path) -> None:
    size = counted["perturbation"]
    out.print(
        f"{counted['examples']:,} examples, {share(counted['success'])} reached their goal"
        + ("" if size is None else f", mean perturbation {number(size)}")
    )
    note(f"wrote {output}")


def _show_laid(counted: dict[str, Any], output: Path) -> None:
    count, rows = counted["count"], counted["rows"]
    out.print(
        f"{rows:,} rows, {counted['complete']:,} of them with {count} perturbations laid over each "
        f"other; mean perturbation {number(counted['perturbation'])}"
    )
    if counted["fewer"]:
        note(f"rows with fewer: {counted['fewer']:,}, as too few networks fell for them")
    if counted["unchanged"]:
        note(f"rows left unchanged: {counted['unchanged']:,}, as no network fell for them")
    note(f"wrote {output}")
