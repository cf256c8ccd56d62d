"""A project as one folder: what was decided and what was released, without the data.

NAME/project.json     the file, the roles, the guarantee and the list of releases
NAME/schema.yaml      the roles as a schema; hierarchies/ has its hierarchies
NAME/runs/RELEASE/    the released file, its report, its schema and the recipe
NAME/data/            the file itself, only if its owner asks for it
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from shoal.errors import InputError, OutputError, unknown
from shoal.files.schema import check_spec
from shoal.methods.algorithm import make
from shoal.methods.registry import METHODS
from shoal.support.documents import read_json
from shoal.support.file_names import below, file_name, inside, new_inside
from shoal.support.files import replace_file
from shoal.support.options import check_choice
from shoal.table.column import Kind, Role
from shoal.table.hierarchy import Hierarchy, Origin
from shoal.web.project.column_roles import ROLES, ColumnInfo
from shoal.web.project.guarantee import SENTENCES, Guarantee, Sentence
from shoal.web.project.project import Project
from shoal.web.project.releasing import KEPT, SCHEMA
from shoal.web.project.runs import Run, schema_of
from shoal.web.project.topics import Topic
from shoal.web.uploads import table_suffix

STATE = "project.json"
FORMAT = {"name": "shoal-web-project", "version": 1}
_TEXT = (str, None)
_COLUMN = {
    "role": str,
    "kind": str,
    "replace": ({str: object}, None),
    "missing_codes": [str],
    "order": ([object], None),
    "declared": {str: object},
}
_GUARANTEE = {
    "k": int,
    "sentences": [{"model": str, "column": str, "value": float}],
    "method": str,
    "options": {str: object},
    "escape_formulas": bool,
    "public_groups": bool,
}
_SOURCE = {
    "path": _TEXT,
    "name": str,
    "form": {
        "delimiter?": _TEXT,
        "quote?": _TEXT,
        "encoding?": _TEXT,
        "header?": (bool, None),
        "missing?": [str],
        "decimal?": _TEXT,
        "dates?": _TEXT,
        "trim?": (bool, None),
        "sheet?": _TEXT,
    },
    "person": [str],
    "household": [str],
    "rows_are_people": bool,
}
_RUN = {
    "name": str,
    "folder": str,
    "guarantee": _GUARANTEE,
    "summary": {
        "quasi?": [str],
        "options?": {"max_suppression?": float, str: object},
        "node?": ({str: int}, None),
        "no_report?": _TEXT,
        str: object,
    },
    "files": {
        "release": str,
        "json": str,
        "report?": str,
        "schema": str,
        "command": str,
        "python": str,
    },
}
_STATE = {
    "format": object,
    "source": _SOURCE,
    "columns": {str: _COLUMN},
    "hierarchies": {str: {"file": str, "origin": str, "recipe?": _TEXT}},
    "guarantee": _GUARANTEE,
    "key_file": _TEXT,
    "domain": str,
    "runs": [_RUN],
}


def home() -> Path:
    """Return the folder in which projects are saved by default."""
    return Path.home() / "Shoal"


def list_projects(folder: Path | None = None) -> list[Path]:
    """Return the saved projects of a folder, the latest first.

    Parameters:
        folder: The folder, by default `home()`.
    """
    found = (folder or home()).glob(f"*/{STATE}")
    return [path.parent for path in sorted(found, key=lambda p: p.stat().st_mtime, reverse=True)]


def save(project: Project, folder: Path, *, with_data: bool = False) -> None:
    """Save a project in a folder; one that is another project's, or not empty, is refused.

    Parameters:
        project: The project.
        folder: The folder.
        with_data: Whether to copy the file with the raw data, too.

    Raises:
        OutputError: The folder cannot be written.
    """
    assert project.source is not None
    if folder.exists() and folder != project.folder and any(folder.iterdir()):
        raise OutputError(f"{folder}: is not empty; choose a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(project, folder, with_data=with_data)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror})") from None
    project.folder = folder
    project.touch(Topic.SAVED)


def _write(project: Project, folder: Path, *, with_data: bool) -> None:
    source = project.source
    assert source is not None
    path = source.path
    if with_data:
        (folder / "data").mkdir(exist_ok=True, mode=0o700)
        ending = table_suffix(source.name)
        stem = source.name.removesuffix(ending) or source.name
        path = new_inside(folder / "data", f"{file_name(stem, 'table')}{ending}")
        if source.path != path:
            shutil.copyfile(source.path, path)
            path.chmod(0o600)
    schema = schema_of(project, folder)
    with replace_file(folder / SCHEMA, force=True) as temporary:
        temporary.write_text(schema, encoding="utf-8")
    state = {
        "format": FORMAT,
        "source": {
            "path": None if source.uploaded and not with_data else str(path.absolute()),
            "name": source.name,
            "form": dict(source.form),
            **source.units,
        },
        "columns": {
            column.name: {field: getattr(column, field) for field in _COLUMN}
            for column in project.columns
        },
        "hierarchies": _saved_trees(project, folder),
        "guarantee": _plain(project.guarantee),
        "key_file": None if project.key_file is None else str(project.key_file),
        "domain": project.domain,
        "runs": [_save_run(run, folder) for run in project.runs if run.state == "done"],
    }
    with replace_file(folder / STATE, force=True) as temporary:
        temporary.write_text(json.dumps(state, indent=2, ensure_ascii=False), encoding="utf-8")


def _saved_trees(project: Project, folder: Path) -> dict[str, dict[str, Any]]:
    """Write every edited hierarchy, also of columns with another role, and return their files."""
    from shoal.inspection.recipes import name_files

    files = name_files(project.hierarchies)
    if files:
        (folder / "hierarchies").mkdir(exist_ok=True)
    for name, file in files.items():
        project.hierarchies[name].write(new_inside(folder / "hierarchies", file), force=True)
    return {
        name: {
            "file": f"hierarchies/{file}",
            "origin": project.hierarchies[name].origin,
            "recipe": _recipe(project.hierarchies[name]),
        }
        for name, file in files.items()
    }


def _recipe(tree: Hierarchy) -> str | None:
    """Return the recipe of a hierarchy as text, None if it has none."""
    return tree.source if isinstance(tree.source, str) else None


def _plain(guarantee: Guarantee) -> dict[str, Any]:
    return {**asdict(guarantee), "options": dict(guarantee.options)}


def _save_run(run: Run, folder: Path) -> dict[str, Any]:
    """Copy the files of a run, without what is kept for the session only."""
    kept = new_inside(folder / "runs", run.folder.name)
    if kept != run.folder:
        shutil.copytree(run.folder, kept, ignore=shutil.ignore_patterns(KEPT), dirs_exist_ok=True)
    return {
        "name": run.name,
        "folder": run.folder.name,
        "guarantee": _plain(run.guarantee),
        "summary": run.summary,
        "files": {kind: path.name for kind, path in run.files.items()},
    }


async def resume(project: Project, folder: Path) -> None:
    """Continue a saved project; the file is opened again where it was.

    If the file is gone, the project has its decisions and releases, and `problem` says what to do.

    Parameters:
        project: The project to fill.
        folder: The folder that it was saved in.

    Raises:
        InputError: The folder has no project.
    """
    state = _read(folder)
    stated = state["source"]
    path = None if stated["path"] is None else Path(stated["path"])
    if path is None or not path.is_file():
        project.forget()
        project.pending = folder
        project.problem = (
            f"{stated['name']} was uploaded or is no longer on this computer; open it again to "
            "continue the project"
        )
        project.touch(Topic.SOURCE)
        return
    await project.open(path, name=stated["name"], **stated["form"])
    apply(project, folder)


def apply(project: Project, folder: Path) -> None:
    """Apply the decisions of a saved project to the opened file, all or none.

    Parameters:
        project: The project, whose file is open.
        folder: The folder of the saved project.

    Raises:
        InputError: The state is wrong; the message names the part.
    """
    state = _read(folder)
    if project.source is None or not len(project.columns):
        return
    where, stated = f"{folder / STATE}: ", state["source"]
    for unit in ("person", "household"):
        for name in stated[unit]:
            if name not in project.columns:
                raise InputError(f"{where}source.{unit} names no column of the file")
    columns = {
        name: _column(project.columns[name], fields, f"{where}columns.{name}")
        for name, fields in state["columns"].items()
        if name in project.columns
    }
    trees = {name: _tree(entry, folder, f"{where}hierarchies.{name}")
             for name, entry in state["hierarchies"].items()}  # fmt: skip
    guarantee = _guarantee(state["guarantee"], f"{where}guarantee")
    for sentence in guarantee.sentences:
        if sentence.column not in project.columns:
            raise InputError(f"{where}guarantee.sentences names no column of the file")
    # everything is read and checked before anything changes
    runs = [_run(entry, folder, f"{where}runs[{n}]") for n, entry in enumerate(state["runs"])]
    project.source = replace(
        project.source,
        person=tuple(stated["person"]),
        household=tuple(stated["household"]),
        rows_are_people=stated["rows_are_people"],
    )
    for name, fields in columns.items():
        project.columns.change([name], **fields)
    project.hierarchies, project.guarantee, project.runs = trees, guarantee, runs
    project.key_file = None if state["key_file"] is None else Path(state["key_file"])
    project.domain = state["domain"]
    project.folder, project.pending, project.problem = folder, None, ""
    project.touch(Topic.SOURCE, Topic.COLUMNS, Topic.HIERARCHIES, Topic.GUARANTEE, Topic.RUNS)
    project.refresh()


def _read(folder: Path) -> dict[str, Any]:
    if not (folder / STATE).is_file():
        raise InputError(f"{folder}: is not the folder of a saved project")
    state: dict[str, Any] = read_json(folder / STATE, _STATE)
    if state["format"] != FORMAT:
        raise InputError(f"{folder / STATE}: was written by another version of Shoal")
    return state


def _column(column: ColumnInfo, fields: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the fields of a column, if they make a valid entry of a schema."""
    found: dict[str, Any] = {n: tuple(p) if isinstance(p, list) else p for n, p in fields.items()}
    if found["role"] not in ROLES or found["kind"] not in list(Kind):
        raise InputError(f"{where}: its role or kind is unknown")
    changed = replace(column, **found)
    for role in (found["role"], Role.QUASI, Role.IDENTIFIER):  # it may become these
        spec = replace(changed, role=role).spec
        if spec is not None:
            check_spec(f"{where}: ", column.name, spec)
    return found


def _tree(entry: Mapping[str, Any], folder: Path, where: str) -> Hierarchy:
    if entry["origin"] not in get_args(Origin):
        raise InputError(f"{where}.origin must be one of {', '.join(get_args(Origin))}")
    recipe = entry.get("recipe")
    if recipe is not None:
        try:
            known = isinstance(json.loads(recipe), dict)
        except (ValueError, RecursionError):
            known = False
        if not known:
            raise InputError(f"{where}.recipe is not a recipe; set it to null")
    tree = Hierarchy.read(below(folder, entry["file"], f"{where}.file"))
    return replace(tree, origin=entry["origin"], source=recipe)


def _guarantee(stated: Mapping[str, Any], where: str) -> Guarantee:
    """Return a guarantee, if its models and its method exist and accept their options."""
    sentences = tuple(Sentence(**each) for each in stated["sentences"])
    made = Guarantee(**{**stated, "sentences": sentences})
    try:
        for sentence in sentences:
            check_choice("sentences: model", sentence.model, SENTENCES)
            sentence.build()
        if made.method not in METHODS:
            raise unknown("no method", made.method, METHODS)
        make(METHODS[made.method], made.options)
        made.model  # noqa: B018  raises an error for a wrong k
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return made


def _run(entry: Mapping[str, Any], folder: Path, where: str) -> Run:
    kept = inside(folder / "runs", entry["folder"], f"{where}.folder")
    files = {n: inside(kept, file, f"{where}.files.{n}") for n, file in entry["files"].items()}
    made = _guarantee(entry["guarantee"], f"{where}.guarantee")
    return Run(entry["name"], made, kept, "done", 1.0, "", entry["summary"], files)
