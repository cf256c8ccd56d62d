"""Adversarial examples: `shoal robust attack`, `superimpose` and `show`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.robust.inputs import (
    Attacker,
    Device,
    Distribution,
    Found,
    Held,
    Kept,
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
    check_safetensors,
    check_scale,
    load_examples,
    read_pictures,
    save_examples,
    starting,
)
from shoal.cli.shared.console import bars, emit, note, number, out, share
from shoal.cli.shared.options import Force, Json
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
    """Find adversarial examples: each picture is attacked towards every class except its own.

    The attack starts from the first held-out pictures that the vote classifies correctly.
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
    record = {**attacker.to_dict(), "noise": noise, "distribution": distribution, "seed": seed}
    save_examples(output, Kept(found, start.labels, start.samples, record), force=force)
    counted = {
        "examples": found.success.numel(),
        "success": float(found.success.double().mean()),
        "perturbation": _mean(found.perturbations[found.success]),
    }
    emit(json, {**record, **counted}, lambda: _show_attacked(counted, output))


def superimpose(
    examples: Annotated[
        Path,
        typer.Argument(metavar="EXAMPLES", help="The output of `robust attack` without --vote."),
    ],
    output: Tensors,
    count: Annotated[
        int, typer.Option(metavar="N", help="Number of perturbations to superimpose.")
    ] = 2,
    force: Force = False,
    json: Json = False,
) -> None:
    """Superimpose the smallest perturbations that fooled single networks.

    The result has one example for each picture and class. If fewer than N networks were fooled,
    all of their perturbations are used.
    """
    from shoal.robust import superimpose as superimpose_examples

    check_safetensors(output, force=force)
    kept = load_examples(examples)
    success = kept.examples.success
    if kept.attack.get("vote") or kept.attack.get("superimposed") or len(success) < 2:
        raise InputError(
            f"{examples}: contains one example per row; only examples against several networks, "
            "made by `shoal robust attack` without --vote, can be superimposed"
        )
    if not 2 <= count <= len(success):
        raise InputError(
            f"count must be from 2 to {len(success)}, the number of networks, not {count}"
        )
    if not success.any():
        raise InputError(f"{examples}: no example succeeded, so there is nothing to superimpose")
    found = superimpose_examples(kept.examples, count)
    attack = {**kept.attack, "superimposed": count}
    save_examples(output, replace(kept, examples=found, attack=attack), force=force)
    fooled = success.sum(dim=0)  # (rows,) networks fooled
    counted = {
        "count": count,
        "rows": len(fooled),
        "complete": int((fooled >= count).sum()),
        "fewer": int(((fooled > 0) & (fooled < count)).sum()),
        "unchanged": int((fooled == 0).sum()),
        "perturbation": _mean(found.perturbations[0, fooled > 0]),
    }
    emit(json, counted, lambda: _show_superimposed(counted, output))


def _mean(values: Tensor) -> float | None:
    return float(values.mean()) if len(values) else None


def _show_attacked(counted: dict[str, Any], output: Path) -> None:
    size = counted["perturbation"]
    out.print(
        f"{counted['examples']:,} examples, {share(counted['success'])} reached their goal"
        + ("" if size is None else f", mean perturbation {number(size)}")
    )
    note(f"wrote {output}")


def _show_superimposed(counted: dict[str, Any], output: Path) -> None:
    count, rows = counted["count"], counted["rows"]
    out.print(
        f"{rows:,} rows, {counted['complete']:,} of them with {count} superimposed perturbations; "
        f"mean perturbation {number(counted['perturbation'])}"
    )
    if counted["fewer"]:
        note(f"rows with fewer perturbations: {counted['fewer']:,} (too few networks were fooled)")
    if counted["unchanged"]:
        note(f"rows left unchanged: {counted['unchanged']:,} (no network was fooled)")
    note(f"wrote {output}")


def show(
    examples: Found,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The picture: .png or .html.")
    ],
    most: Annotated[
        int, typer.Option(metavar="N", help="Maximum number of examples to show.")
    ] = 20,
    zoom: Annotated[int, typer.Option(metavar="N", help="Screen pixels per pixel.")] = 4,
    force: Force = False,
) -> None:
    """Draw successful examples: original, perturbation and adversarial picture.

    In the perturbation, grey means no change; its contrast is stretched.
    """
    import numpy as np

    from shoal.report.robust_charts import check_ending, write_pictures

    check_ending(output, force=force)
    if most < 1:
        raise InputError(f"most must be 1 or more, not {most}")
    if not 1 <= zoom <= 32:
        raise InputError(f"zoom must be from 1 to 32, not {zoom}")
    kept = load_examples(examples)
    indices = kept.examples.success.nonzero()[:most].tolist()
    if not indices:
        raise InputError(f"{examples}: no example succeeded, so there is nothing to show")
    drawn, captions = zip(*drawn_examples(kept, indices), strict=True)
    write_pictures(output, np.stack(drawn), list(captions), zoom=zoom, force=force)
    note(f"wrote {output}, {len(captions)} of {int(kept.examples.success.sum()):,} examples")


def drawn_examples(kept: Kept, indices: Sequence[Sequence[int]]) -> list[tuple[Any, str]]:
    """Return the three pictures of each example, given by network and row, with a caption."""
    from shoal.report.robust_charts import triptychs

    found = kept.examples
    if not indices:
        return []
    network, row = map(list, zip(*indices, strict=True))
    drawn = triptychs(found.originals[row].numpy(), found.adversarial[network, row].numpy())
    sizes = found.perturbations[network, row].tolist()
    captions = [
        f"row {kept.samples[r]}: {kept.labels[r]} to {found.goals[r]}, {_target(kept, n)}, "
        f"size {size:.3f}"
        for n, r, size in zip(network, row, sizes, strict=True)
    ]
    return list(zip(drawn, captions, strict=True))


def _target(kept: Kept, network: int) -> str:
    """Return the classifier that an example was made for."""
    if kept.attack.get("superimposed"):
        return f"{kept.attack['superimposed']} superimposed"
    return "the vote" if kept.attack.get("vote") else f"network {network}"
