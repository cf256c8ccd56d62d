"""`shoal robust attack`: adversarial examples, found as those would who know the defence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import bars, emit, note, number, out, share
from shoal.cli.options import Force, Json, method_options
from shoal.cli.robust_files import Kept, check_safetensors, held_back, read_pictures, save_examples
from shoal.cli.robust_options import (
    Device,
    Distribution,
    Held,
    Networks,
    Pictures,
    Seed,
    Tensors,
    check_fit,
    usable_device,
)
from shoal.errors import InputError, unknown

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Classifier, Ensemble


def attack(
    data: Pictures,
    networks: Networks,
    output: Tensors,
    method: Annotated[
        str,
        typer.Option(metavar="NAME", help="carlini-wagner, fgsm, iterative-fgsm, lbfgs or jsma."),
    ] = "carlini-wagner",
    options: Annotated[
        list[str] | None,
        typer.Option("-O", metavar="NAME=VALUE", help="An option of the method. Repeatable."),
    ] = None,
    threat: Annotated[
        str,
        typer.Option(metavar="NAME", help="What the attacker does: queries, averages or copy."),
    ] = "queries",
    noise: Annotated[
        float, typer.Option(metavar="X", help="Scale of the noise that the defender adds.")
    ] = 0.0,
    distribution: Distribution = "laplace",
    queries: Annotated[
        int, typer.Option(metavar="N", help="Asked for each step by one who averages.")
    ] = 16,
    vote: Annotated[
        bool, typer.Option("--vote", help="Attack the whole ensemble, not each network.")
    ] = False,
    samples: Annotated[int, typer.Option(metavar="N", help="Pictures to start from.")] = 9,
    held: Held = 0.2,
    device: Device = "cpu",
    seed: Seed = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find adversarial examples: each picture towards each class but its own.

    Starts from the first held-back pictures that the vote gets right.
    """
    from shoal.robust import ATTACKS, Ensemble, EnsembleVote, NoisyLogit, attacked, every_target

    check_safetensors(output, force=force)
    if method not in ATTACKS:
        raise unknown("no attack", method, ATTACKS)
    chosen = _made(ATTACKS[method], method_options(options))
    images, labels = read_pictures(data)
    ensemble = Ensemble.load(networks, device=usable_device(device))
    check_fit(ensemble, images, labels)
    rows = _right(ensemble, images, labels, held_back(len(images), held), samples)
    defended: Classifier = NoisyLogit(ensemble, noise, distribution, seed=seed)
    copy: Classifier = ensemble
    if vote:
        defended, copy = EnsembleVote(defended), EnsembleVote(copy)
    model = attacked(defended, threat, copy=copy, queries=queries)
    classes = ensemble.architecture.classes if ensemble.architecture else 10
    places, goals, truth = every_target(images[rows], labels[rows], classes)
    with bars():
        found = chosen.run(model, images[rows][places], goals)
    told = {"method": method, "threat": threat, "noise": noise, "distribution": distribution}
    told |= {"queries": queries if threat == "averages" else 1, "vote": vote}
    save_examples(output, Kept(found, truth, rows[places], told), force=force)
    counted = {
        "examples": found.success.numel(),
        "success": float(found.success.double().mean()),
        "perturbation": _mean(found.perturbations[found.success]),
    }
    emit(json, {**told, **counted}, lambda: _show_attacked(counted, output))


def _right(ensemble: Ensemble, images: Tensor, labels: Tensor, start: int, count: int) -> Tensor:
    """Return the positions of the first held-back pictures that the vote gets right."""
    import torch

    from shoal.robust import EnsembleVote

    if count < 1:
        raise InputError(f"samples must be 1 or more, not {count}")
    if start == len(images):
        raise InputError("no picture is held back to start from; give --held 0.2")
    voted = EnsembleVote(ensemble).labels(images[start:].to(ensemble.device))[0].cpu()
    rows: Tensor = torch.nonzero(voted == labels[start:]).flatten() + start
    if len(rows) < count:
        raise InputError(f"the vote gets only {len(rows)} held-back pictures right, not {count}")
    return rows[:count]


def _made(method: type[Any], options: dict[str, Any]) -> Any:
    from dataclasses import fields

    known = [field.name for field in fields(method)]
    for name in options:
        if name not in known:
            raise unknown(f"{method.name}: no option", name, known)
    return method(**options)


def _mean(values: Tensor) -> float | None:
    return float(values.mean()) if len(values) else None


def _show_attacked(counted: dict[str, Any], output: Path) -> None:
    size = counted["perturbation"]
    out.print(
        f"{counted['examples']:,} examples, {share(counted['success'])} reached their goal"
        + ("" if size is None else f", mean perturbation {number(size)}")
    )
    note(f"wrote {output}")
