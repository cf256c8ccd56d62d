"""The accuracy of networks under attack: `shoal robust evaluate` and `shoal robust sweep`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.robust.examples import drawn_examples
from shoal.cli.robust.inputs import (
    Attacker,
    Device,
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
    Start,
    Threat,
    Vote,
    check_fit,
    held_back,
    load_examples,
    read_pictures,
    scales_of,
    starting,
)
from shoal.cli.shared.console import bars, emit, grid, note, number, out, share
from shoal.cli.shared.options import Force, Json, names
from shoal.cli.shared.summary import typed
from shoal.errors import InputError, OutputError, unknown
from shoal.support.wording import counted

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Classifier, Ensemble, Examples, Judged


_SHOWN_HEIGHT = 72  # approximate height of a picture in the report, in screen pixels


def evaluate(
    *,
    context: typer.Context,
    examples: Found,
    networks: Networks,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write one row per example and scale: .csv."
        ),
    ] = None,
    bins: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one row per perturbation size and scale: .csv."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report: .html or .json."),
    ] = None,
    pictures: Annotated[
        int, typer.Option(metavar="N", help="Number of examples that the report shows.")
    ] = 12,
    noise: Annotated[
        str, typer.Option(metavar="X,...", help="Scales of noise to evaluate; 0 means none.")
    ] = "0",
    distribution: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="laplace, normal or uniform. Default: as in the attack."),
    ] = None,
    device: Device = "cpu",
    seed: Seed = 1,
    force: Force = False,
    json: Json = False,
) -> None:
    """Evaluate the networks and their vote on adversarial examples, with and without noise.

    Confidence intervals treat the pictures that the examples start from as independent. They show
    how this attack would perform on other pictures, not how other attacks would perform.
    """
    from shoal.files.writing import write_table
    from shoal.report.robust import bins as by_size
    from shoal.report.robust import noise_name, results, stacked
    from shoal.robust import Ensemble, NoisyLogit, judge

    _check_outputs(output, bins, report, force=force)
    scales = scales_of(noise)
    if pictures < 0:
        raise InputError(f"pictures must be 0 or more, not {pictures}")
    ensemble, kept = Ensemble.load(networks, device=device), load_examples(examples)
    check_fit(ensemble, kept.examples.originals, kept.labels)
    distribution = distribution or kept.attack["distribution"]
    _check_seed(seed, kept.attack, scales)
    judged = {}
    for scale in scales:
        model = NoisyLogit(ensemble, scale, distribution, seed=seed)
        judged[noise_name(scale)] = judge(kept.examples, kept.labels, model, samples=kept.samples)
    if output is not None:
        write_table(stacked({s: each.examples for s, each in judged.items()}), output, force=force)
    if bins is not None:
        write_table(by_size(judged), bins, force=force)
    if report is not None:
        head = {"distribution": distribution, "command": typed(context)}
        _write_report(report, judged, kept, pictures, (examples, networks), head, force=force)
    rows = results(judged)
    emit(json, {"attack": kept.attack, "results": rows}, lambda: _show_judged(kept.attack, rows))
    for path in (output, bins, report):
        if path is not None:
            note(f"wrote {path}")


def _check_outputs(
    output: Path | None, bins: Path | None, report: Path | None, *, force: bool
) -> None:
    """Raise an error before any work if an output could not be written."""
    from shoal.files.writing import check_ending
    from shoal.report.document import check_report
    from shoal.support.files import check_writable

    given = [path for path in (output, bins, report) if path is not None]
    if len(set(given)) < len(given):
        raise OutputError("two outputs have the same name; give each its own")
    for table in (output, bins):
        if table is not None:
            check_ending(table)
            check_writable(table, force=force)
    if report is not None:
        check_report(report, force=force)


def _check_seed(seed: int, attack: dict[str, Any], scales: list[float]) -> None:
    """Raise an error if the evaluation would repeat the noise that the attack was made with."""
    met = attack["noise"] and attack["threat"] != "copy"
    if met and any(scales) and attack.get("seed") == seed:
        raise InputError(
            f"seed must not be {seed}, the seed of the attack, whose noise it would repeat"
        )


def _write_report(
    path: Path,
    judged: dict[str, Judged],
    kept: Kept,
    most: int,
    files: tuple[Path, Path],
    head: dict[str, Any],
    *,
    force: bool,
) -> None:
    from shoal.report.document import write_contents
    from shoal.report.robust import headline, robust_contents
    from shoal.report.robust_charts import address

    scale = headline(judged, kept.attack)
    height = kept.examples.originals.shape[2]
    zoom = max(1, round(_SHOWN_HEIGHT / height))
    shown = [
        {"source": address(pixels), "width": pixels.shape[1] * zoom, "caption": caption}
        for pixels, caption in _pictured(kept, judged[scale], most)
    ]
    contents = robust_contents(
        judged,
        kept.attack,
        pictures=shown,
        title=f"Attack on {files[1].name}",
        date=date.today().isoformat(),
        files=files,
        **head,
    )
    write_contents(contents, path, force=force)


def _pictured(kept: Kept, judged: Judged, most: int) -> list[tuple[Any, str]]:
    """Return some changed examples, with captions."""
    from shoal.report.robust_charts import worth_showing

    names = ("sample", "perturbation", "voted", "label")
    samples, sizes, voted, labels = (judged.examples[name].to_numpy() for name in names)
    chosen = worth_showing(samples, sizes, voted != labels, most)
    drawn = drawn_examples(kept, [divmod(index, len(kept.labels)) for index in chosen])
    return [
        (pixels, f"{caption}; the vote says {voted[index]}")
        for (pixels, caption), index in zip(drawn, chosen, strict=True)
    ]


def _show_judged(attack: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    count = attack.get("superimposed")
    combined = f", {count} superimposed" if count else ""
    out.print(
        f"attack: {attack['method']}{combined}, threat: {attack['threat']}, "
        f"noise: {attack['noise']:g}"
    )
    shown = grid("noise", "classifier", "clean", "attacked", "95 % interval")
    for row in rows:
        for who, name, noise in (("vote", "the vote", row["noise"]), ("single", "one network", "")):
            interval = " – ".join(share(row[f"{who}_interval"][end]) for end in ("low", "high"))
            shares = (share(row[f"{who}_{when}"]) for when in ("clean", "attacked"))
            shown.add_row(noise, name, *shares, interval)
    out.print()
    out.print(shown)
    shown = grid("noise", "correct", "size", "target", "size", "other", "size")
    for row in rows:
        cells = []
        for outcome in ("correct", "target", "other"):
            size = row[f"{outcome}_perturbation"]
            cells += [share(row[outcome]), "–" if size is None else number(size)]
        shown.add_row(row["noise"], *cells)
    out.print()
    out.print(shown)
    out.print(
        "\nfirst table: accuracy, with a confidence interval over pictures; second table: shares "
        "of examples by the vote, with their mean perturbation. These are the results of one "
        "attack; they prove nothing."
    )


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
    from shoal.files.writing import check_ending, write_table
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
    # an attack on single networks is the same for every vote; one on the vote is not
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
    from shoal.robust.noise import DISTRIBUTIONS

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
