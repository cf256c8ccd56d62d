"""Names of a package that are imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from shoal.errors import MissingExtra


def on_first_use(
    package: str, places: Mapping[str, str], *, extra: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package.

    Parameters:
        places: The module of each name, "" if the name is a module.
        extra: The name of an optional dependency, then the packages that it installs.
    """
    held = sys.modules[package].__dict__

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = places[name]
        try:
            module = import_module(f"{package}.{home or name}")
        except ModuleNotFoundError as error:
            if error.name not in extra[1:]:
                raise
            raise MissingExtra(str(error.name), extra[0]) from None
        held[name] = getattr(module, name) if home else module
        return held[name]

    def names() -> list[str]:
        return sorted({*held, *held["__all__"]})

    return load, names
