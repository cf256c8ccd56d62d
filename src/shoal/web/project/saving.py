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
from typing import Any

from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.errors import InputError, OutputError
from shoal.support.file_names import below, file_name, inside, new_inside
from shoal.support.files import replace_file
from shoal.web.file_names import table_suffix
from shoal.web.project.guarantee import Guarantee, Sentence
from shoal.web.project.project import Project
from shoal.web.project.releasing import KEPT, SCHEMA
from shoal.web.project.runs import Run, schema_of
from shoal.web.project.topics import Topic

STATE = "project.json"
FORMAT = {"name": "shoal-web-project", "version": 1}
_COLUMN_FIELDS = ("role", "kind", "replace", "missing_codes", "order", "declared")


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
            column.name: {field: getattr(column, field) for field in _COLUMN_FIELDS}
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
    from shoal.inspection.drafts import name_files

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
            f"{stated['name']} is not on this computer any more or was uploaded; open it again to "
            "continue the project"
        )
        project.touch(Topic.SOURCE)
        return
    await project.open(path, name=stated["name"], **stated["form"])
    apply(project, folder)


def apply(project: Project, folder: Path) -> None:
    """Apply the decisions of a saved project to the opened file.

    Parameters:
        project: The project, whose file is open.
        folder: The folder of the saved project.
    """
    state = _read(folder)
    if project.source is None or not len(project.columns):
        return
    stated = state["source"]
    project.source = replace(
        project.source,
        person=tuple(stated["person"]),
        household=tuple(stated["household"]),
        rows_are_people=bool(stated["rows_are_people"]),
    )
    for name, fields in state["columns"].items():
        if name in project.columns:
            lists = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
            project.columns.change([name], **lists)
    project.hierarchies = {
        name: replace(
            Hierarchy.read(below(folder, entry["file"], "hierarchy")),
            origin=entry["origin"],
            source=entry.get("recipe"),
        )
        for name, entry in state["hierarchies"].items()
    }
    project.guarantee = _guarantee(state["guarantee"])
    project.key_file = None if state["key_file"] is None else Path(state["key_file"])
    project.domain = state["domain"]
    project.runs = [_run(entry, folder) for entry in state["runs"]]
    project.folder, project.pending, project.problem = folder, None, ""
    project.touch(Topic.SOURCE, Topic.COLUMNS, Topic.HIERARCHIES, Topic.GUARANTEE, Topic.RUNS)
    project.refresh()


def _read(folder: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"{folder}: is not the folder of a saved project") from None
    except ValueError:
        raise InputError(f"{folder / STATE}: is damaged") from None
    if state.get("format") != FORMAT:
        raise InputError(f"{folder / STATE}: was written by another version of Shoal")
    return state


def _guarantee(stated: Mapping[str, Any]) -> Guarantee:
    sentences = tuple(Sentence(**each) for each in stated["sentences"])
    return Guarantee(**{**stated, "sentences": sentences})


def _run(entry: Mapping[str, Any], folder: Path) -> Run:
    kept = inside(folder / "runs", entry["folder"], "release")
    files = {kind: inside(kept, name, "file") for kind, name in entry["files"].items()}
    made = _guarantee(entry["guarantee"])
    return Run(entry["name"], made, kept, "done", 1.0, "", entry["summary"], files)
