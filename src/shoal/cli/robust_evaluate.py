"""`shoal robust evaluate`: what networks and their vote make of adversarial examples."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import emit, grid, note, number, out, share
from shoal.cli.options import Force, Json
from shoal.cli.repeating import typed
from shoal.cli.robust_files import Kept, load_examples
from shoal.cli.robust_options import (
    Device,
    Found,
    Networks,
    Seed,
    check_fit,
    scales_of,
)
from shoal.cli.robust_show import drawn_examples
from shoal.errors import InputError, OutputError

if TYPE_CHECKING:
    from shoal.robust import Judged

_SHOWN_HEIGHT = 72  # of a picture in the report, about, in pixels of the screen


def evaluate(
    *,
    context: typer.Context,
    examples: Found,
    networks: Networks,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write one row an example and scale: .csv."
        ),
    ] = None,
    bins: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one row a size of perturbation and scale: .csv."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report: .html to read and print, .json."),
    ] = None,
    pictures: Annotated[
        int, typer.Option(metavar="N", help="Examples that the report shows.")
    ] = 12,
    noise: Annotated[
        str, typer.Option(metavar="X,...", help="Scales of noise to judge with; 0 is none.")
    ] = "0",
    distribution: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Shape: laplace, normal, uniform. Default: what the attack met."
        ),
    ] = None,
    device: Device = "cpu",
    seed: Seed = 1,
    force: Force = False,
    json: Json = False,
) -> None:
    """Put adversarial examples to the networks and to their vote, with and without noise.

    Intervals are over the pictures that the examples start from. They say how an attack like this
    one fares with other pictures, and nothing of other attacks.
    """
    from shoal.core.writing import write_table
    from shoal.report.robust import bins as by_size
    from shoal.report.robust import noise_name, results, stacked
    from shoal.robust import Ensemble, NoisyLogit, judge

    _check_outputs(output, bins, report, force=force)
    scales = scales_of(noise)
    if pictures < 0:
        raise InputError(f"pictures must be 0 or more, not {pictures}")
    ensemble, kept = Ensemble.load(networks, device=device), load_examples(examples)
    check_fit(ensemble, kept.examples.originals, kept.labels)
    distribution = distribution or kept.told["distribution"]
    _check_seed(seed, kept.told, scales)
    judged = {}
    for scale in scales:
        model = NoisyLogit(ensemble, scale, distribution, seed=seed)
        judged[noise_name(scale)] = judge(kept.examples, kept.labels, model, samples=kept.samples)
    if output is not None:
        write_table(stacked({s: each.examples for s, each in judged.items()}), output, force=force)
    if bins is not None:
        write_table(by_size(judged), bins, force=force)
    if report is not None:
        told = {"distribution": distribution, "command": typed(context)}
        _write_report(report, judged, kept, pictures, (examples, networks), told, force=force)
    rows = results(judged)
    emit(json, {"attack": kept.told, "results": rows}, lambda: _show_judged(kept.told, rows))
    for path in (output, bins, report):
        if path is not None:
            note(f"wrote {path}")


def _check_outputs(
    output: Path | None, bins: Path | None, report: Path | None, *, force: bool
) -> None:
    """Refuse, before any work, what could not be written."""
    from shoal.core.files import check_writable
    from shoal.core.writing import check_ending
    from shoal.report.document import check_report

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
    """Refuse the noise that the attack was made with: an answer is from noise of its own."""
    met = attack["noise"] and attack["threat"] != "copy"
    if met and any(scales) and attack.get("seed") == seed:
        raise InputError(f"seed must not be the attack's, {seed}, whose noise would come again")


def _write_report(
    path: Path,
    judged: dict[str, Judged],
    kept: Kept,
    most: int,
    files: tuple[Path, Path],
    told: dict[str, Any],
    *,
    force: bool,
) -> None:
    from shoal.report.document import write_contents
    from shoal.report.robust import headline, robust_contents
    from shoal.report.robust_pictures import address

    scale = headline(judged, kept.told)
    height = kept.examples.originals.shape[2]
    zoom = max(1, round(_SHOWN_HEIGHT / height))
    shown = [
        {"source": address(pixels), "width": pixels.shape[1] * zoom, "caption": caption}
        for pixels, caption in _pictured(kept, judged[scale], most)
    ]
    contents = robust_contents(
        judged,
        kept.told,
        pictures=shown,
        title=f"Attack on {files[1].name}",
        date=date.today().isoformat(),
        files=files,
        **told,
    )
    write_contents(contents, path, force=force)


def _pictured(kept: Kept, judged: Judged, most: int) -> list[tuple[Any, str]]:
    """Return some examples that changed something, with captions."""
    from shoal.report.robust_pictures import worth_showing

    names = ("sample", "perturbation", "voted", "label")
    samples, sizes, voted, labels = (judged.examples[name].to_numpy() for name in names)
    chosen = worth_showing(samples, sizes, voted != labels, most)
    drawn = drawn_examples(kept, [divmod(place, len(kept.labels)) for place in chosen])
    return [
        (pixels, f"{caption}; the vote says {voted[place]}")
        for (pixels, caption), place in zip(drawn, chosen, strict=True)
    ]


def _show_judged(told: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    laid = told.get("superimposed")
    over = f", {laid} laid over each other" if laid else ""
    out.print(f"attack: {told['method']}{over}, threat: {told['threat']}, noise: {told['noise']:g}")
    shown = grid("noise", "who", "clean", "attacked", "95 % interval")
    for row in rows:
        for who, name, noise in (("vote", "the vote", row["noise"]), ("single", "one network", "")):
            interval = " – ".join(share(row[f"{who}_interval"][end]) for end in ("low", "high"))
            shares = (share(row[f"{who}_{when}"]) for when in ("clean", "attacked"))
            shown.add_row(noise, name, *shares, interval)
    out.print()
    out.print(shown)
    shown = grid("noise", "right", "size", "target", "size", "other", "size")
    for row in rows:
        cells = []
        for outcome in ("correct", "target", "other"):
            size = row[f"{outcome}_perturbation"]
            cells += [share(row[outcome]), "–" if size is None else number(size)]
        shown.add_row(row["noise"], *cells)
    out.print()
    out.print(shown)
    out.print(
        "\nshares that are right, with an interval over pictures; then shares of examples by what "
        "the vote says, with their mean perturbation. Found by one attack: nothing is proven."
    )
