"""What is asked of the release of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.anonymize import METHODS, anonymize
from shoal.anonymize.algorithm import Algorithm, make
from shoal.core.release import Release
from shoal.identifiers.replacement import Context
from shoal.privacy.model import Model
from shoal.support.arrays import Counts
from shoal.support.options import check_whole


@dataclass(frozen=True)
class Asked:
    """The guarantee, the method and the secrets of a release; as for `release_project`.

    options: options of the method.
    """

    model: Model
    method: str | Algorithm
    context: Context
    people: int | None = None
    max_left_out: float = 0.05
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def algorithm(self) -> Any:
        """The method, with its options."""
        if isinstance(self.method, str) and self.method in METHODS:
            return make(METHODS[self.method], self.options)
        return self.method

    def anonymize(self, people: Any, model: Model) -> Release:
        """Return a release of the table of people that meets a model."""
        return anonymize(people, model, self.method, seed=self.seed, **self.options)

    def drawn(self, rows: int) -> Counts | None:
        """Return the positions of people drawn at random; None if all of them are released.

        Rows of others then belong to nobody.
        """
        if self.people is None:
            return None
        check_whole("people", self.people, 1)
        if self.people >= rows:
            return None
        drawn = np.random.default_rng(self.seed).choice(rows, self.people, replace=False)
        return np.sort(drawn)
