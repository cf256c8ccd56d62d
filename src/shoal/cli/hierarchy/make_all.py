"""`shoal hierarchy make --all`: a hierarchy file for every quasi-identifier, and a schema."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.shared.console import bars, note, notes
from shoal.cli.shared.options import names
from shoal.cli.shared.sources import Form, Roles
from shoal.errors import InputError, OutputError
from shoal.support.file_names import new_inside
from shoal.support.files import check_readable, check_writable, read_text, replace_files

if TYPE_CHECKING:
    from shoal.core.hierarchies.hierarchy import Hierarchy
    from shoal.core.table import Table

_SCHEMA = "schema.yaml"


def make_all(
    file: Path, folder: Path, roles: Roles, form: Form, *, force: bool
) -> dict[str, Hierarchy]:
    """Write the hierarchies of all quasi-identifiers and a schema into a folder, or nothing.

    Returns:
        The hierarchy of each column.
    """
    from shoal.inspection.drafts import name_files, suggest_hierarchies

    check_readable(file)
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; with --all, -o must name a folder")
    draft = _Suggested(file, roles, form) if roles.schema is None else _Stated(roles, form)
    with bars():
        table = _read(file, draft, roles)
        trees = suggest_hierarchies(table)
    files = name_files(trees)
    for name in (*files.values(), _SCHEMA):
        if folder.is_dir():
            check_writable(folder / name, force=force)
    with replace_files(folder) as made:
        for name, tree in trees.items():
            tree.write(new_inside(made, files[name]))
        text = draft.text(folder, files, trees)
        (made / _SCHEMA).write_text(text, encoding="utf-8")
    return trees


def _read(file: Path, draft: _Suggested | _Stated, roles: Roles) -> Table:
    from shoal.reading import Schema, UnassignedColumns, read

    schema = Schema.of(draft.data, roles.schema)
    with notes(unless=UnassignedColumns):
        table = read(file, schema, **roles.units)
    if not table.quasi:
        raise InputError(
            "no column is a quasi-identifier; name the columns that others know with --quasi"
        )
    return table


class _Suggested:
    """The schema that `shoal inspect` suggests, with the roles that options state."""

    def __init__(self, file: Path, roles: Roles, form: Form) -> None:
        from shoal.inspection import describe
        from shoal.reading.files import read_arrow
        from shoal.reading.formats import Format, guesses_of

        with notes():
            data = read_arrow(file, Format(**form.stated))
        units = roles.units
        found = describe(data, names(roles.quasi), **units)
        stated = roles.stated
        for name in stated:
            if name not in data.column_names:
                raise InputError(f"{file}: no column {name!r}; `shoal inspect` lists the columns")
        kept = []
        for column in found["columns"]:
            column |= {"role": stated.get(column["name"], column["role"]), "hierarchy": None}
            if roles.quasi and column["role"] == "quasi" and column["name"] not in stated:
                note(f"column {column['name']!r} is not in --quasi and is left out of the schema")
            else:
                kept.append(column)
        self._described = {**found, "columns": kept}
        if roles.rows_are_people:
            self._described["person"] = []
        self._written = {**guesses_of(data), **form.stated}

    @property
    def data(self) -> Any:
        """The schema without hierarchies."""
        from shoal.inspection import suggest_schema
        from shoal.reading.yaml_files import load_yaml

        return load_yaml(suggest_schema(self._described, self._written))

    def text(self, folder: Path, files: dict[str, str], trees: dict[str, Hierarchy]) -> str:
        """Return the schema with its hierarchies as YAML."""
        from shoal.inspection import suggest_schema
        from shoal.inspection.drafts import schema_entry

        for column in self._described["columns"]:
            if column["name"] in files:
                entry = schema_entry(files[column["name"]], trees[column["name"]])
                column["hierarchy"] = entry
        return suggest_schema(self._described, self._written)


class _Stated:
    """The schema that --schema names, with the roles that options state."""

    def __init__(self, roles: Roles, form: Form) -> None:
        from shoal.reading.yaml_files import load_yaml

        assert roles.schema is not None
        roles.known  # noqa: B018  raises an error for a wrong schema
        self._folder = roles.schema.parent
        self.data: dict[str, Any] = load_yaml(read_text(roles.schema))
        for name, role in roles.stated.items():
            own = self.data["columns"].get(name) or {}
            spec = {"role": own} if isinstance(own, str) else own
            self.data["columns"][name] = {**spec, "role": role}
        for what in ("person", "household"):
            if roles.units[what]:
                self.data[what] = roles.units[what]
        if form.stated:
            self.data["file"] = {**(self.data.get("file") or {}), **form.stated}

    def text(self, folder: Path, files: dict[str, str], trees: dict[str, Hierarchy]) -> str:
        """Return the schema with its hierarchies as YAML."""
        from shoal.inspection.drafts import schema_entry
        from shoal.inspection.schemas import dump_schema

        columns = {}
        for name, stated in self.data["columns"].items():
            spec = {"role": stated} if isinstance(stated, str) else dict(stated)
            if name in files:
                spec["hierarchy"] = schema_entry(files[name], trees[name])
            elif "hierarchy" in spec:
                spec["hierarchy"] = self._moved(spec["hierarchy"], folder)
            columns[name] = spec
        return dump_schema({**self.data, "columns": columns})

    def _moved(self, hierarchy: Any, folder: Path) -> Any:
        """Return an entry with its file relative to another folder."""
        if isinstance(hierarchy, str):
            return os.path.relpath(self._folder / hierarchy, folder)
        if isinstance(hierarchy, dict) and "file" in hierarchy:
            return {**hierarchy, "file": os.path.relpath(self._folder / hierarchy["file"], folder)}
        return hierarchy
