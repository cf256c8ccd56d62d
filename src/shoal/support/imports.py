"""Imports that may fail or wait: optional dependencies, and names that are loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from shoal.errors import MissingExtra


@contextmanager
def requires(extra: str) -> Iterator[None]:
    """Turn a failed import in the block into a hint to install an extra.

    >>> with requires("dp"):
    ...     import a_package_that_nobody_has
    Traceback (most recent call last):
    shoal.errors.MissingExtra: this needs a_package_that_nobody_has; install it with: \
pip install 'shoal-privacy[dp]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "shoal":
            raise  # a bug in Shoal, not in the installation
        raise MissingExtra(str(error.name).partition(".")[0], extra) from None


def on_first_use(
    package: str, homes: Mapping[str, str], *, extra: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package.

    Parameters:
        homes: The module of each name, "" if the name is a module.
        extra: The name of an optional dependency, then the packages that it installs.
    """
    namespace = sys.modules[package].__dict__

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        try:
            module = import_module(f"{package}.{home or name}")
        except ModuleNotFoundError as error:
            if error.name not in extra[1:]:
                raise
            raise MissingExtra(str(error.name), extra[0]) from None
        namespace[name] = getattr(module, name) if home else module
        return namespace[name]

    def names() -> list[str]:
        return sorted({*namespace, *namespace["__all__"]})

    return load, names
