"""Published studies, repeated: one folder per document, run by `make study NAME=…`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.errors import InputError


@dataclass(frozen=True)
class Study:
    """One published document.

    name: its folder, whose module `study` has `run(out, full=, data=)`: it writes tables,
        pictures and a page, and returns the path of the page.
    published: what the document reports.
    picture: the file of a run that its page in the repository shows.
    data: tables that it can run on; the first is the default.
    options: what else its `run` accepts, by name.
    """

    name: str
    source: str
    about: str
    published: str
    picture: str
    data: tuple[str, ...]
    options: tuple[str, ...] = ()

    def run(
        self, out: Path, *, full: bool = False, data: str | None = None, **options: Any
    ) -> Path:
        """Run the study into a folder; results that are already there are not computed again.

        options: those that this study accepts; None means that the option is not given.
        """
        given = {name: value for name, value in options.items() if value is not None}
        for name in given:
            if name not in self.options:
                raise InputError(f"the study {self.name} has no option {name!r}; leave it out")
        chosen = data or self.data[0]
        if chosen not in self.data:
            raise InputError(
                f"no data {chosen!r} for the study {self.name}; use one of {', '.join(self.data)}"
            )
        study: Any = import_module(f"studies.{self.name}.study")
        page: Path = study.run(out, full=full, data=chosen, **given)
        return page


_ALL = (
    Study(
        "grouping",
        "Liang & Samavi 2020; Liang 2020, chapter 3",
        "Methods that group records: loss and time against rows, k and attributes",
        "Split & Carry solves small exact problems in a chain, Greedy Search adds the cheapest "
        "record to each group. On census records both are reported to be near the optimum on small "
        "tables, to lose far less than Mondrian, and Split & Carry to outperform Greedy Search and "
        "K-Member in loss and time on 20,000 to 100,000 records.",
        "figure-3-6-loss.svg",
        ("census-income", "fars", "adult"),
    ),
    Study(
        "lattice",
        "Li 2019",
        "What differential privacy costs a learner: safe-la, private regression, the probability "
        "of good nodes, both from one budget",
        "ε-safe LA draws a node of the lattice by the exponential mechanism and publishes a random "
        "sample at that node; functional logistic regression adds noise to the loss function. At "
        "ε = 1.704 on adult, ε-safe LA is reported with an accuracy of 0.759, OLA with 0.770, the "
        "regression with 0.530 and raw rows with 0.830.",
        "figure-5-6.svg",
        ("all", "adult", "census-income", "patients"),
    ),
    Study(
        "metrics",
        "de Spoelberch 2020",
        "Whether metrics predict which of two releases teaches more: twelve metrics, six "
        "utilities, and regressions over all of them",
        "Of two releases by the same algorithm, the one with less information loss is reported to "
        "be the more useful one for 55 to 72 of 100 pairs, more often on heart. Meta-Metrics, "
        "regressions of utility on all metrics, do better, and do not transfer well to other "
        "algorithms, tables or utilities.",
        "table-4-1.svg",
        ("all", "cmc", "ring", "adult", "heart"),
        ("releases",),
    ),
    Study(
        "risk",
        "Malik 2014",
        "Expected re-identifications and their quick estimate, on small tables as published and "
        "on large ones",
        "Ψ is the number of people that an attacker with a probability for each pair is expected "
        "to re-identify. It needs permanents; the heuristic H sums the entries of the true pairs. "
        "Its mean error over all mappings, NMAPE, is reported to be at most 6 % on 5 × 5 matrices "
        "and conjectured to fall with size.",
        "figure-A-error.svg",
        ("generated",),
    ),
    Study(
        "robust",
        "Liang 2020, chapter 4",
        "Networks that vote and answer from noisy inputs, under attack; needs torch",
        "Fifty networks at different temperatures answer from inputs with Laplace noise and vote. "
        "On MNIST the vote with noise is reported to stay right on 80 % of Carlini–Wagner examples "
        "against single networks, on 97 % of sums of two perturbations and 90 % of sums of three; "
        "on CIFAR-10 to be as accurate under attack as on clean pictures.",
        "figure-B.svg",
        ("mnist", "cifar10", "digits"),
    ),
)
STUDIES: Mapping[str, Study] = {study.name: study for study in _ALL}

__all__ = ["STUDIES", "Study"]
