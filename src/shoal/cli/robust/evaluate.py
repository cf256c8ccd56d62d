"""`shoal robust evaluate`: the accuracy of networks and their vote on adversarial examples."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.robust.files import Kept, load_examples
from shoal.cli.robust.options import (
    Device,
    Found,
    Networks,
    Seed,
    check_fit,
    scales_of,
)
from shoal.cli.robust.show import drawn_examples
from shoal.cli.shared.console import emit, grid, note, number, out, share
from shoal.cli.shared.options import Force, Json
from shoal.cli.shared.repeating import typed
from shoal.errors import InputError, OutputError

if TYPE_CHECKING:
    from shoal.robust import Judged

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
    from shoal.core.publishing.writing import write_table
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
    from shoal.core.publishing.writing import check_ending
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
    from shoal.report.robust_pictures import address

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
    from shoal.report.robust_pictures import worth_showing

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
