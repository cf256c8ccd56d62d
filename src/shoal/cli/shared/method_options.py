"""Read the method and its options from the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, unknown

if TYPE_CHECKING:
    from shoal.anonymize import Algorithm

_EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")  # 1e-6 is text to YAML


def method_options(options: list[str] | None) -> dict[str, Any]:
    """Read `name=value` pairs; values are read as YAML, so numbers are numbers."""
    import yaml

    from shoal.reading.yaml_files import load_yaml

    found: dict[str, Any] = {}
    for text in options or []:
        stated, mark, value = text.partition("=")
        name = stated.strip().replace("-", "_")
        if not mark or not name:
            raise InputError(f"option {text!r} must be written name=value")
        if name in found:
            raise InputError(f"option {name!r} is given twice; give it once")
        try:
            found[name] = float(value) if _EXPONENT.fullmatch(value.strip()) else load_yaml(value)
        except yaml.YAMLError:
            raise InputError(f"option {name!r}: its value cannot be read") from None
    return found


def check_method(name: str) -> None:
    """Raise an error for an unknown method."""
    from shoal.anonymize import METHODS

    if name not in METHODS:
        raise unknown("no method", name, METHODS)


def chosen_method(
    name: str, options: list[str] | None, seed: int | None
) -> tuple[Algorithm, int | None]:
    """Return the method with its options, and its seed from --seed or `-O seed=`."""
    from shoal.anonymize.algorithm import make

    check_method(name)
    from shoal.anonymize import METHODS

    stated = method_options(options)
    method: Algorithm = make(METHODS[name], stated)
    if "seed" in stated:
        if seed is not None:
            raise InputError("the seed is given twice; omit -O seed")
        seed = stated["seed"]
    return method, seed
