"""The live figures of a project: counted, estimated, then exact, and again after each change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.errors import ShoalError
from shoal.web.project import feedback
from shoal.web.project.feedback import Figures, Outlook
from shoal.web.project.private_draw import PRIVATE, foresee_draw

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
        """Count groups, estimate on a sample what a release keeps, then find it exactly."""
        project = self._project
        table, wanted = project.table, project.guarantee
        try:
            asked = (table, str(wanted.model), wanted.method, dict(wanted.options))
            bare = replace(table, hierarchies={})  # groups of the values as they are
            source, width = project.source, len(project.columns.quasi)
            assert source is not None
            outlook = None
            if source.on_disk:  # an estimate first: all rows take longer
                outlook = await project.ask(feedback.foresee, *asked)
                self._show(Figures(None, outlook))
            groups = await project.ask(feedback.count_groups, bare, wanted.k)
            self._show(replace(project.figures, groups=groups))
            if wanted.method == PRIVATE:  # nothing is drawn before it is asked for
                self._show(Figures(groups, foresee_draw(project)))
                return
            if outlook is None:
                outlook = await project.ask(feedback.foresee, *asked)
                self._show(Figures(groups, outlook))
            quick = feedback.is_quick(wanted.method, groups.rows, width, on_disk=source.on_disk)
            if not outlook.exact and quick:
                outlook = await project.ask(feedback.foresee, *asked, None)
                self._show(Figures(groups, outlook))
        except ShoalError as error:
            self._show(replace(project.figures, outlook=Outlook(problem=str(error))))

    def _show(self, figures: Figures) -> None:
        from shoal.web.project.project import Topic

        self._project.figures = figures
        self._project.touch(Topic.FIGURES)
