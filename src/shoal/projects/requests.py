"""What is asked of the release of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.anonymize import anonymize
from shoal.anonymize.algorithm import Algorithm
from shoal.core.release import Release
from shoal.identifiers.replacement import Context
from shoal.privacy.model import Model


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

    def anonymize(self, people: Any, model: Model) -> Release:
        """Return a release of the table of people that meets a model."""
        return anonymize(people, model, self.method, seed=self.seed, **self.options)
