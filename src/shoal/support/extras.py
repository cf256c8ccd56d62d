"""Imports of optional dependencies, with an install hint if one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
