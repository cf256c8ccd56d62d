"""Checks of a model on a released file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.shared.console import notes
from shoal.cli.shared.populations import needs_population
from shoal.cli.shared.sources import of_release
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.core.population_fit import PopulationFit
    from shoal.core.table import Table
    from shoal.core.verification import Verification
    from shoal.privacy.model import Model


def check_file(
    wanted: Model,
    classes: Classes,
    file: Path,
    original: Table | None,
    key: str | None,
    stated: dict[str, Any],
    fit: Callable[[], PopulationFit] | None,
) -> Verification:
    """Check the model on the classes or, if they do not decide it, with the original.

    A model about matching people and records holds if all classes are large enough.
    """
    from shoal.core.verification import judge
    from shoal.reading import read_released

    by_file = original is None or not needs_population(wanted)
    if by_file and all(_is_decided(part, classes) for part in wanted.parts):
        return judge(classes, wanted, fit=fit)
    if original is None:
        raise InputError(
            f"{wanted} compares the release with the original; name the original with --original"
        )
    with notes():
        options = of_release(file, stated)
        return read_released(file, original, key=key, model=wanted, **options).verify()


def _is_decided(part: Any, classes: Classes) -> bool:
    """Return whether classes and population decide a part of the model."""
    return part.by_class or part.by_release or bool(part.holds(classes).all())
