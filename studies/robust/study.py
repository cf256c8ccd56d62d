"""A study of robust predictions from training to page, on one set of pictures.

Repeats chapter 4 of Liang, "Algorithms in privacy & security for data analytics and machine
learning", 2020, and adds attackers who know the defence, and the effect of the amount of noise,
its shape and the number of networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from studies.page import write_page
from studies.robust.attackers import achieved
from studies.robust.figures import is_whole
from studies.robust.sections import sections_of
from studies.robust.setup import PUBLISHED, Setup, setup_for
from studies.robust.stages import Study
from studies.runs import Row, measure_all

_TITLES = {
    "mnist": "Robust predictions on MNIST",
    "cifar10": "Robust predictions on CIFAR-10",
    "digits": "Robust predictions on small digits",
}


def run(out: Path, *, full: bool, data: str) -> Path:
    """Run the study on these pictures, on a GPU if there is one; returns the page."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    return run_study(out, setup_for(data, full=full, device=device), device)


def run_study(out: Path, setup: Setup, device: str) -> Path:
    """Measure stage by stage, draw and judge; returns the page."""
    study = Study(setup, out, device)
    rows = measure_all(list(study.tasks()), study.measure, out / "stages")
    return write_page(out, _TITLES[setup.data], _about(rows, setup), sections_of(out, rows, study))


def _about(rows: Sequence[Row], setup: Setup) -> str:
    classes = 9
    whose = "its own" if setup.partitioned else "the same"
    examples = setup.networks * setup.samples * classes
    return (
        f"{achieved(rows)}. Attacks show what is possible, never what is impossible: nothing here "
        f"is proven. {setup.networks} networks, each trained on {setup.rows:,} rows ({whose}) for "
        f"{setup.epochs:,} epochs ({setup.precision}), at temperatures up to {setup.hottest:g}; "
        f"Laplace noise of b = {setup.noise:g}. Carlini–Wagner with {setup.searches} constants of "
        f"{setup.steps:,} steps attacks each network: {setup.samples} pictures towards {classes} "
        f"classes each, {examples:,} examples without noise and as many with it; {setup.twos} "
        f"pictures for sums of two perturbations, {setup.threes} for sums of three. {_costs(rows)} "
        f"{_size(rows, setup)} Intervals are 95 %, over pictures: examples of one picture have "
        "similar outcomes."
    )


def _costs(rows: Sequence[Row]) -> str:
    """Return the time of each part as text."""
    spent = {
        stage: sum(row["seconds"] for row in rows if row["stage"] == stage)
        for stage in ("train", "craft", "adaptive")
    }
    trained = next(row for row in rows if row["stage"] == "train")
    since = " since the last break" if trained.get("resumed") else ""
    return (
        f"On {trained['device']}: training {spent['train']:,.0f} s{since}, examples "
        f"{spent['craft']:,.0f} s, attackers who know the defence {spent['adaptive']:,.0f} s."
    )


def _size(rows: Sequence[Row], setup: Setup) -> str:
    """Return as text whether this is the published size."""
    if is_whole(rows):
        return "This is the published study at its published size."
    if setup.data == "digits":
        return (
            "Published figures are for MNIST and 50 networks; they are shown for orientation, and "
            "none of them is judged."
        )
    whole = PUBLISHED[setup.data]
    return (
        f"This is a reduced run: published figures are for the full study ({whole.networks} "
        f"networks, {whole.epochs:,} epochs, {whole.samples}, {whole.twos} and {whole.threes} "
        "pictures), which --full repeats; none of them is judged here."
    )
