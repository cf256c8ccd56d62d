"""Identifiers of a table on disk that are published in another form.

Masked, rounded and limited identifiers become quasi-identifiers, which the guarantee covers. Others
are replaced batch by batch; if they link the rows of a person, people are anonymized, as in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column, Kind, Role
from shoal.core.publishing.replaced import Replaced
from shoal.core.table import Table
from shoal.engines.dictionaries import Encoder
from shoal.engines.engine import Filled, Replacing
from shoal.engines.memory import Budget
from shoal.errors import InputError
from shoal.identifiers.drop import Drop
from shoal.identifiers.lookup import Token
from shoal.identifiers.replacement import Coarsening, Context, Replacement
from shoal.identifiers.replacements import as_replacement, people_of
from shoal.reading.requests import Request
from shoal.support.arrays import Counts

if TYPE_CHECKING:
    from shoal.engines.large_table import LargeTable

_BYTES_PER_TOKEN = 400  # of the lookup table, which is in memory
_TOKENS_SHARE = 0.3  # of the budget


def with_coarser_identifiers(asked: Request, *, in_spark: bool = False) -> Request:
    """Return the request with coarser identifiers as quasi-identifiers.

    in_spark: whether Spark works on the rows; it refuses other replacements.
    """
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
            specs[name] = {**spec, "replace": kind}
            refused.append(name)
    if refused and in_spark:
        raise InputError(
            f"identifiers are not replaced in Spark, because its executors would need the key, "
            f"except by mask, round, clip and drop: leave out replace of {', '.join(refused)}, or "
            "use the engine duckdb"
        )
    return replace(asked, specs=specs)


def replacements_of(request: Request) -> dict[str, Replacement]:
    """Return how identifiers are replaced, without those that become quasi-identifiers."""
    stated = {n: spec["replace"] for n, spec in request.specs.items() if "replace" in spec}
    return {n: kind for n, kind in stated.items() if not isinstance(kind, Coarsening)}


@dataclass(eq=False)
class Publisher:
    """Replaces the cells of one identifier, batch by batch.

    encoder: reads the cells of the source. request: how columns are described.
    context: the key and the domain. filled: what was counted of the column.
    """

    column: str
    kind: Replacement
    encoder: Encoder = field(repr=False)
    request: Request = field(repr=False)
    context: Context = field(repr=False)
    filled: Filled
    _last: Replaced | None = field(default=None, repr=False)
    _hits: int = field(default=0, repr=False)  # identifiers that were found inside texts

    @property
    def repeats(self) -> bool:
        """Whether some values occur in several rows."""
        return self.filled.distinct < self.filled.rows

    @property
    def links(self) -> bool:
        """Whether published cells link rows."""
        return self.kind.links_rows and self.repeats

    @property
    def replacing(self) -> Replacing:
        """What an engine needs to replace the cells."""
        shared = self.kind.name in ("pseudonym", "fake") and self.kind.links_rows
        key, lookup = self.context.key, self.context.lookup
        secret = None if key is None else key.fingerprint
        return Replacing(
            self._publish,
            (self.column, *(self._people if self.kind.by_cell else ())),
            by_value=self.repeats and not self.kind.by_cell,
            links=self.links,
            refuse_shared=partial(self.kind.refuse_shared, self.column) if shared else None,
            recipe=f"{self.kind} {self.context.domain!r} {secret} {lookup.path if lookup else ''}",
        )

    @property
    def _people(self) -> tuple[str, ...]:
        return tuple(n for n in self.request.units["person"] if n != self.column)

    def _publish(self, rows: Any) -> Any:
        """Return the published cells of rows of the source."""
        context = self.context
        if self.kind.by_cell and self.request.units["person"]:
            people = {
                n: self.encoder.identifiers(n, rows.column(n)) for n in self.request.units["person"]
            }
            context = replace(context, person=people_of(people))
        cells = self.encoder.identifiers(self.column, rows.column(self.column))
        made = self.kind.publish(self.column, cells, context)
        assert made is not None
        self._last = made
        self._hits += made.record.get("replaced", 0)
        return made.cells.cast(self.kind.type)

    @property
    def replaced(self) -> Replaced:
        """How the column was replaced, without its cells, which are on disk."""
        assert self._last is not None
        record = dict(self._last.record)
        if "replaced" in record:
            record["replaced"] = self._hits
        return replace(self._last, cells=pa.nulls(0, self.kind.type), record=record)


def publishers_of(
    table: LargeTable, request: Request, secrets: Context, known: Mapping[str, Publisher]
) -> Mapping[str, Publisher]:
    """Return what replaces each identifier of a table.

    Parameters:
        table: The table.
        request: How its columns are described.
        secrets: The key, the domain and the lookup table.
        known: What replaced them before, if the rows are replaced already; this is returned.
    """
    made = {}
    for name, kind in replacements_of(request).items():
        filled = table.engine.statistics({}, [name])[name]
        assert isinstance(filled, Filled)
        own = replace(secrets, values=filled.distinct)
        encoder = Encoder(request, table.types, table.files.name)
        made[name] = Publisher(name, kind, encoder, request, own, filled)
    if not made:
        return known
    if not known:
        _check_tokens(made, table.budget)
        return made
    one, other = ({n: each.replacing.recipe for n, each in p.items()} for p in (known, made))
    if one != other:
        raise InputError(
            "this table was anonymized with another key, domain or lookup table, which its rows "
            "still have; open it again"
        )
    return known


def _check_tokens(publishers: Mapping[str, Publisher], budget: Budget) -> None:
    """Reject more random tokens than fit in memory, where their table is."""
    for name, each in publishers.items():
        tokens = each.filled.distinct
        if isinstance(each.kind, Token) and tokens * _BYTES_PER_TOKEN > budget.share(_TOKENS_SHARE):
            raise InputError(
                f"column {name!r}: the lookup table of {tokens:,} tokens does not fit in {budget} "
                "of memory; use pseudonym, which needs no table, or state a larger memory"
            )


def with_links(
    table: Table, names: Sequence[str], linked: Counts
) -> tuple[Table, dict[str, Replaced]]:
    """Return tuples with the identifiers that link their rows, and their sets of linked rows.

    Parameters:
        table: The tuples.
        names: The identifiers.
        linked: (tuples,) the number of the set of each tuple.
    """
    codes = np.zeros(len(linked), dtype=np.int32)
    blank = [Column(n, Role.IDENTIFIER, Kind.NOMINAL, codes, pa.array([""])) for n in names]
    links = {n: Replaced(n, pa.array(linked), links=True, treatment="") for n in names}
    return replace(table, columns=(*blank, *table.columns)), links
