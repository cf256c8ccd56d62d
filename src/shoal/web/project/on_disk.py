"""A file whose rows stay on disk: random rows in memory, and exact figures by the engine.

Methods that group records run on the sample for an estimate; values, groups and the release itself
come from all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.files.formats import Format
from shoal.files.requests import request_of
from shoal.identifiers.replacement import Coarsening
from shoal.identifiers.replacements import as_replacement
from shoal.inspection import describe
from shoal.inspection.concepts import PERSON_NUMBER, means
from shoal.rows.choice import choose
from shoal.rows.dictionaries import Encoder, check_type, count_identifier
from shoal.rows.duckdb_engine import DuckDBEngine
from shoal.rows.file_sources import find_files
from shoal.rows.large_table import LargeTable
from shoal.rows.memory import Budget
from shoal.rows.packing import Packing
from shoal.rows.replacing import with_coarser_identifiers
from shoal.rows.store import Plan, Values
from shoal.support.wording import counted, rows_about
from shoal.table.column import Column, Role
from shoal.table.people import Deciding, Unit, deciding_of
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.web.project.analyst import FileRequest, TableRequest

SAMPLE_ROWS = 100_000
_SHARE = 0.4  # of the budget, for the questions of the app; a release runs beside them
_LEAST = 200_000_000  # bytes
_BYTES_PER_VALUE = 200


def open_on_disk(file: FileRequest) -> DiskFile | None:
    """Return the file if its rows stay on disk; None if it fits in memory.

    Parameters:
        file: The file, with the memory that may be used.
    """
    try:
        chosen = choose(file.path, file.memory, None, None, _count_columns(file))
    except InputError:
        return None  # reading it explains what is wrong
    return DiskFile(file, chosen.budget) if chosen.on_disk else None


def _count_columns(file: FileRequest) -> int:
    """Return the number of columns of a Parquet file; that of a text file does not matter."""
    import pyarrow.parquet as pq

    if file.path.suffix.lower() not in (".parquet", ".pq"):
        return 1
    try:
        return int(pq.read_metadata(file.path).num_columns)
    except (pa.ArrowException, OSError):
        return 1


class DiskFile:
    """A file on disk with its distinct values, and a random sample of its rows.

    Parameters:
        file: The file.
        budget: The memory that may be used.

    Attributes:
        rows: The number of rows.
        sample: Random rows with the types that all rows have.
        refused: The columns that need the table in memory, because of their type.
    """

    def __init__(self, file: FileRequest, budget: Budget) -> None:
        self._form = {name: value for name, value in file.form.items() if name != "missing_in"}
        files = find_files(file.path)
        with files.scan(Format(**self._form), set()) as scan:
            names, types = scan.names, scan.types or {}
        self.refused = tuple(name for name in names if name in types and _refuses(types[name]))
        self.names = tuple(name for name in names if name not in self.refused)
        codes = file.form.get("missing_in", {})
        # every column is read like a quasi-identifier, because roles may still change
        specs: dict[str, Any] = {name: {"role": "quasi"} for name in self.names}
        for name in set(codes) & set(specs):
            specs[name]["missing"] = list(codes[name])
        request = self._request(specs, {}, {"rows_are_people": True})
        own = Budget(max(budget.share(_SHARE), min(budget.size, _LEAST)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._table = LargeTable(files, request, own)
        self._key: Any = None
        engine = self.engine
        self.rows = engine.count_rows()
        self._most = own.share(0.3) // _BYTES_PER_VALUE
        self.values = engine.statistics(dict.fromkeys(self.names, self._most))
        self._raw = engine.sample(self.names, SAMPLE_ROWS)
        self.sample = self._typed(Encoder(request, scan.types, files.name))

    @property
    def engine(self) -> DuckDBEngine:
        """The engine, which has the rows."""
        engine = self._table.engine
        assert isinstance(engine, DuckDBEngine)
        return engine

    def close(self) -> None:
        """Remove the working files."""
        self._table.close()

    def _request(self, specs: Mapping[str, Any], trees: Mapping[str, Any], units: Any) -> Any:
        return request_of(
            None,
            specs,
            trees,
            units.get("person", ()),
            units.get("household", ()),
            units.get("rows_are_people", False),
            self._form,
        )

    def _typed(self, encoder: Encoder) -> Any:
        """Return the sample with the type of each column that its distinct values have."""
        columns = {}
        for name, values in self.values.items():
            cells = self._raw.column(name).combine_chunks()
            if isinstance(values, Values):
                typed = encoder.cells(name, values.values)
                columns[name] = typed.take(pc.index_in(cells, value_set=values.values))
            else:
                columns[name] = encoder.cells(name, cells)
        return pa.table(columns)

    def describe(self, units: Mapping[str, Any]) -> dict[str, Any]:
        """Describe the columns and the people, as `shoal.inspection.describe` does.

        Roles follow from the sample; numbers of rows, people and values are those of all rows.

        Parameters:
            units: The stated unit of protection.
        """
        found = describe(self.sample, **units)
        for column in found["columns"]:
            values = self.values[column["name"]]
            if isinstance(values, Values):
                filled = values.values.is_valid().to_numpy(zero_copy_only=False)
                column["distinct"] = int(filled.sum())
                column["missing"] = int(values.counts[~filled].sum())
            else:
                column |= {"distinct": values, "approximate": True}
                share = column["missing"] / max(self.sample.num_rows, 1)
                column["missing"] = round(share * self.rows)
        deciding = self.deciding(found)
        person = tuple(units.get("person", ()))
        if not person and not units.get("rows_are_people") and deciding is not None:
            known = deciding.repeats and means(deciding.column, PERSON_NUMBER)
            person = (deciding.column,) if known else ()
        people = self.rows
        if len(person) == 1 and (counts := self._count(person[0])) is not None:
            people = counts.distinct
        about = rows_about(self.rows, people) if len(person) < 2 else counted(self.rows, "row")
        named = f" ({', '.join(person)})" if person else ""
        found |= {"records": self.rows, "people": people, "about": about + named}
        return found | {"person": list(person), "deciding": deciding}

    def deciding(self, found: Mapping[str, Any]) -> Deciding | None:
        """Return the identifier that decides who the people are, counted on all rows."""
        names = [c["name"] for c in found["columns"] if c["role"] == Role.IDENTIFIER]
        return deciding_of([n for n in names if n not in found["household"]], self._count)

    def _count(self, name: str) -> Deciding | None:
        return count_identifier(self.engine, name)

    def large(self, request: TableRequest) -> LargeTable:
        """Return the table on disk as the project describes it.

        Parameters:
            request: The table.
        """
        from shoal.web.project.analyst import key_of

        specs = {n: _without_key(n, spec) for n, spec in request.specs.items() if n in self.names}
        trees = {n: tree for n, tree in request.hierarchies.items() if n in specs}
        key = (repr(specs), [(n, key_of(tree)) for n, tree in trees.items()], repr(request.units))
        if key != self._key:
            asked = with_coarser_identifiers(self._request(specs, trees, request.units))
            self._table, self._key = self._table.described(asked), key
        return self._table

    def table(self, request: TableRequest, roles: Sequence[str]) -> Table:
        """Return the sample; its columns have the values of all rows.

        Parameters:
            request: The table.
            roles: The roles of the columns.
        """
        large = self.large(request)
        columns = []
        for name, known in large.encoded.items():
            if known.column.role in roles:
                places = pc.index_in(self._raw.column(name), value_set=known.dictionary.values)
                codes = known.dictionary.codes[places.to_numpy()]
                columns.append(replace(known.column, codes=codes.astype(np.int32)))
        return Table(
            tuple(columns),
            person=self._unit(request.units.get("person", ()), "person"),
            household=self._unit(request.units.get("household", ()), "household"),
            rows_are_people=request.units.get("rows_are_people", False),
        )

    def _unit(self, columns: Sequence[str], what: str) -> Unit | None:
        return Unit.of(self._raw, list(columns), what) if columns else None

    def column(self, request: TableRequest, name: str) -> tuple[Column, Any]:
        """Return the distinct values of a column as its rows, and the rows that have each.

        Parameters:
            request: The table.
            name: The column.
        """
        known = self.large(request).encoded[name]
        codes = np.arange(known.column.domain, dtype=np.int32)
        return replace(known.column, codes=codes), known.counts

    def group_sizes(self, request: TableRequest, levels: Mapping[str, int]) -> tuple[Any, Any]:
        """Return the sizes of groups of rows with equal quasi-identifiers, counted by the engine.

        Parameters:
            request: The table.
            levels: The level of some columns.

        Returns:
            Numbers of rows, and how many groups have each.
        """
        large = self.large(request)
        maps = {}
        for name in large.names(Role.QUASI):
            column = large.encoded[name].column
            maps[name] = np.arange(column.domain, dtype=np.int32)
            if levels.get(name) and column.hierarchy is not None:
                level = column.hierarchy.levels[min(levels[name], column.hierarchy.height)]
                maps[name] = level.groups.astype(np.int32)
            elif levels.get(name):  # a column without groups is shown or hidden
                maps[name] = np.zeros(column.domain, dtype=np.int32)
        packing = Packing.of({name: int(codes.max()) + 1 for name, codes in maps.items()})
        return self.engine.release(Plan(packing, maps)).sizes()


def _without_key(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a column for questions: only coarser identifiers are replaced in them."""
    coarser = "replace" in spec and isinstance(as_replacement(spec["replace"], name), Coarsening)
    return {key: value for key, value in spec.items() if key != "replace" or coarser}


def _refuses(kind: Any) -> bool:
    try:
        check_type("", kind)
    except InputError:
        return True
    return False
