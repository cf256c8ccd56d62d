"""Tables to try things on: generated patients, published examples, public files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shoal.core.table import Table
from shoal.datasets.variants import binned, permuted, random_hierarchies, random_k
from shoal.errors import unknown

_BUILT_IN = {
    "health-record": "7 patients of a published worked example",
    "fars-sample": "20 accident records of a published worked example",
}


def load(name: str, roles: Mapping[str, Any] | None = None) -> Table:
    """Return a table by name; `catalogue()` lists them.

    roles: roles other than the usual ones, for the public tables.
    """
    from shoal.datasets import public, published

    built_in: dict[str, Callable[[], Table]] = {
        "health-record": published.health_record,
        "fars-sample": published.fars_sample,
    }
    if name in built_in:
        return built_in[name]()
    if name not in public.SOURCES:
        raise unknown("no table", name, catalogue())
    return public.SOURCES[name].load(public.folder(), roles)


def patients(rows: int, seed: int = 0) -> Table:
    """Return a generated hospital table with roles and hierarchies, the same for the same seed.

    For more rows than memory holds, `patient_chunks` yields it piece by piece.
    """
    import pyarrow as pa

    chunks = pa.concat_tables(patient_chunks(rows, seed))
    return Table.from_arrow(chunks, patient_schema()["columns"])


def patient_chunks(rows: int, seed: int = 0) -> Any:
    """Yield the generated hospital table as Arrow tables, any length up to 100 million rows."""
    from shoal.datasets._patients import generate

    return generate(rows, seed)


def patient_schema() -> dict[str, Any]:
    """Return the schema of the generated hospital table, as a schema file would state it."""
    from shoal.datasets._patients import SCHEMA

    return SCHEMA


def catalogue() -> dict[str, str]:
    """Return what there is, by name."""
    from shoal.datasets.public import SOURCES

    return {**_BUILT_IN, **{name: source.about for name, source in SOURCES.items()}}


__all__ = [
    "binned",
    "catalogue",
    "load",
    "patient_chunks",
    "patient_schema",
    "patients",
    "permuted",
    "random_hierarchies",
    "random_k",
]
