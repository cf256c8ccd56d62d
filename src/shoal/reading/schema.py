"""The schema file: one place for roles, kinds, weights, bounds and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from shoal.core.files import read_text
from shoal.core.hierarchy import Hierarchy
from shoal.errors import InputError

_TOP = ("columns", "file")
_FILE = ("delimiter", "quote", "encoding", "missing")


@dataclass(frozen=True)
class Schema:
    """What is known of a table before it is read.

    columns: for each column its role and further options.
    file: delimiter, quote, encoding, missing of the data file, where stated.
    """

    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    file: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> Schema:
        """Read a YAML schema; hierarchy files are found beside it."""
        path = Path(path)
        try:
            data = yaml.safe_load(read_text(path))
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f"line {mark.line + 1}" if mark else "somewhere"
            raise InputError(f"{path}: {line} is not valid YAML") from None
        return cls.of(data, path)

    @classmethod
    def of(cls, data: Any, path: Path | None = None) -> Schema:
        """Check a schema given as plain data; `path` is where relative hierarchy files lie."""
        where = f"{path}: " if path else "schema: "
        if not isinstance(data, Mapping) or not isinstance(data.get("columns"), Mapping):
            raise InputError(f"{where}needs a mapping  columns: {{name: {{role: …}}}}")
        for key in data:
            if key not in _TOP:
                raise InputError(f"{where}unknown entry {key!r}; there are {', '.join(_TOP)}")
        columns = {}
        for name, told in data["columns"].items():
            spec = {"role": told} if isinstance(told, str) else told
            if not isinstance(spec, Mapping):
                raise InputError(f"{where}column {str(name)!r} needs a mapping such as role: quasi")
            columns[str(name)] = _with_hierarchy(dict(spec), path)
        file = data.get("file") or {}
        unknown = [key for key in file if key not in _FILE]
        if unknown:
            raise InputError(f"{where}unknown file option {unknown[0]!r}: {', '.join(_FILE)}")
        return cls(columns, dict(file))


def _with_hierarchy(spec: dict[str, Any], schema: Path | None) -> dict[str, Any]:
    if isinstance(spec.get("hierarchy"), (str, Path)):
        folder = schema.parent if schema else Path()
        spec["hierarchy"] = Hierarchy.read(folder / spec["hierarchy"])
    return spec
