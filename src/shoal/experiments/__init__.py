"""Studies that can be repeated: `shoal experiment NAME --out DIR`, one study a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.errors import InputError


@dataclass(frozen=True)
class Experiment:
    """One study.

    module: where it lives; its `run(out, full=, data=)` writes tables, pictures and a page, and
        returns the page's path.
    data: tables that it can be run on, the first by default.
    options: what else its `run` takes, by name.
    """

    about: str
    module: str
    data: tuple[str, ...]
    options: tuple[str, ...] = ()

    def run(
        self, out: Path, *, full: bool = False, data: str | None = None, **options: Any
    ) -> Path:
        """Run the study into a folder; what is there already is not computed again.

        options: those that this study takes; None is as if it were not given.
        """
        given = {name: value for name, value in options.items() if value is not None}
        for name in given:
            if name not in self.options:
                raise InputError(f"this study takes no option {name!r}; leave it out")
        chosen = data or self.data[0]
        if chosen not in self.data:
            raise InputError(f"no data {chosen!r} for this; there are {', '.join(self.data)}")
        study: Any = import_module(self.module)
        page: Path = study.run(out, full=full, data=chosen, **given)
        return page


EXPERIMENTS: Mapping[str, Experiment] = {
    "disclosure-risk": Experiment(
        "Expected re-identifications and their quick estimate, small as published and large "
        "(Malik 2014, figures 2.4, 4.1 and 4.2)",
        "shoal.experiments.disclosure_risk.study",
        ("generated",),
    ),
    "dp-learning": Experiment(
        "What differential privacy costs those who learn: safe-la, private regression, the chance "
        "of good nodes, both in a row (Li 2019, chapter 5)",
        "shoal.experiments.dp_learning.study",
        ("all", "adult", "census-income", "patients"),
    ),
    "metrics-vs-utility": Experiment(
        "Whether metrics tell which of two releases teaches more: twelve metrics, six utilities, "
        "and regressions over all (de Spoelberch 2020, chapter 4)",
        "shoal.experiments.metrics_vs_utility.study",
        ("all", "cmc", "ring", "adult", "heart"),
        ("releases",),
    ),
    "partition-benchmark": Experiment(
        "Methods that group records: loss and time against rows, k and attributes "
        "(Liang 2020, figures 3.2 to 3.8)",
        "shoal.experiments.partition_benchmark.study",
        ("census-income", "fars", "adult"),
    ),
    "robust-cifar10": Experiment(
        "Networks that vote and answer from noise, under attack, on small photographs; needs torch "
        "(Liang 2020, tables 4.3 to 4.8, figures 4.4 to 4.7)",
        "shoal.experiments.robust.cifar10",
        ("cifar10",),
    ),
    "robust-mnist": Experiment(
        "The same on handwritten digits (tables 4.3 to 4.8, figures 4.1 to 4.3 and 4.7)",
        "shoal.experiments.robust.mnist",
        ("mnist", "digits"),
    ),
}

__all__ = ["EXPERIMENTS", "Experiment"]
