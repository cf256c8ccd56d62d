"""`shoal robust show`: draw adversarial examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.robust.files import Kept, load_examples
from shoal.cli.robust.options import Found
from shoal.cli.shared.console import note
from shoal.cli.shared.options import Force
from shoal.errors import InputError


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

    from shoal.report.robust_pictures import check_ending, write_pictures

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
    from shoal.report.robust_pictures import triptychs

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
