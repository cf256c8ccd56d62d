"""The desk of the analyst: the table it read, and the columns and releases that it has at hand."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.core.column import Column, Role
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.people import Unit
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.core.values.midnights import as_dates
from shoal.identifiers.replacement import Coarsening
from shoal.identifiers.replacements import as_replacement

if TYPE_CHECKING:
    from shoal.web.project.on_disk import DiskFile

_KEPT_RELEASES = 3
_ENCODING = ("kind", "order", "type", "values", "bounds")


@dataclass(frozen=True)
class FileRequest:
    """Which file to read, and how.

    Parameters:
        path: The file.
        form: Its stated settings, as options of `shoal.reading.Format`.
        memory: The memory that may be used, such as `4GB`; None for a share of the machine's. Rows
            of a larger table stay on disk.
    """

    path: Path
    form: Mapping[str, Any] = field(default_factory=dict)
    memory: str | None = None


@dataclass(frozen=True)
class TableRequest:
    """The table as the project describes it.

    Parameters:
        file: The file.
        specs: The schema entry of each column with a role, without its hierarchy.
        hierarchies: The hierarchy or recipe of some columns.
        units: `person`, `household` and `rows_are_people` as `shoal.read` takes them.
    """

    file: FileRequest
    specs: Mapping[str, Mapping[str, Any]]
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, Any] = field(default_factory=dict)


class Desk:
    """What the analyst keeps in memory: one file, its encoded columns, and a few releases.

    Attributes:
        on_disk: The file, if its rows stay on disk.
    """

    def __init__(self) -> None:
        self._file: tuple[str, Any] | None = None
        self.on_disk: DiskFile | None = None
        self._columns: dict[Any, Column] = {}
        self._units: dict[Any, Unit] = {}
        self._releases: dict[Path, tuple[float, Release]] = {}

    def data(self, file: FileRequest) -> Any:
        """Return the file as an Arrow table, read once; a sample if its rows stay on disk.

        Parameters:
            file: The file.
        """
        from shoal.reading import Format, read_arrow
        from shoal.web.project.on_disk import open_on_disk

        stat = file.path.stat()
        stated = [str(file.path), dict(file.form), file.memory]
        key = json.dumps([*stated, stat.st_mtime_ns, stat.st_size])
        if self._file is None or self._file[0] != key:
            self.close()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.on_disk = open_on_disk(file)
                sample = None if self.on_disk is None else self.on_disk.sample
                data = read_arrow(file.path, Format(**file.form)) if sample is None else sample
            self._file = (key, data)
        return self._file[1]

    def disk(self, file: FileRequest) -> DiskFile | None:
        """Return the file if its rows stay on disk, None if it is in memory.

        Parameters:
            file: The file.
        """
        self.data(file)
        return self.on_disk

    def interrupt(self) -> None:
        """Stop what an engine is doing, from another thread."""
        if self.on_disk is not None:
            self.on_disk.engine.interrupt()

    def close(self) -> None:
        """Forget the file."""
        self._file, self._columns, self._units = None, {}, {}
        if self.on_disk is not None:
            self.on_disk.close()
            self.on_disk = None

    def table(self, request: TableRequest, roles: Sequence[str] = ("quasi", "sensitive")) -> Table:
        """Return the table, without columns of other roles; columns are encoded once.

        Parameters:
            request: The table as the project describes it.
            roles: The roles of the columns to encode.
        """
        data = self.data(request.file)
        if self.on_disk is not None:
            return self.on_disk.table(request, roles)
        columns = [
            self._column(data, name, spec, request.hierarchies.get(name))
            for name, spec in request.specs.items()
            if _role_of(name, spec) in roles and name in data.column_names
        ]
        return Table(
            tuple(columns),
            person=self._unit(data, request.units.get("person", ()), "person"),
            household=self._unit(data, request.units.get("household", ()), "household"),
            rows_are_people=request.units.get("rows_are_people", False),
        )

    def release(self, path: Path) -> Release:
        """Return a release that a run kept in a file.

        Parameters:
            path: The file.
        """
        from shoal.comparison.parcels import unpack

        stamp = path.stat().st_mtime
        if path not in self._releases or self._releases[path][0] != stamp:
            while len(self._releases) >= _KEPT_RELEASES:
                del self._releases[next(iter(self._releases))]
            with path.open("rb") as file:
                self._releases[path] = (stamp, unpack(file.fileno()))
        return self._releases[path][1]

    def _column(
        self, data: Any, name: str, spec: Mapping[str, Any], hierarchy: Any = None
    ) -> Column:
        stated = {k: v for k, v in spec.items() if k in _ENCODING}
        key: tuple[Any, ...] = (name, json.dumps([stated, spec.get("replace")], default=str))
        if key not in self._columns:
            coarser = _coarsening(name, spec)
            cells = as_dates(data.column(name))
            if coarser is not None:
                cells = coarser.coarsen(name, cells.combine_chunks())
            self._columns[key] = Column.encode(name, cells, "quasi", **stated)
        if hierarchy is not None:
            bare, key = self._columns[key], (*key, key_of(hierarchy))
            if key not in self._columns:
                self._columns[key] = bare.with_hierarchy(hierarchy)
        return replace(self._columns[key], role=_role_of(name, spec))

    def _unit(self, data: Any, columns: Sequence[str], what: str) -> Unit | None:
        if not columns:
            return None
        key = (what, tuple(columns))
        if key not in self._units:
            self._units[key] = Unit.of(data, list(columns), what)
        return self._units[key]


def key_of(hierarchy: Any) -> Any:
    """Return what distinguishes a hierarchy from others: its recipe, or its values and groups."""
    if not isinstance(hierarchy, Hierarchy):
        return json.dumps(hierarchy, sort_keys=True, default=str)
    levels = tuple((hash(each.groups.tobytes()), each.labels) for each in hierarchy.levels)
    return hash((hierarchy.values, levels))


def _coarsening(name: str, spec: Mapping[str, Any]) -> Coarsening | None:
    """Return the replacement of an identifier that shows a part of it, if it has one."""
    if spec["role"] != Role.IDENTIFIER or spec.get("replace") is None:
        return None
    found = as_replacement(spec["replace"], name)
    return found if isinstance(found, Coarsening) else None


def _role_of(name: str, spec: Mapping[str, Any]) -> Role:
    """Return the role of a column; an identifier that is partly shown is a quasi-identifier."""
    return Role.QUASI if _coarsening(name, spec) is not None else Role(spec["role"])


def hierarchy_of(desk: Desk, request: TableRequest, name: str) -> Hierarchy:
    """Return the hierarchy of a column: its own, or one suggested from its values.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        name: The column.
    """
    from shoal.inspection import suggest_hierarchies

    table = desk.table(request)
    return suggest_hierarchies(replace(table, columns=(table[name],)))[name]


def rows_of_lists(_: Desk, lists: Sequence[Sequence[Any]]) -> int:
    """Return the number of entries of some lists: the smallest question, to see that it works."""
    return sum(len(each) for each in lists)
