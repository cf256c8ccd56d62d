"""`shoal robust`: defend networks by noise and a vote, and attack them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.robust import evaluate, examples
from shoal.cli.robust.inputs import (
    Device,
    Held,
    Pictures,
    Seed,
    Tensors,
    check_safetensors,
    fitting_architecture,
    held_back,
    read_pictures,
    temperatures_of,
)
from shoal.cli.shared.console import bars, emit, note, out, share
from shoal.cli.shared.options import Command, Force, Group, Json
from shoal.support.wording import counted

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
    networks: Annotated[
        int, typer.Option(metavar="N", help="Number of networks, trained together.")
    ] = 5,
    epochs: Annotated[int, typer.Option(metavar="N", help="Number of passes over the rows.")] = 100,
    rate: Annotated[float, typer.Option(metavar="X", help="Learning rate.")] = 0.01,
    temperature: Annotated[
        str, typer.Option(metavar="X,...", help="Softmax temperature; one for all, or one each.")
    ] = "1",
    partition: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Train each network on N rows of its own. Default: on all rows."
        ),
    ] = None,
    shift: Annotated[
        int, typer.Option(metavar="N", help="Shift training pictures randomly by up to N pixels.")
    ] = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Store the progress here, and resume from it."),
    ] = None,
    held: Held = 0.2,
    device: Device = "cpu",
    seed: Seed = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Train an ensemble of networks on pictures and save it.

    The size of the pictures selects the architecture: mnist, cifar10 or digits.
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
    training = Training(epochs=epochs, rate=rate, shift=shift)
    with bars():
        found = learn(made, images, labels, members, training, device=device, checkpoint=checkpoint)
    found.save(output, force=force)
    result: dict[str, Any] = {"networks": networks, "architecture": made.name, "rows": rows}
    result |= {"held": len(images) - rows, "single": None, "vote": None}
    if rows < len(images):
        tests, truth = images[rows:].to(found.device), labels[rows:]
        result["single"] = float(found.accuracy(tests, truth).mean())
        result["vote"] = float(EnsembleVote(found).accuracy(tests, truth).mean())
    emit(json, {**result, "output": str(output)}, lambda: _show_trained(result, output))


for command in (
    examples.attack,
    examples.superimpose,
    evaluate.evaluate,
    examples.show,
    evaluate.sweep,
):
    app.command(cls=Command)(command)


def _show_trained(result: dict[str, Any], output: Path) -> None:
    made = counted(result["networks"], "network")
    out.print(f"{made} ({result['architecture']}), trained on {counted(result['rows'], 'row')}")
    if result["vote"] is not None:
        out.print(
            f"accuracy on {result['held']:,} held-out rows: one network "
            f"{share(result['single'])}, the vote {share(result['vote'])}"
        )
    note(f"wrote {output}")
