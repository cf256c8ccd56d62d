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
    data: tables that it can run on; the first is the default.
    options: what else its `run` accepts, by name.
    """

    name: str
    source: str
    about: str
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
        ("census-income", "fars", "adult"),
    ),
    Study(
        "lattice",
        "Li 2019",
        "What differential privacy costs a learner: safe-la, private regression, the probability "
        "of good nodes, both from one budget",
        ("all", "adult", "census-income", "patients"),
    ),
    Study(
        "metrics",
        "de Spoelberch 2020",
        "Whether metrics predict which of two releases teaches more: twelve metrics, six "
        "utilities, and regressions over all of them",
        ("all", "cmc", "ring", "adult", "heart"),
        ("releases",),
    ),
    Study(
        "risk",
        "Malik 2014",
        "Expected re-identifications and their quick estimate, on small tables as published and "
        "on large ones",
        ("generated",),
    ),
    Study(
        "robust",
        "Liang 2020, chapter 4",
        "Networks that vote and answer from noisy inputs, under attack; needs torch",
        ("mnist", "cifar10", "digits"),
    ),
)
STUDIES: Mapping[str, Study] = {study.name: study for study in _ALL}

__all__ = ["STUDIES", "Study"]
