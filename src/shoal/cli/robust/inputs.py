"""What the commands of `shoal robust` share: options, the attacker, and files of pictures.

Attacker        a method with a threat model      ┐
Start           the pictures that it starts from  ├→ Kept, examples that a file stores
read_pictures   pictures with labels              ┘
"""

from __future__ import annotations

import math
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zipfile import BadZipFile

import numpy as np
import typer

from shoal.cli.shared.options import names, seed_option
from shoal.cli.shared.scaling import method_options
from shoal.errors import InputError, OutputError, unknown
from shoal.support.imports import requires

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Architecture, Classifier, Ensemble, Examples


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
    typer.Option(
        metavar="SHARE", help="Share of the rows to keep for tests and attacks: the last ones."
    ),
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
    # pictures are often stored with their channels last
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


@dataclass(frozen=True)
class Attacker:
    """An attacker of networks, with a method and a threat model.

    method: one of `shoal.robust.ATTACKS`.
    vote: whether the vote of all networks is attacked instead of each network separately.
    """

    method: Any
    threat: str
    queries: int
    vote: bool

    @classmethod
    def of(
        cls, method: str, options: list[str] | None, threat: str, queries: int, *, vote: bool
    ) -> Attacker:
        """Return the attacker that the options of the command line describe."""
        from shoal.robust import ATTACKS, THREATS

        if method not in ATTACKS:
            raise unknown("no attack", method, ATTACKS)
        if threat not in THREATS:
            raise unknown("no threat model", threat, THREATS)
        if queries < 1:
            raise InputError(f"queries must be 1 or more, not {queries}")
        return cls(_made(ATTACKS[method], method_options(options)), threat, queries, vote)

    def run(self, defended: Classifier, copy: Classifier, start: Start) -> Examples:
        """Run the attack and return the examples found."""
        from shoal.robust import EnsembleVote, attacked

        if self.vote:
            defended, copy = EnsembleVote(defended), EnsembleVote(copy)
        model = attacked(defended, self.threat, copy=copy, queries=self.queries)
        found: Examples = self.method.run(model, start.originals, start.goals)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that a file of examples stores."""
        return {
            "method": self.method.name,
            "options": asdict(self.method),
            "threat": self.threat,
            "queries": self.queries if self.threat == "averages" else 1,
            "vote": self.vote,
        }


@dataclass(frozen=True)
class Start:
    """(rows, …) the pictures that an attack starts from, once for every class except their own."""

    originals: Tensor
    goals: Tensor
    labels: Tensor
    samples: Tensor


def starting(
    ensemble: Ensemble, images: Tensor, labels: Tensor, *, held: float, count: int
) -> Start:
    """Return the first held-out pictures that the vote classifies correctly, by goal class."""
    from shoal.robust import every_target

    rows = _right(ensemble, images, labels, held_back(len(images), held), count)
    classes = ensemble.architectures[0].classes if ensemble.architectures else 10
    indices, goals, truth = every_target(images[rows], labels[rows], classes)
    return Start(images[rows][indices], goals, truth, rows[indices])


def _right(ensemble: Ensemble, images: Tensor, labels: Tensor, start: int, count: int) -> Tensor:
    """Return the positions of the first held-out pictures that the vote classifies correctly.

    Blank pictures are skipped: the size of a change is relative to the norm of the picture.
    """
    import torch

    from shoal.robust import EnsembleVote

    if count < 1:
        raise InputError(f"samples must be 1 or more, not {count}")
    if start == len(images):
        raise InputError("no picture is held out to start from; give --held 0.2")
    held = images[start:]
    voted = EnsembleVote(ensemble).labels(held.to(ensemble.device))[0].cpu()
    usable = (voted == labels[start:]) & (held != 0).flatten(1).any(dim=1)
    rows: Tensor = torch.nonzero(usable).flatten() + start
    if len(rows) < count:
        raise InputError(
            f"samples must be at most {len(rows)}, the number of held-out pictures that the vote "
            f"classifies correctly, not {count}"
        )
    return rows[:count]


def _made(method: type[Any], options: dict[str, Any]) -> Any:
    known = [field.name for field in fields(method)]
    for name in options:
        if name not in known:
            raise unknown(f"{method.name}: no option", name, known)
    return method(**options)


_FORMAT = "shoal-examples-1"
_ATTACK_FIELDS = ("method", "threat", "noise", "distribution", "vote")  # of every attack
_UNREADABLE = (  # the errors of damaged, locked or plain .npy files
    ValueError,
    TypeError,
    OSError,
    EOFError,
    RuntimeError,
    BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Kept:
    """Examples with the labels and rows of their originals, and the attack that made them."""

    examples: Examples
    labels: Tensor
    samples: Tensor
    attack: dict[str, Any]


def read_pictures(data: str) -> tuple[Tensor, Tensor]:
    """Return (rows, channels, height, width) pixels from 0 to 1, and (rows,) labels."""
    import torch

    images, labels = _digits() if data == "digits" else _arrays(Path(data))
    if images.ndim == 3:
        images = images[:, np.newaxis]
    if images.ndim != 4 or labels.shape != (len(images),) or not len(images):
        raise InputError(
            f"{data}: images must be (rows, height, width) or (rows, channels, height, width), "
            f"with one label per row; the shapes are {images.shape} and {labels.shape}"
        )
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() > np.iinfo(np.int64).max:
        raise InputError(f"{data}: labels must be whole numbers of 0 or more, not {labels.dtype}")
    return torch.from_numpy(_pixels(data, images)), torch.from_numpy(labels.astype(np.int64))


def _pixels(data: str, images: Any) -> Any:
    """Return pixels as numbers from 0 to 1; bytes range from 0 to 255."""
    allowed = f"{data}: pixels must be bytes (uint8, 0 to 255) or numbers from 0 to 1"
    if images.dtype.kind not in "buif" or not images.size:
        raise InputError(f"{allowed}, not {images.dtype} of shape {images.shape}")
    if images.dtype == np.uint8:
        if images.max() == 1:  # black and white, which would become black and nearly black
            raise InputError(f"{data}: pixels are bytes of only 0 and 1; save them as floats")
        return images / np.float32(255)
    if not (images.min() >= 0 and images.max() <= 1):
        raise InputError(f"{allowed}; these are {images.dtype} outside that range")
    return images.astype(np.float32)


def held_back(rows: int, share: float) -> int:
    """Return the number of training rows; the rows after them are for tests and attacks."""
    if not 0 <= share < 1:
        raise InputError(f"held must be at least 0 and less than 1, not {share:g}")
    return rows - int(rows * share)


def save_examples(path: Path, kept: Kept, *, force: bool) -> None:
    """Write examples as safetensors."""
    from shoal.robust.ensemble import write_tensors

    found = kept.examples
    tensors = {
        "originals": found.originals,
        "goals": found.goals,
        "adversarial": found.adversarial,
        "success": found.success,
        "labels": kept.labels,
        "samples": kept.samples,
    }
    metadata = {"format": _FORMAT, "bounds": found.bounds, **kept.attack}
    write_tensors(path, tensors, metadata, force=force)


def load_examples(path: Path) -> Kept:
    """Read the output of `save_examples`."""
    from shoal.robust import Examples
    from shoal.robust.classifier import check_bounds
    from shoal.robust.ensemble import read_tensors

    tensors, attack = read_tensors(path, _FORMAT)
    del attack["format"]
    bounds = attack.pop("bounds", (0.0, 1.0))
    try:
        labels, samples = (tensors.pop(name) for name in ("labels", "samples"))
        found = Examples(**tensors, bounds=check_bounds(bounds))
        complete = set(_ATTACK_FIELDS) <= set(attack)
        if not complete or not len(labels) == len(samples) == len(found.goals) > 0:
            raise InputError("parts are missing")
    except (KeyError, TypeError, InputError):
        raise InputError(
            f"{path}: the adversarial examples are incomplete; run `shoal robust attack` again"
        ) from None
    return Kept(found, labels, samples, attack)


def check_safetensors(path: Path, *, force: bool) -> None:
    """Raise an error before any work if the file could not be written or has another ending."""
    from shoal.support.files import check_writable

    if path.suffix != ".safetensors":
        raise OutputError(f"{path}: the name of the file must end in .safetensors")
    check_writable(path, force=force)


def _digits() -> tuple[Any, Any]:
    with requires("learn"):
        from sklearn.datasets import load_digits

    found = load_digits()
    return found.images.astype(np.float32) / 16, found.target


def _arrays(path: Path) -> tuple[Any, Any]:
    """Read an .npz without letting it run code."""
    from shoal.support.files import check_readable

    if path.suffix != ".npz":
        raise InputError(f"{path}: pictures must be an .npz file, or digits")
    check_readable(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as opened:
            missing = {"images", "labels"} - set(opened.files)
            if missing:
                there = ", ".join(sorted(opened.files)) or "nothing"
                raise InputError(
                    f"{path}: must contain two arrays, images and labels; it contains {there}"
                )
            return np.asarray(opened["images"]), np.asarray(opened["labels"])
    except InputError:  # also a ValueError
        raise
    except MemoryError:
        raise InputError(f"{path}: the pictures do not fit in memory; save fewer") from None
    except _UNREADABLE:
        raise InputError(f"{path}: not an .npz file of plain arrays, or a damaged one") from None
