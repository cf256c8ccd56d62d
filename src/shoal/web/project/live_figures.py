"""The live figures of a project: counted, estimated, then exact, and again after each change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.errors import ShoalError
from shoal.web.project import feedback
from shoal.web.project.feedback import Figures, Outlook
from shoal.web.project.guarantee import PRIVATE
from shoal.web.project.levels import stated_levels
from shoal.web.project.private_draw import foresee_draw
from shoal.web.project.topics import Topic

if TYPE_CHECKING:
    from shoal.web.project.project import Project


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
