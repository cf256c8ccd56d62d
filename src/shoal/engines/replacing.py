"""Identifiers of a table on disk that are published in another form, as far as values alone decide.

Masked, rounded and limited identifiers become quasi-identifiers, which the guarantee covers. Other
replacements can link the rows of a person, and need the table in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shoal.core.column import Role
from shoal.errors import InputError
from shoal.identifiers.drop import Drop
from shoal.identifiers.replacement import Coarsening
from shoal.identifiers.replacements import as_replacement
from shoal.reading.requests import Request


def with_coarser_identifiers(asked: Request) -> Request:
    """Return the request with coarser identifiers as quasi-identifiers; others are refused."""
    specs: dict[str, Mapping[str, Any]] = {}
    refused = []
    for name, spec in asked.specs.items():
        kind = as_replacement(spec["replace"], name) if "replace" in spec else None
        if kind is None:
            specs[name] = spec
        elif isinstance(kind, Drop):
            specs[name] = {key: value for key, value in spec.items() if key != "replace"}
        elif isinstance(kind, Coarsening):
            specs[name] = {**spec, "role": Role.QUASI, "type": "text", "replace": kind}
        else:
            refused.append(name)
    if refused:
        raise InputError(
            "identifiers are replaced only in memory, except by mask, round, clip and drop: leave "
            f"out replace of {', '.join(refused)}, or state more memory"
        )
    return replace(asked, specs=specs)
