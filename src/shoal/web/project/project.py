"""The project: the single state from which every page is drawn.

open → look → examine     a file with its columns and suggested roles
set_role, promise, …      decisions; each touches its topics, and pages draw again
refresh → LiveFigures     groups counted, a release estimated, then exact figures
start_run → runs          a release, made by a job in another process
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.table.hierarchy import Hierarchy
from shoal.web.project import feedback, opening, runs
from shoal.web.project.analyst import Analyst, FileRequest, TableRequest
from shoal.web.project.column_roles import ColumnInfo, Columns
from shoal.web.project.editors import Editors
from shoal.web.project.feedback import Figures, Outlook, foresee_draw
from shoal.web.project.guarantee import PRIVATE, Guarantee, obstacle_to, usual_sentences
from shoal.web.project.lattice import stated_levels
from shoal.web.project.opening import Source
from shoal.web.project.runs import Run, Starter
from shoal.web.project.studies import Studies
from shoal.web.project.topics import Announcer, Step, Topic


class Project(Announcer):
    """The opened file, the roles of its columns, their hierarchies, the guarantee and its releases.

    All pages of a server share one project, so that a reload or a second tab sees the same state.
    It is changed in the event loop only. After a change, `touch` calls every listener.

    Parameters:
        workspace: A private folder for uploads and results.
        start_job: Starts a task in another process, by default `shoal.web.jobs.start`.
        memory: The memory for a table, such as `4GB`; rows of a larger table stay on disk. By
            default a share of the machine's.

    Attributes:
        source: The opened file, None before one is opened.
        columns: Its columns with their roles.
        hierarchies: The hierarchy of each quasi-identifier that has one; others use the recipe of
            their column, if it has one.
        editors: The hierarchy editors, which keep what can be undone.
        guarantee: What the release promises.
        figures: Smallest group, people at risk and cells kept, as far as they are known.
        runs: The releases, oldest first.
        studies: Questions about releases, and the jobs that answer them.
        answers: The questionnaire of the evidence pack, by question.
        areas: The number of people in each three-digit area of ZIP codes, for the evidence pack.
        busy: What the project is waiting for, in words; empty if for nothing.
        problem: Why the last file could not be opened, in one sentence.
        run_name: The name of the next release, if it is chosen.
        folder: The folder that the project is saved in, None if it is not saved.
        pending: A saved project that continues once its file is opened again.
        key_file: The file with the secret key of pseudonyms, if there is one.
        domain: The recipient or project of pseudonyms.
        dark: Whether the pages are dark; None follows the system.
        analyst: The process that has the table; ask it questions with `ask`.
    """

    def __init__(
        self, workspace: Path, start_job: Starter | None = None, memory: str | None = None
    ) -> None:
        super().__init__()
        self.workspace = workspace
        self.memory = memory
        self.start_job: Starter = start_job or _start_process
        self.analyst = Analyst(workspace)
        self.dark: bool | None = None
        self._live = LiveFigures(self)
        self.editors = Editors()
        self.studies = Studies(self)
        self._set_empty()

    def _set_empty(self) -> None:
        self._live.stop()
        self.source: Source | None = None
        self._looked_at: Source | None = None  # also while it is opened, and if that fails
        self.columns = Columns()
        self.hints: tuple[Mapping[str, Any], ...] = ()
        self.hierarchies: dict[str, Hierarchy] = {}
        self.editors.clear()
        self.studies.clear()
        self.answers: dict[str, str] = {}
        self.areas: dict[str, int] = {}
        self.guarantee = Guarantee()
        self.figures = Figures()
        self.runs: list[Run] = []
        self.busy = ""
        self.problem = ""
        self.run_name = ""
        self.folder: Path | None = None
        self.pending: Path | None = None
        self.key_file: Path | None = None
        self.domain = ""

    def is_ready(self, step: Step) -> bool:
        """Return whether a screen has what it needs."""
        return not self.obstacle(step)

    def obstacle(self, step: Step) -> str:
        """Return why a screen is not open yet, in one sentence; empty if it is."""
        return obstacle_to(self, step)

    async def ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Ask the analyst a question and wait for the answer; the server stays responsive.

        Parameters:
            question: A function of an importable module, `question(desk, *arguments)`.
            arguments: Its other arguments.

        Returns:
            The answer.

        Raises:
            ShoalError: The question has no answer; the message has no cell values and no path in
                the workspace.
        """
        try:
            return await asyncio.wrap_future(self.analyst.ask(question, *arguments))
        except ShoalError as error:
            error.args = (self.shown(str(error)),)
            raise

    def shown(self, message: str) -> str:
        """Return a message about files, with the names that their owner knows.

        Parameters:
            message: A message that may contain the path of the opened file or of another file in
                the workspace, whose names are random.
        """
        # an upload has a random name, and its owner knows another one
        for source in (self.source, self._looked_at):
            if source is not None:
                message = message.replace(str(source.path), source.name)
        folders = {str(self.workspace), os.path.realpath(self.workspace)}
        for folder in sorted(folders, key=len, reverse=True):  # one may be a part of the other
            inside = rf"{re.escape(folder)}([/\\][^\s:;,'\"]*)?"
            message = re.sub(inside, "the temporary file", message)
        return message

    @property
    def file(self) -> FileRequest:
        """The opened file, for questions to the analyst."""
        assert self.source is not None
        return FileRequest(self.source.path, self.form, self.memory)

    @property
    def budget(self) -> int | None:
        """The bytes of memory for a release whose rows stay on disk; None if it is in memory."""
        from shoal.rows.memory import Budget

        on_disk = self.source is not None and self.source.on_disk
        return Budget.parse(self.memory).size if on_disk else None

    @property
    def form(self) -> dict[str, Any]:
        """How the file is read: its settings, and the codes that mean missing, by column."""
        assert self.source is not None
        coded = {c.name: c.missing_codes for c in self.columns if c.missing_codes}
        return {**self.source.form, **({"missing_in": coded} if coded else {})}

    @property
    def table(self) -> TableRequest:
        """The table with its roles and hierarchies, for questions to the analyst."""
        assert self.source is not None
        return TableRequest(self.file, self.columns.specs, self.trees, self.source.units)

    @property
    def trees(self) -> dict[str, Any]:
        """The hierarchy of each quasi-identifier: the edited one, or else its suggested recipe."""
        found: dict[str, Any] = {}
        for column in self.columns:
            if column.role == "quasi" and column.name in self.hierarchies:
                tree = self.hierarchies[column.name]
                stated = isinstance(tree.source, str)  # its recipe, which has bounds of groups
                found[column.name] = json.loads(str(tree.source)) if stated else tree
            elif column.role == "quasi" and column.recipe is not None:
                found[column.name] = dict(column.recipe)
        return found

    async def open(
        self, path: Path, *, name: str = "", uploaded: bool = False, **form: Any
    ) -> None:
        """Open a file: first its beginning is shown, then all of it is described.

        Parameters:
            path: The file.
            name: The name that its owner knows, by default that of the path.
            uploaded: Whether the path is a copy in the workspace.
            form: Settings of the file, as options of `shoal.read`.
        """
        pending = self.pending
        self._set_empty()
        await self._look(Source(path, name or path.name, uploaded, form))

        if pending is not None:
            from shoal.web.project.saving import apply

            apply(self, pending)

    def forget(self) -> None:
        """Close the file, to open another; an upload is removed."""
        for run in self.runs:
            if run.job is not None:
                run.job.cancel()
        if self.source is not None and self.source.uploaded:
            self.source.path.unlink(missing_ok=True)
        self._set_empty()
        self.touch(*Topic)

    async def correct(self, **form: Any) -> None:
        """Read the opened file again with other settings; None means to detect a setting.

        Parameters:
            form: The settings, as options of `shoal.read`.
        """
        assert self.source is not None
        stated = {k: v for k, v in {**self.source.form, **form}.items() if v not in (None, (), "")}
        source = Source(self.source.path, self.source.name, self.source.uploaded, stated)
        self.hierarchies = {}
        self.editors.clear()
        await self._look(source)

    async def _look(self, source: Source) -> None:
        self.busy, self.problem = f"Opening {source.name}", ""
        self.columns, self.figures = Columns(), Figures()
        self.source, self._looked_at = None, source
        self.touch(Topic.SOURCE)
        try:
            found = await self.ask(opening.look, FileRequest(source.path, source.form))
            found["warnings"] = tuple(map(self.shown, found["warnings"]))
            self.source = replace(source, **found)
            self.busy = f"Reading all rows of {source.name}"
            self.touch(Topic.SOURCE)
            await self._examine()
        except ShoalError as error:
            self.problem = str(error)
            if self.source is None:  # so that its settings can be corrected
                sheets = await self._list_sheets(source.path)
                self.source = replace(source, size=_size(source.path), sheets=sheets)
        finally:
            self.busy = ""
            self.touch(Topic.SOURCE, Topic.COLUMNS)

    async def _list_sheets(self, path: Path) -> tuple[str, ...]:
        """Return the sheets of a file that could not be read, so that another one can be chosen."""
        try:
            sheets: tuple[str, ...] = await self.ask(opening.list_sheets, path)
        except ShoalError:
            return ()
        return sheets

    async def _examine(self) -> None:
        """Describe all columns of the opened file; roles that were chosen before are kept."""
        assert self.source is not None
        found = await self.ask(opening.examine, self.file, self.source.units)
        self.columns = Columns(ColumnInfo.of(column) for column in found["columns"])
        self.hints = tuple(found["hints"])
        self.source = replace(
            self.source,
            rows=found["records"],
            people=found["people"],
            about=found["about"],
            question=found["question"],
            person=tuple(found["person"]),
            household=tuple(found["household"]),
            sampled=found["sampled"],
            refused=tuple(found["refused"]),
        )
        self.guarantee = replace(self.guarantee, sentences=usual_sentences(self.columns))
        self.refresh()

    def set_person(self, columns: Sequence[str]) -> None:
        """State who the people are.

        Parameters:
            columns: The columns that identify a person; empty if every row is a different person.
        """
        assert self.source is not None
        self.columns.change([n for n in columns if n in self.columns], role="identifier")
        self.source = replace(self.source, person=tuple(columns), rows_are_people=not columns)
        self.touch(Topic.SOURCE, Topic.COLUMNS)
        self.refresh()

    def set_role(self, names: Sequence[str], role: str) -> None:
        """Give several columns a role; sentences about columns that are no longer sensitive go.

        Parameters:
            names: The columns.
            role: A role, or `left out`.
        """
        self.columns.set_role(names, role)
        gone = {s.column for s in self.guarantee.sentences} - set(self.columns.sensitive)
        stated = {s.column for s in self.guarantee.sentences}
        added = tuple(s for s in usual_sentences(self.columns) if s.column in names)
        kept = self.guarantee.without(gone)
        new = tuple(s for s in added if s.column not in stated)
        self.guarantee = replace(kept, sentences=(*kept.sentences, *new))
        self.touch(Topic.COLUMNS, Topic.GUARANTEE)
        self.refresh()

    def change_columns(self, names: Sequence[str], **changes: Any) -> None:
        """Change other fields of several columns, which are fields of `ColumnInfo`."""
        self.columns.change(names, **changes)
        self.touch(Topic.COLUMNS)
        self.refresh()

    def set_secret(self, **changes: Any) -> None:
        """Set `key_file`, which must be a key, or `domain`, the recipient of pseudonyms."""
        from shoal.identifiers.keys import Key

        if changes.get("key_file") is not None:
            Key.read(changes["key_file"])
        for name, value in changes.items():
            setattr(self, name, value)
        self.touch(Topic.COLUMNS)

    def set_hierarchy(self, name: str, hierarchy: Hierarchy | None) -> None:
        """Set the hierarchy of a column; None returns to the suggested one.

        Parameters:
            name: The column.
            hierarchy: Its hierarchy.
        """
        if hierarchy is None:
            self.hierarchies.pop(name, None)
        else:
            self.hierarchies[name] = hierarchy
        self.touch(Topic.HIERARCHIES)
        self.refresh()

    def promise(self, **changes: Any) -> None:
        """Change the guarantee or the method; the changes are fields of `Guarantee`."""
        self.guarantee = replace(self.guarantee, **changes)
        self.touch(Topic.GUARANTEE)
        self.refresh()

    def start_run(self, name: str = "") -> Run:
        """Start to create a release with the present roles, hierarchies and guarantee.

        Parameters:
            name: Its name, by default `Release 1` and so on.

        Returns:
            The run; the project reports its progress under the topic `RUNS`.

        Raises:
            InputError: The name is taken.
        """
        run = runs.prepare(self, name)
        runs.start(self, run, self.start_job)
        return run

    def refresh(self) -> None:
        """Find the live figures again; an answer that is still awaited is no longer wanted."""
        self._live.refresh()

    def close(self) -> None:
        """End the analyst."""
        self.analyst.close()


def _start_process(task: Callable[..., Any], *arguments: Any) -> Any:
    from importlib import import_module

    return import_module("shoal.web.jobs").start(task, *arguments)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


class LiveFigures:
    """Keeps `Project.figures` up to date.

    Parameters:
        project: The project, which reports new figures under the topic `FIGURES`.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._task: asyncio.Task[None] | None = None

    def refresh(self) -> None:
        """Find the figures again; an answer that is still awaited is no longer wanted."""
        self.stop()
        project = self._project
        if project.source is None or not project.columns.quasi:
            self._show(Figures())
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # outside the server, figures are found on request
            return
        self._task = loop.create_task(self.find())

    def stop(self) -> None:
        """Give up what is still awaited."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    async def find(self) -> None:
        """Count groups, estimate on a sample what a release keeps, then find it exactly.

        The groups at levels that are chosen by hand are counted first, on all rows. For a table on
        disk the estimate comes first, because all rows take longer.
        """
        project = self._project
        wanted, source = project.guarantee, project.source
        assert source is not None
        levels = stated_levels(wanted)
        try:
            if levels is not None:
                counted = await project.ask(feedback.count_groups, project.table, wanted.k, levels)
                self._show(replace(project.figures, levels=counted))
            else:
                self._show(replace(project.figures, levels=None))
            if wanted.method == PRIVATE:  # nothing is drawn before it is asked for
                self._show(replace(project.figures, outlook=foresee_draw(project)))
                await self._count()
                return
            if source.on_disk and levels is None:
                await self._estimate()
                await self._count()
            else:
                await self._count()
                if levels is None:
                    await self._estimate()
            await self._find_exactly(levels is not None)
            await self._price()
        except ShoalError as error:
            self._show(replace(project.figures, outlook=Outlook(problem=str(error))))

    @property
    def _asked(self) -> tuple[Any, ...]:
        wanted = self._project.guarantee
        return self._project.table, str(wanted.model), wanted.method, dict(wanted.options)

    async def _count(self) -> None:
        """Count the groups of the values as they are."""
        project = self._project
        table = project.table
        on_disk = project.source is not None and project.source.on_disk
        # groups of values as they are need no hierarchies, which take time to build
        bare = table if on_disk else replace(table, hierarchies={})
        groups = await project.ask(feedback.count_groups, bare, project.guarantee.k)
        self._show(replace(project.figures, groups=groups))

    async def _estimate(self) -> None:
        outlook = await self._project.ask(feedback.foresee, *self._asked)
        self._show(replace(self._project.figures, outlook=outlook))

    async def _find_exactly(self, stated: bool) -> None:
        """Find what a release of all rows keeps, if that is quick; stated: without a search."""
        project, outlook = self._project, self._project.figures.outlook
        source, width = project.source, len(project.columns.quasi)
        assert source is not None
        known = not stated and outlook is not None and outlook.exact
        rows, method = source.rows or 0, project.guarantee.method
        quick = feedback.is_quick(method, rows, width, on_disk=source.on_disk)
        if stated or (quick and not known):
            outlook = await project.ask(feedback.foresee, *self._asked, None)
            self._show(replace(project.figures, outlook=outlook))

    async def _price(self) -> None:
        """Estimate what each sentence of the guarantee costs."""
        project, wanted = self._project, self._project.guarantee
        if not wanted.sentences:
            return
        without = [
            replace(wanted, sentences=tuple(s for s in wanted.sentences if s is not each))
            for each in wanted.sentences
        ]
        models = [str(each.model) for each in (wanted, *without)]
        table, method, options = project.table, wanted.method, dict(wanted.options)
        if stated_levels(wanted) is not None:  # at fixed levels a sentence costs rows, not detail
            options = {name: value for name, value in options.items() if name != "levels"}
        whole, *others = await project.ask(feedback.estimate_costs, table, models, method, options)
        costs = {
            sentence: max(whole - other, 0.0)
            for sentence, other in zip(wanted.sentences, others, strict=True)
        }
        self._show(replace(project.figures, costs=costs))

    def _show(self, figures: Figures) -> None:
        outlook = figures.outlook
        if outlook is not None and outlook.problem:
            problem = self._project.shown(outlook.problem)
            figures = replace(figures, outlook=replace(outlook, problem=problem))
        self._project.figures = figures
        self._project.touch(Topic.FIGURES)
