"""The options that the commands of `shoal robust` share, and how they are read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.shared.options import names, seed_option
from shoal.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Architecture, Ensemble

Pictures = Annotated[
    str,
    typer.Argument(metavar="DATA", help="An .npz file with images and labels, or: digits."),
]
Networks = Annotated[
    Path, typer.Argument(metavar="NETWORKS", help="The output of `shoal robust train`.")
]
Found = Annotated[
    Path,
    typer.Argument(metavar="EXAMPLES", help="The output of `robust attack` or `superimpose`."),
]
Tensors = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write: .safetensors.")
]
Held = Annotated[
    float,
    typer.Option(metavar="SHARE", help="Share of the rows, the last ones, for tests and attacks."),
]
Device = Annotated[str, typer.Option(metavar="NAME", help="Where to compute: cpu or cuda.")]
Seed = Annotated[int, seed_option("The same seed gives the same result.")]
Distribution = Annotated[
    str,
    typer.Option(metavar="NAME", help="The distribution of the noise: laplace, normal, uniform."),
]
Method = Annotated[
    str, typer.Option(metavar="NAME", help="carlini-wagner, fgsm, iterative-fgsm, lbfgs or jsma.")
]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option("-O", metavar="NAME=VALUE", help="An option of the method. Repeatable."),
]
Threat = Annotated[
    str, typer.Option(metavar="NAME", help="The threat model: queries, averages or copy.")
]
Queries = Annotated[int, typer.Option(metavar="N", help="Queries per step with --threat averages.")]
Vote = Annotated[bool, typer.Option("--vote", help="Attack the vote, not each network separately.")]
Samples = Annotated[int, typer.Option(metavar="N", help="Number of pictures to start from.")]


def numbers(option: str, text: str) -> list[float]:
    """Read `1,2,3`."""
    try:
        found = [float(part) for part in names(text)]
    except ValueError:
        found = []
    if not found:
        raise InputError(f"{option} must be numbers such as 0,0.1, not {text!r}")
    return found


def check_scale(noise: float) -> None:
    """Raise an error for an invalid scale of noise."""
    if not 0 <= noise < math.inf:
        raise InputError(f"noise must be a number of 0 or more, not {noise:g}")


def scales_of(text: str) -> list[float]:
    """Read scales of noise, each once."""
    found = list(dict.fromkeys(numbers("noise", text)))
    if not all(math.isfinite(scale) and scale >= 0 for scale in found):
        raise InputError(f"noise must be numbers of 0 or more, such as 0,0.1, not {text!r}")
    return found


def temperatures_of(text: str, networks: int) -> list[float]:
    """Return one temperature for each network."""
    found = numbers("temperature", text)
    if networks < 1:
        raise InputError(f"networks must be 1 or more, not {networks}")
    if len(found) not in (1, networks) or not all(0 < each < math.inf for each in found):
        raise InputError(f"temperature must be one number above 0, or {networks} of them")
    return found * networks if len(found) == 1 else found


def fitting_architecture(images: Tensor, labels: Tensor) -> Architecture:
    """Return the architecture for pictures of this shape."""
    from shoal.robust import ARCHITECTURES

    shape = tuple(images.shape[1:])
    for made in ARCHITECTURES.values():
        if made.shape == shape and int(labels.max()) < made.classes:
            return made
    known = ", ".join(f"{made.name} {made.shape}" for made in ARCHITECTURES.values())
    turned = (shape[2], *shape[:2])
    remedy = "shoal.robust.train in Python accepts any"
    if any(made.shape == turned for made in ARCHITECTURES.values()):
        remedy = f"put channels first, as {turned}"
    raise InputError(
        f"no network for pictures of {shape} and {int(labels.max()) + 1} classes; there are "
        f"{known}, 10 classes each; {remedy}"
    )


def check_fit(ensemble: Ensemble, images: Tensor, labels: Tensor) -> None:
    """Raise an error for pictures or labels that do not fit the networks."""
    made = ensemble.architectures[0] if ensemble.architectures else None
    if ensemble.bounds != (0.0, 1.0):
        low, high = ensemble.bounds
        raise InputError(
            f"the networks expect pixels from {low:g} to {high:g}, but pictures are read as 0 to "
            "1; attack them in Python (shoal.robust)"
        )
    if made and (made.shape != tuple(images.shape[1:]) or int(labels.max()) >= made.classes):
        raise InputError(
            f"the networks are for pictures of {made.shape} and {made.classes} classes, "
            f"not of {tuple(images.shape[1:])} and {int(labels.max()) + 1}"
        )
