"""The identity of a run: its table, model, method, options, seed, figures and version."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.anonymize import versions
from shoal.comparison.bench import COST, RISKS, RUN, SHAPE
from shoal.comparison.grid import options_of
from shoal.support.plain_data import plain

if TYPE_CHECKING:
    from shoal.comparison.bench import Bench
    from shoal.comparison.grid import Trial
    from shoal.core.hierarchies.hierarchy import Hierarchy
    from shoal.core.table import Table


def identify(trial: Trial, table: str, bench: Bench) -> str:
    """Return a name for a run, the same on every machine and in every process."""
    identity = {
        "table": table,
        "method": [trial.method, plain(type(trial.algorithm))],
        "options": options_of(trial.algorithm),
        "model": str(trial.model),
        "seed": trial.seed,
        "metrics": bench.metrics,
        "measures": plain(bench.measures),
        "columns": [*RUN, *COST, *SHAPE, *RISKS],
        "shoal": versions().get("shoal"),
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:32]


def fingerprint(table: Table) -> str:
    """Return a digest of everything that a method reads from a table.

    This includes cells, kinds, weights, hierarchies, and the person and household of each row.
    """
    digest = hashlib.sha256()
    for column in table.columns:
        settings = (column.name, column.role, column.kind, float(column.weight), column.bounds)
        digest.update(repr(settings).encode())
        digest.update(column.codes.tobytes())
        digest.update(_bytes(column.values))
        if column.hierarchy is not None:
            _add_hierarchy(digest, column.hierarchy)
    if table.counts is not None:
        digest.update(table.counts.tobytes())
    for what, unit in (("person", table.person), ("household", table.household)):
        if unit is not None:
            digest.update(what.encode())
            digest.update(unit.ids.tobytes())
    return digest.hexdigest()


def _add_hierarchy(digest: Any, hierarchy: Hierarchy) -> None:
    for level in hierarchy.levels:
        digest.update(repr(level.labels).encode())
        digest.update(level.groups.tobytes())
        if level.bounds is not None:
            digest.update(level.bounds.tobytes())


def _bytes(values: Any) -> Any:
    """Return an Arrow array as the bytes of a file: type, nulls, values."""
    batch = pa.record_batch([values], names=["values"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue()
