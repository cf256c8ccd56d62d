"""`shoal robust sweep`: accuracy and robustness by noise and number of networks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.robust.attacker import Attacker, Start, starting
from shoal.cli.robust.files import held_back, read_pictures
from shoal.cli.robust.options import (
    Device,
    Held,
    Method,
    MethodOptions,
    Networks,
    Pictures,
    Queries,
    Samples,
    Seed,
    Threat,
    Vote,
    check_fit,
    scales_of,
)
from shoal.cli.shared.console import bars, emit, grid, note, number, out, share
from shoal.cli.shared.options import Force, Json, names
from shoal.errors import InputError, unknown
from shoal.support.wording import counted

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Classifier, Ensemble, Examples


def sweep(
    data: Pictures,
    networks: Networks,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write one row per setting: .csv."),
    ] = None,
    noise: Annotated[
        str, typer.Option(metavar="X,...", help="Scales of noise to try; 0 means none.")
    ] = "0,0.05,0.1,0.2",
    distribution: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="Distributions to try: laplace, normal, uniform."),
    ] = "laplace",
    counts: Annotated[
        str,
        typer.Option(
            "--networks", metavar="N,...", help="Numbers of networks to try. Default: all."
        ),
    ] = "",
    least_accuracy: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Choose the most robust setting with at least this accuracy on clean pictures.",
        ),
    ] = None,
    method: Method = "iterative-fgsm",
    options: MethodOptions = None,
    threat: Threat = "averages",
    queries: Queries = 16,
    vote: Vote = False,
    samples: Samples = 9,
    held: Held = 0.2,
    device: Device = "cpu",
    seed: Seed = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Evaluate scales and distributions of noise over some or all networks, each under attack.

    Clean accuracy is measured on all held-out pictures. The attack starts from a few pictures that
    the vote of all networks classifies correctly without noise. It is repeated for each noise and,
    with --vote, for each number of networks.
    """
    from shoal.core.publishing.writing import check_ending, write_table
    from shoal.robust import Ensemble
    from shoal.support.files import check_writable

    if output is not None:
        check_ending(output)
        check_writable(output, force=force)
    attacker = Attacker.of(method, options, threat, queries, vote=vote)
    tried = {"scales": scales_of(noise), "distributions": _shapes(distribution)}
    if least_accuracy is not None and not 0 <= least_accuracy <= 1:
        raise InputError(f"least-accuracy must be from 0 to 1, not {least_accuracy:g}")
    images, labels = read_pictures(data)
    ensemble = Ensemble.load(networks, device=device)
    check_fit(ensemble, images, labels)
    numbers = _counts(counts, ensemble.networks)
    start = starting(ensemble, images, labels, held=held, count=samples)
    tests = slice(held_back(len(images), held), None)
    with bars():
        clean = images[tests].to(ensemble.device), labels[tests]
        table = _swept(attacker, start, ensemble, numbers, clean, {**tried, "seed": seed})
    if output is not None:
        write_table(table, output, force=force)
    chosen, refusal = _chosen(table, least_accuracy)
    results = {
        **attacker.to_dict(),
        "samples": samples,
        "results": table.to_pylist(),
        "chosen": chosen,
    }
    emit(json, results, lambda: _show(results))
    if output is not None:
        note(f"wrote {output}")
    if refusal:
        raise refusal


def _swept(
    attacker: Attacker,
    start: Start,
    ensemble: Ensemble,
    numbers: list[int],
    clean: tuple[Tensor, Tensor],
    tried: dict[str, Any],
) -> Any:
    """Sweep over numbers of networks; an attack on the vote is made for each number."""
    import pyarrow as pa

    from shoal.robust import sweep as try_all

    parts = []
    for counts in [[count] for count in numbers] if attacker.vote else [numbers]:
        voters = ensemble.subset(range(max(counts)))

        def craft(noisy: Classifier, voters: Ensemble = voters) -> Examples:
            return attacker.run(noisy, voters, start)

        # an attack on a copy meets no noise: one run is enough
        found = craft(voters) if attacker.threat == "copy" else craft
        parts.append(try_all(voters, *clean, found, start.labels, networks=counts, **tried))
    return pa.concat_tables(parts)


def _chosen(table: Any, least: float | None) -> tuple[dict[str, Any] | None, InputError | None]:
    """Return the chosen setting, or the error if no setting is accurate enough."""
    from shoal.robust import choose

    if least is None:
        return None, None
    try:
        return choose(table, least_accuracy=least), None
    except InputError as refusal:
        return None, refusal


def _shapes(text: str) -> list[str]:
    from shoal.robust.noise_shapes import DISTRIBUTIONS

    found = list(dict.fromkeys(names(text)))
    for name in found:
        if name not in DISTRIBUTIONS:
            raise unknown("no distribution", name, DISTRIBUTIONS)
    if not found:
        raise InputError(f"distribution must be one or more of {', '.join(DISTRIBUTIONS)}")
    return found


def _counts(text: str, networks: int) -> list[int]:
    """Read the numbers of networks to try."""
    parts = names(text) or [str(networks)]
    found = [int(part) if part.isdecimal() else 0 for part in parts]
    if not all(1 <= count <= networks for count in found):
        raise InputError(f"networks must be numbers from 1 to {networks}, such as 1,{networks}")
    return list(dict.fromkeys(found))


def _show(data: dict[str, Any]) -> None:
    target = "the vote" if data["vote"] else "each network"
    queries = f" of {data['queries']} queries" if data["threat"] == "averages" else ""
    out.print(f"attack: {data['method']} on {target}, threat: {data['threat']}{queries}\n")
    shown = grid(
        "shape", "noise", "networks", "one clean", "vote clean", "margin", "attacked", "to target"
    )
    columns = ("single_clean", "vote_clean", "margin", "vote_attacked", "vote_target")
    for row in data["results"]:
        cells = (share(row[name]) for name in columns)
        shown.add_row(row["distribution"], number(row["scale"]), str(row["networks"]), *cells)
    out.print(shown)
    out.print(
        "\nclean: accuracy on clean pictures; attacked: accuracy of the vote on examples from "
        f"{counted(data['samples'], 'picture')}; margin: votes for the winner minus votes for the "
        "runner-up, on clean pictures"
    )
    if data["chosen"] is not None:
        row = data["chosen"]
        noise = f"{row['distribution']} noise of scale {number(row['scale'])}"
        out.print(
            f"chosen: {noise if row['scale'] else 'no noise'} over "
            f"{counted(row['networks'], 'network')}, with an accuracy of "
            f"{share(row['vote_clean'])} on clean pictures and {share(row['vote_attacked'])} on "
            "examples"
        )
        note("chosen on these pictures: expect less on others, and attack the choice again")
