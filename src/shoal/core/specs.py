"""What is stated of a column before it is encoded: role, kind, domain, codes for missing values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.core.column import Kind, Role
from shoal.core.values import without_codes
from shoal.errors import InputError, did_you_mean

_OPTIONS = (
    *("role", "kind", "weight", "bounds", "order", "hierarchy", "type", "values", "missing"),
)


def checked_spec(name: str, told: Role | str | Mapping[str, Any]) -> dict[str, Any]:
    """Return a column's role, or all that is stated of it, as options."""
    spec = dict(told) if isinstance(told, Mapping) else {"role": told}
    unknown = [key for key in spec if key not in _OPTIONS]
    if unknown:
        raise InputError(
            f"column {name!r}: unknown option {unknown[0]!r}; there are {', '.join(_OPTIONS)}"
        )
    if "role" not in spec:
        raise InputError(f"column {name!r}: no role; it is one of {', '.join(Role)}")
    return checked_words(name, spec)


def checked_words(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stated of a column, its role and kind in their plain words.

    Raises:
        InputError: There is no such role, or kind.
    """
    found = dict(spec)
    if "role" in spec:
        try:
            found["role"] = Role(spec["role"])
        except InputError as error:
            raise InputError(f"column {name!r}: {error}") from None
    allowed = [str(kind) for kind in Kind]
    if spec.get("kind") is not None and spec["kind"] not in allowed:
        raise InputError(
            f"column {name!r}: kind {spec['kind']!r}{did_you_mean(spec['kind'], allowed)} "
            f"is not one of {', '.join(allowed)}"
        )
    if "missing" in spec:
        found["missing"] = missing_texts(spec["missing"], f"column {name!r}: ")
    return found


def missing_texts(listed: Any, where: str = "") -> tuple[str, ...]:
    """Return the texts that mean missing; numbers are taken as they are printed.

    where: what a message begins with.
    """
    if not isinstance(listed, (list, tuple, set, frozenset)) or not all(
        isinstance(text, (str, int, float, type(None))) and not isinstance(text, bool)
        for text in listed
    ):
        raise InputError(f"{where}missing must be a list of texts such as ['?', 'NA']")
    return tuple(str(text) for text in listed if text not in (None, ""))


def without_missing(data: Any, specs: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return an Arrow table with missing values for what the columns declare as such."""
    for place, name in enumerate(data.column_names):
        missing = specs.get(name, {}).get("missing")
        if missing and data.column_names.count(name) == 1:
            data = data.set_column(place, name, without_codes(data.column(name), missing))
    return data


def encoding_options(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a column is encoded by: its codes for missing values are already gone."""
    return {option: value for option, value in spec.items() if option != "missing"}
