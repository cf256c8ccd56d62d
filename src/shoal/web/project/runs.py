"""Named releases: what was asked, how far it is, its files, and the recipe that repeats it.

prepare → Run    a folder with the schema, its hierarchies, repeat.sh and repeat.py
start            the job that makes the release; the project reports every change
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from shoal.errors import InputError
from shoal.inspection.recipes import name_files, schema_entry
from shoal.inspection.schemas import dump_schema
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.models import parse
from shoal.support.file_names import file_name, new_inside
from shoal.table.hierarchy import Hierarchy
from shoal.web.project.guarantee import PRIVATE, Guarantee
from shoal.web.project.releasing import REPORT, REPORT_DATA, SCHEMA, RunRequest, make_release
from shoal.web.project.topics import Topic

if TYPE_CHECKING:
    from shoal.web.project.project import Project


State = Literal["running", "done", "failed", "cancelled"]


class Job(Protocol):
    """Work in another process, as `shoal.web.jobs` starts it."""

    state: State
    fraction: float | None
    text: str
    result: Any
    error: str
    on_change: Callable[[], None] | None

    def cancel(self) -> None:
        """Stop the work."""


Starter = Callable[..., Job]  # start(task, *arguments)


@dataclass
class Run:
    """One release of the project.

    Parameters:
        name: Its name, unique in the project.
        guarantee: What was asked.
        folder: Its folder: schema, hierarchies, and the files of `files`.
        state: `running`, `done`, `failed` or `cancelled`.
        fraction: How far it is, from 0 to 1; None while unknown.
        text: What it is doing, or why it failed, without cell values.
        summary: The main figures, once it is done.
        files: The written files by kind: `release`, `report`, `json`, `schema`, `command`,
            `python`.
        request: Everything that determines the release.
        job: The work, while it runs.
    """

    name: str
    guarantee: Guarantee
    folder: Path
    state: State = "running"
    fraction: float | None = None
    text: str = ""
    summary: dict[str, Any] | None = None
    files: dict[str, Path] = field(default_factory=dict)
    request: RunRequest | None = None
    job: Job | None = None


def schema_of(project: Project, folder: Path) -> str:
    """Return the schema of a project as YAML, and write its hierarchies into a folder.

    Parameters:
        project: The project.
        folder: The folder that the schema will be in.

    Returns:
        The text of the schema.
    """
    assert project.source is not None
    trees = project.trees
    if project.guarantee.public_groups:
        made = {name: tree for name, tree in trees.items() if isinstance(tree, Hierarchy)}
        trees |= {name: replace(tree, origin="file") for name, tree in made.items()}
    edited = [name for name, tree in trees.items() if isinstance(tree, Hierarchy)]
    files = name_files(edited)
    columns: dict[str, Any] = {}
    for name, spec in project.columns.specs.items():
        tree = trees.get(name)
        columns[name] = dict(spec)
        if isinstance(tree, Hierarchy):
            (folder / "hierarchies").mkdir(exist_ok=True)
            tree.write(new_inside(folder / "hierarchies", files[name]), force=True)
            columns[name]["hierarchy"] = schema_entry(f"hierarchies/{files[name]}", tree)
        elif tree is not None:
            columns[name]["hierarchy"] = tree
    source = project.source
    units = {"person": list(source.person), "household": list(source.household)}
    named = {what: names[0] if len(names) == 1 else names for what, names in units.items() if names}
    form = dict(source.form)
    if project.guarantee.method == PRIVATE:  # its claim must not depend on what was detected
        form = {**source.detected, **form}
    file = {"file": form} if form else {}
    return dump_schema({**file, **named, "columns": columns})


def prepare(project: Project, name: str = "") -> Run:
    """Write what determines a release into a new folder of the workspace.

    Parameters:
        project: The project.
        name: The name of the release, by default `Release 1` and so on.

    Returns:
        The run, which is not started.
    """
    assert project.source is not None
    name = name.strip() or f"Release {len(project.runs) + 1}"
    if name in {run.name for run in project.runs}:
        raise InputError("a release of this name exists; choose another name")
    number = len(project.runs) + 1
    folder = project.workspace / "runs" / f"{number}-{file_name(name, 'release', '-')}"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, mode=0o700)
    (folder / SCHEMA).write_text(schema_of(project, folder), encoding="utf-8")
    source = project.source
    ending = ".parquet" if source.path.suffix.lower() in (".parquet", ".pq") else ".csv"
    output = f"{file_name(source.stem, 'table', '-')}-anonymous{ending}"
    request = _request(project, project.guarantee, folder, output)
    files = {"schema": folder / SCHEMA, **write_recipe(request, _as_named(project))}
    return Run(name, project.guarantee, folder, files=files, request=request)


def request_of(project: Project, run: Run) -> RunRequest:
    """Return everything that determines a release; that of a resumed project is composed again.

    Parameters:
        project: The project.
        run: The release, which is done.
    """
    if run.request is not None:
        return run.request
    output, reported = run.files["release"].name, "report" in run.files
    return _request(project, run.guarantee, run.folder, output, reported=reported)


def _request(
    project: Project, wanted: Guarantee, folder: Path, output: str, *, reported: bool = True
) -> RunRequest:
    source = project.source
    assert source is not None
    request = RunRequest(
        source=source.path,
        folder=folder,
        output=output,
        model=str(wanted.model),
        method=wanted.method,
        options=dict(wanted.options),
        rows_are_people=source.rows_are_people,
        key_file=project.key_file,
        domain=project.domain,
        escape_formulas=wanted.escape_formulas,
        title=f"Release of {source.name}",
        memory=project.budget,
        reported=reported,
    )
    return replace(request, command=command_line(request, _as_named(project)))


def start(project: Project, run: Run, start_job: Starter) -> None:
    """Start a run and follow it; the project reports every change.

    Parameters:
        project: The project.
        run: A prepared run.
        start_job: Starts a task in another process.
    """
    assert run.request is not None
    job = start_job(make_release, run.request)

    def changed() -> None:
        run.state, run.fraction, run.text = job.state, job.fraction, job.text
        if job.state == "done":
            run.summary = dict(job.result)
            if "no_report" in job.result:
                run.summary["no_report"] = project.shown(job.result["no_report"])
            assert run.request is not None
            folder = run.folder
            run.files |= {"release": folder / run.request.output, "json": folder / REPORT_DATA}
            if (folder / REPORT).exists():
                run.files["report"] = folder / REPORT
            else:  # it is refused for some tables on disk
                run.request = replace(run.request, reported=False)
                write_recipe(run.request, _as_named(project))
        elif job.state == "failed":
            run.text = project.shown(job.error)
        if job.state != "running":
            run.job = None
        project.touch(Topic.PROGRESS if job.state == "running" else Topic.RUNS)

    run.job = job
    job.on_change = changed
    project.runs.append(run)
    project.touch(Topic.RUNS)


def _as_named(project: Project) -> str:
    """Return the file as its owner names it."""
    assert project.source is not None
    return project.source.name if project.source.uploaded else str(project.source.path)


COMMAND = "repeat.sh"
PYTHON = "repeat.py"


def command_line(request: RunRequest, source: str) -> str:
    """Return the command that repeats a release, to run in the folder of its schema.

    Parameters:
        request: What was released.
        source: The file as the owner names it.

    Returns:
        One line for a shell.

    >>> request = RunRequest(Path("a.csv"), Path("run"), "out.csv", "k-anonymity(5)")
    >>> command_line(request, "a.csv").partition(" --method")[0]
    'shoal anonymize a.csv --schema schema.yaml -k 5'
    """
    words = ["shoal", "anonymize", source, "--schema", SCHEMA]
    for part in parse(request.model).parts:
        words += ["-k", str(part.k)] if type(part) is KAnonymity else ["--model", str(part)]
    words += ["--method", request.method]
    for name, value in request.options.items():
        words += ["-O", f"{name.replace('_', '-')}={json.dumps(value)}"]
    if request.rows_are_people:
        words.append("--rows-are-people")
    if request.key_file is not None:
        words += ["--key-file", str(request.key_file)]
    if request.domain:
        words += ["--domain", request.domain]
    if request.escape_formulas:
        words.append("--escape-formulas")
    if request.memory is not None:
        words += ["--engine", "duckdb", "--memory", str(request.memory)]
    words += ["-o", request.output]
    if request.reported:
        words += ["--report", REPORT, "--title", request.title]
    return shlex.join(words)


def python_code(request: RunRequest, source: str) -> str:
    """Return the Python program that repeats a release, to run in the folder of its schema.

    Parameters:
        request: What was released.
        source: The file as the owner names it.

    Returns:
        A program that writes the released file and its report.
    """
    reading = [repr(source), f"schema={SCHEMA!r}"]
    if request.rows_are_people:
        reading.append("rows_are_people=True")
    if request.memory is not None:
        reading.append(f"memory={request.memory}")
    read = "read" if request.memory is None else "open"
    keywords: dict[str, Any] = {"method": request.method, **request.options}
    asked = ["table", repr(str(parse(request.model)))]
    asked += [f"{name}={value!r}" for name, value in keywords.items()]
    if request.key_file is not None:
        asked.append(f"key=shoal.identifiers.Key.read({str(request.key_file)!r})")
    if request.domain:
        asked.append(f"domain={request.domain!r}")
    writing = [repr(request.output)]
    if request.escape_formulas:
        writing.append("escape_formulas=True")
    reporting = f"{REPORT!r}, title={request.title!r}, released={request.output!r}"
    steps = [
        f"table = shoal.{read}({', '.join(reading)})",
        f"release = shoal.anonymize({', '.join(asked)})",
        f"release.write({', '.join(writing)})",
    ]
    if request.reported:
        steps.append(f"release.report({reporting})")
    return "\n".join(["import shoal", "", *steps, ""])


def write_recipe(request: RunRequest, source: str) -> dict[str, Path]:
    """Write the command line and the program into the folder of a run.

    Parameters:
        request: What is released.
        source: The file as the owner names it.

    Returns:
        The files, by kind: `command` and `python`.
    """
    command, program = request.folder / COMMAND, request.folder / PYTHON
    command.write_text(f"{command_line(request, source)}\n", encoding="utf-8")
    program.write_text(python_code(request, source), encoding="utf-8")
    return {"command": command, "python": program}
