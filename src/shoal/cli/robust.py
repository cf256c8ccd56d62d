"""`shoal robust`: networks behind noise and a vote, and the attacks that judge them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import robust_attack, robust_evaluate, robust_show, robust_sweep
from shoal.cli.console import bars, emit, note, out, share
from shoal.cli.options import Command, Force, Group, Json
from shoal.cli.robust_files import check_safetensors, held_back, read_pictures
from shoal.cli.robust_options import (
    Device,
    Held,
    Pictures,
    Seed,
    Tensors,
    fitting_architecture,
    temperatures_of,
)
from shoal.core.wording import counted

app = typer.Typer(
    cls=Group, help="Defend published image classifiers, and attack them.", no_args_is_help=True
)


@app.callback()
def robust() -> None:
    """Defend published image classifiers by noise and a vote, and attack them."""


@app.command(cls=Command)
def train(
    data: Pictures,
    output: Tensors,
    networks: Annotated[int, typer.Option(metavar="N", help="How many learn, all at once.")] = 5,
    epochs: Annotated[int, typer.Option(metavar="N", help="Times through the rows.")] = 100,
    rate: Annotated[float, typer.Option(metavar="X", help="Step of the descent.")] = 0.01,
    temperature: Annotated[
        str, typer.Option(metavar="X,...", help="Of the softmax; one for all, or one each.")
    ] = "1",
    partition: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Give each network N rows of its own. Default: all see all."
        ),
    ] = None,
    shift: Annotated[
        int, typer.Option(metavar="N", help="Move pictures by up to N pixels as they are seen.")
    ] = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keeps what was reached; training goes on from it."),
    ] = None,
    held: Held = 0.2,
    device: Device = "cpu",
    seed: Seed = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Train an ensemble of networks on pictures and save it.

    The network is the one made for pictures of this size: mnist, cifar10 or digits.
    """
    from shoal.robust import EnsembleVote, Training, partitioned, shared
    from shoal.robust import train as learn

    check_safetensors(output, force=force)
    temperatures = temperatures_of(temperature, networks)
    images, labels = read_pictures(data)
    rows, made = held_back(len(images), held), fitting_architecture(images, labels)
    if partition is None:
        members = shared(rows, temperatures, seed=seed)
    else:
        members = partitioned(rows, temperatures, size=partition, seed=seed)
    how = Training(epochs=epochs, rate=rate, shift=shift)
    with bars():
        found = learn(made, images, labels, members, how, device=device, checkpoint=checkpoint)
    found.save(output, force=force)
    told: dict[str, Any] = {"networks": networks, "architecture": made.name, "rows": rows}
    told |= {"held": len(images) - rows, "single": None, "vote": None}
    if rows < len(images):
        tests, truth = images[rows:].to(found.device), labels[rows:]
        told["single"] = float(found.accuracy(tests, truth).mean())
        told["vote"] = float(EnsembleVote(found).accuracy(tests, truth).mean())
    emit(json, {**told, "output": str(output)}, lambda: _show_trained(told, output))


for command in (
    robust_attack.attack,
    robust_attack.superimpose,
    robust_evaluate.evaluate,
    robust_show.show,
    robust_sweep.sweep,
):
    app.command(cls=Command)(command)


def _show_trained(told: dict[str, Any], output: Path) -> None:
    made = counted(told["networks"], "network")
    out.print(f"{made} ({told['architecture']}), {counted(told['rows'], 'row')}")
    if told["vote"] is not None:
        out.print(
            f"right on {told['held']:,} held-back rows: one network {share(told['single'])}, "
            f"the vote {share(told['vote'])}"
        )
    note(f"wrote {output}")
