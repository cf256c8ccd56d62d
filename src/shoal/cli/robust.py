"""`shoal robust`: networks behind noise and a vote, and the attacks that judge them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import robust_attack
from shoal.cli.console import bars, emit, grid, note, out, share
from shoal.cli.options import Command, Force, Group, Json
from shoal.cli.robust_files import check_safetensors, held_back, load_examples, read_pictures
from shoal.cli.robust_options import (
    Device,
    Distribution,
    Found,
    Held,
    Networks,
    Pictures,
    Seed,
    Tensors,
    check_fit,
    fitting_architecture,
    numbers,
    temperatures_of,
    usable_device,
)
from shoal.errors import InputError

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
    how = Training(epochs=epochs, rate=rate)
    with bars():
        found = learn(
            made, images, labels, members, how, device=usable_device(device), checkpoint=checkpoint
        )
    found.save(output, force=force)
    told: dict[str, Any] = {"networks": networks, "architecture": made.name, "rows": rows}
    told |= {"held": len(images) - rows, "single": None, "vote": None}
    if rows < len(images):
        tests, truth = images[rows:].to(found.device), labels[rows:]
        told["single"] = float(found.accuracy(tests, truth).mean())
        told["vote"] = float(EnsembleVote(found).accuracy(tests, truth).mean())
    emit(json, {**told, "output": str(output)}, lambda: _show_trained(told, output))


app.command(cls=Command)(robust_attack.attack)


@app.command(cls=Command)
def evaluate(
    examples: Found,
    networks: Networks,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write one row an example and scale: .csv."
        ),
    ] = None,
    noise: Annotated[
        str, typer.Option(metavar="X,...", help="Scales of noise to judge with; 0 is none.")
    ] = "0",
    distribution: Distribution = "laplace",
    device: Device = "cpu",
    seed: Seed = 1,
    force: Force = False,
    json: Json = False,
) -> None:
    """Put adversarial examples to the networks and to their vote, with and without noise."""
    from shoal.core.files import check_writable
    from shoal.core.writing import check_ending, write_table
    from shoal.robust import Ensemble, NoisyLogit, accuracies, classifications, judge

    if output is not None:
        check_ending(output)
        check_writable(output, force=force)
    scales = numbers("noise", noise)
    ensemble, kept = Ensemble.load(networks, device=usable_device(device)), load_examples(examples)
    check_fit(ensemble, kept.examples.originals, kept.labels)
    judged = {}
    for scale in scales:
        model = NoisyLogit(ensemble, scale, distribution, seed=seed)
        judged[f"{scale:g}"] = judge(kept.examples, kept.labels, model, samples=kept.samples)
    if output is not None:
        write_table(_joined(judged), output, force=force)
    rows = accuracies(judged).rename_columns({"model": "noise"}).to_pylist()
    for each in classifications(judged).to_pylist():
        row = next(row for row in rows if row["noise"] == each["model"])
        row[each["outcome"]] = each["value"]
    emit(json, {"attack": kept.told, "results": rows}, lambda: _show_judged(kept.told, rows))


@app.command(cls=Command)
def show(
    examples: Found,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The picture: .png or .html.")
    ],
    most: Annotated[int, typer.Option(metavar="N", help="Examples to show.")] = 20,
    zoom: Annotated[int, typer.Option(metavar="N", help="Screen pixels for each pixel.")] = 4,
    force: Force = False,
) -> None:
    """Draw examples that succeeded: original, perturbation, adversarial.

    The perturbation is grey where nothing changed; its contrast is stretched.
    """
    from shoal.cli.robust_pictures import check_ending, triptychs, write_pictures

    check_ending(output, force=force)
    if most < 1 or not 1 <= zoom <= 32:
        raise InputError("most must be 1 or more, and zoom from 1 to 32")
    kept = load_examples(examples)
    found = kept.examples
    places = found.success.nonzero()[:most]
    if not len(places):
        raise InputError(f"{examples}: no example in it succeeded; there is nothing to show")
    network, row = places.unbind(dim=1)
    drawn = triptychs(found.originals[row].numpy(), found.adversarial[network, row].numpy())
    sizes = found.perturbations[network, row].tolist()
    captions = [
        f"row {kept.samples[r]}: {kept.labels[r]} to {found.goals[r]}, network {n}, size {size:.3f}"
        for n, r, size in zip(network.tolist(), row.tolist(), sizes, strict=True)
    ]
    write_pictures(output, drawn, captions, zoom=zoom, force=force)
    note(f"wrote {output}, {len(captions)} of {int(found.success.sum()):,} examples")


def _joined(judged: dict[str, Any]) -> Any:
    """Return all examples under each other, with the scale of the noise first."""
    import pyarrow as pa

    parts = []
    for scale, each in judged.items():
        column = pa.array([float(scale)] * each.examples.num_rows, pa.float64())
        parts.append(each.examples.add_column(0, "noise", column))
    return pa.concat_tables(parts)


def _show_trained(told: dict[str, Any], output: Path) -> None:
    out.print(f"{told['networks']} networks ({told['architecture']}), {told['rows']:,} rows")
    if told["vote"] is not None:
        out.print(
            f"right on {told['held']:,} held-back rows: one network {share(told['single'])}, "
            f"the vote {share(told['vote'])}"
        )
    note(f"wrote {output}")


def _show_judged(told: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    out.print(f"attack: {told['method']}, threat: {told['threat']}, noise: {told['noise']:g}\n")
    shown = grid("noise", "vote clean", "vote attacked", "one clean", "one attacked", "to target")
    for row in rows:
        columns = ("vote_clean", "vote_attacked", "single_clean", "single_attacked", "target")
        shown.add_row(row["noise"], *(share(row[name]) for name in columns))
    out.print(shown)
    out.print("\nshares that are right; to target: votes that name what the attacker wanted")
