"""Identifiers of a table on disk that are published in another form.

    asked ── with_coarser_identifiers ──▶ masked, rounded and limited ones are quasi-identifiers
    others ── publishers_of ───────────▶ `Publisher`: replaces cells, batch by batch, with the key
    `Replacing` ── DuckDBReplacing ────▶ columns beside the encoded rows, and the people they link

Batches of cells leave the database and their replacements come back, so that no statement and no
working file has a key. Replaced columns are r0, r1, …, the numbers of linking values l0, l1, …, and
raw cells, which are never stored, x0, x1, …. If replaced identifiers link the rows of a person,
people are anonymized, as in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.files.requests import Request
from shoal.identifiers.lookup import Token
from shoal.identifiers.replacement import Coarsening, Context, Drop, Replacement
from shoal.identifiers.replacements import as_replacement, people_of
from shoal.rows.dictionaries import Encoder
from shoal.rows.duckdb_session import Session
from shoal.rows.memory import Budget
from shoal.rows.queries import numbers_of
from shoal.rows.store import PERSON, Encoding, Filled, Replacing
from shoal.support.arrays import Counts
from shoal.support.progress import report
from shoal.table.column import Column, Kind, Role
from shoal.table.linked import Replaced, linked_sets
from shoal.table.people import Unit, joined
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.rows.large_table import LargeTable


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


SETS = "linked"  # the column of the number of the set that a row is linked to
_BYTES_PER_LINK = 100  # of two numbers that are joined in memory
_SHARE = 0.3  # of the budget, for these


class DuckDBReplacing:
    """Makes the replaced columns of one encoding.

    source: what to select from. raw: the expression of a cell of each column, in rows named s.
    person: the columns that identify people, in the table of people.
    """

    def __init__(
        self,
        session: Session,
        source: str,
        encoding: Encoding,
        raw: Mapping[str, str],
        person: Sequence[str],
    ) -> None:
        self._session, self._source = session, source
        self._encoding, self._raw, self._person = encoding, raw, person
        self._tables: list[str] = []
        self._links: list[str] = []
        self._linked_by_person = False
        self.columns = {name: f"r{number}" for number, name in enumerate(encoding.replaced)}

    def encode(self, cells: Sequence[str], joins: Sequence[str]) -> None:
        """Store the encoded rows with their replaced columns.

        Parameters:
            cells: The expressions of the other columns.
            joins: The joins that they need.
        """
        if self.columns:
            report("replace identifiers", 0, None)
        cells, joins = list(cells), list(joins)
        by_row = {}
        for name, each in self._encoding.replaced.items():
            if each.by_value:
                found, join = self._store_values(name, each)
                cells += found
                joins.append(join)
            else:
                by_row[self.columns[name]] = each
        for place, name in enumerate(self._encoding.links.columns, len(self.columns)):
            found, join = self._number_links(name, f"l{place}")
            cells += found
            joins.append(join)
        self._linked_by_person |= self._encoding.links.people
        rows = f"FROM {self._source} s {' '.join(joins)}"
        if by_row:
            self._encode_in_batches(cells, rows, by_row)
        else:
            self._session.run(
                f"CREATE OR REPLACE TABLE encoded AS SELECT {', '.join(cells)} {rows}"
            )
        for table in self._tables:
            self._session.run(f"DROP TABLE {table}")

    def _store_values(self, name: str, replacing: Replacing) -> tuple[list[str], str]:
        """Replace each distinct value, and return the cells of the rows and the join."""
        column = self.columns[name]
        made, numbers = f"made_{column}", f"numbers_{column}"
        own = tuple(self._encoding.person) == (name,)
        if own:
            known = f"SELECT {self._person[0]} AS v, id AS c FROM person_ids"
            numbers, number, join = "person_ids", "id", ""
        else:
            known, number = f"SELECT v, c FROM {numbers}", "c"
            join = self._number_values(name, numbers)

        def published(batch: Any) -> Any:
            cells = replacing.publish(pa.table({name: batch.column("v")}))
            return pa.table({"c": batch.column("c"), "r": cells})

        self._session.pour(known, made, published)
        self._tables.append(made)
        self._check_shared(made, "r", replacing)
        cells = [f"{made}.r AS {column}"]
        if replacing.links and own:
            self._linked_by_person = True
            self._check_filled(made, name)
        elif replacing.links:
            self._links.append(f"l{column[1:]}")
            cells.append(f"CASE WHEN {made}.r IS NULL THEN NULL ELSE {made}.c END AS l{column[1:]}")
        return cells, f"{join}LEFT JOIN {made} ON {numbers}.{number} = {made}.c"

    def _number_values(self, name: str, numbers: str) -> str:
        """Give each distinct value a number, and return the join of the rows with it."""
        values = f"SELECT DISTINCT {self._raw[name]} AS v FROM {self._source} s"
        self._session.run(
            f"CREATE OR REPLACE TABLE {numbers} AS SELECT v, row_number() OVER () - 1 AS c "
            f"FROM ({values}) WHERE v IS NOT NULL"
        )
        self._tables.append(numbers)
        return f"LEFT JOIN {numbers} ON {self._raw[name]} = {numbers}.v "

    def _number_links(self, name: str, column: str) -> tuple[list[str], str]:
        """Return the cells that link rows as they are and their join; nothing if none repeats."""
        numbers = f"numbers_{column}"
        join = self._number_values(name, numbers)
        filled = self._session.value(f"SELECT count({self._raw[name]}) FROM {self._source} s")
        if filled == self._session.value(f"SELECT count(*) FROM {numbers}"):
            return [], ""
        self._links.append(column)
        return [f"{numbers}.c AS {column}"], join

    def _encode_in_batches(
        self, cells: Sequence[str], rows: str, by_row: Mapping[str, Replacing]
    ) -> None:
        """Store the rows batch by batch, with replacements of all their cells."""
        needed = dict.fromkeys(name for each in by_row.values() for name in each.columns)
        raw = {name: f"x{place}" for place, name in enumerate(needed)}
        listed = [*cells, *(f"{self._raw[name]} AS {column}" for name, column in raw.items())]

        def replaced(batch: Any) -> Any:
            known = pa.table({name: batch.column(column) for name, column in raw.items()})
            stored = batch.drop_columns(list(raw.values()))
            for column, each in by_row.items():
                stored = stored.append_column(column, each.publish(known.select(each.columns)))
            return stored

        self._session.pour(f"SELECT {', '.join(listed)} {rows}", "encoded", replaced)
        for column, each in by_row.items():
            self._check_shared("encoded", column, each)

    def _check_shared(self, table: str, column: str, replacing: Replacing) -> None:
        """Reject replacements of different values that are equal."""
        if replacing.refuse_shared is None:
            return
        for distinct in (f"hash({column})", column):  # hashes take less memory
            counts = f"count({column}) - count(DISTINCT {distinct})"
            shared = self._session.value(f"SELECT {counts} FROM {table} WHERE {column} IS NOT NULL")
            if not shared:
                return
        replacing.refuse_shared(int(shared))

    def _check_filled(self, made: str, name: str) -> None:
        """Reject people without an identifier."""
        if self._session.value(f"SELECT count(*) FROM {made} WHERE r IS NULL"):
            raise InputError(
                f"column {name!r} identifies the person, but some rows have no value in it; fill "
                "them in or remove these rows"
            )

    def link(self) -> str | None:
        """Return the column of the set that each row is linked to; None if none links rows.

        People whose rows are linked get one number.
        """
        if not self._links:
            return PERSON if self._linked_by_person else None
        own = [PERSON] if self._linked_by_person else []
        keys = [*own, *self._links]
        if len(keys) == 1:
            base = f"(SELECT coalesce(max({keys[0]}), 0) + 1 FROM encoded)"
            self._rewrite(f"coalesce({keys[0]}, {base} + encoded.rowid) AS {SETS}")
        else:
            self._join_sets(keys)
        self._join_people()
        return SETS

    def _rewrite(self, added: str, joins: str = "", without: Sequence[str] = ()) -> None:
        """Store the encoded rows again, with another column."""
        left_out = f" EXCLUDE ({', '.join(without)})" if without else ""
        self._session.run(
            f"CREATE OR REPLACE TABLE linking AS SELECT encoded.*{left_out}, {added} "
            f"FROM encoded {joins}"
        )
        self._session.run("DROP TABLE encoded")
        self._session.run("ALTER TABLE linking RENAME TO encoded")

    def _join_sets(self, keys: Sequence[str]) -> None:
        """Give a number to each set of rows that several columns link, also through other rows."""
        listed = ", ".join(keys)
        some = " OR ".join(f"{key} IS NOT NULL" for key in keys)
        pairs = self._read(f"SELECT DISTINCT {listed} FROM encoded WHERE {some}")
        sets = linked_sets([pairs.column(key) for key in keys])
        if sets is None:
            sets = np.arange(len(pairs), dtype=np.int32)
        numbered = pairs.append_column(SETS, pa.array(sets.astype(np.int64)))
        self._session.store("sets", numbered)
        same = " AND ".join(f"encoded.{key} IS NOT DISTINCT FROM sets.{key}" for key in keys)
        alone = f"coalesce(sets.{SETS}, {len(pairs)} + encoded.rowid)"
        self._rewrite(f"{alone} AS {SETS}", f"LEFT JOIN sets ON {same}")
        self._session.run("DROP TABLE sets")

    def _join_people(self) -> None:
        """Give people whom a set links one number; without people, sets are people."""
        if not self._encoding.person:
            self._rewrite(f"{SETS} AS {PERSON}", without=self._links)
            return
        several = f"SELECT {SETS} FROM encoded GROUP BY ALL HAVING min({PERSON}) < max({PERSON})"
        pairs = self._read(
            f"SELECT DISTINCT {PERSON}, {SETS} FROM encoded WHERE {SETS} IN ({several})"
        )
        if not len(pairs):
            return
        numbers, people = np.unique(numbers_of(pairs, PERSON), return_inverse=True)
        places, sets = np.unique(numbers_of(pairs, SETS), return_inverse=True)
        one = Unit((), people.astype(np.int32), len(numbers))
        other = Unit((), sets.astype(np.int32), len(places))
        parts = joined(one, other)
        least = np.full(parts.count, np.iinfo(np.int64).max)
        np.minimum.at(least, parts.ids, numbers[people])
        _, first = np.unique(people, return_index=True)
        self._session.store(
            "same_people", pa.table({"old": numbers, "new": least[parts.ids[first]]})
        )
        number = f"coalesce(same_people.new, encoded.{PERSON}) AS {PERSON}"
        join = f"LEFT JOIN same_people ON encoded.{PERSON} = same_people.old"
        self._rewrite(number, join, [PERSON, *self._links])
        self._session.run("DROP TABLE same_people")

    def _read(self, statement: str) -> Any:
        """Return numbers that are joined in memory, if they fit."""
        rows = self._session.value(f"SELECT count(*) FROM ({statement})")
        if rows * _BYTES_PER_LINK > self._session.budget.share(_SHARE):
            raise InputError(
                f"several replaced identifiers link rows in {rows:,} combinations, too many for "
                f"{self._session.budget} of memory; publish one of them, or state a larger memory"
            )
        return self._session.arrow(statement)
