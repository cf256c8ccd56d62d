"""Studies of releases: jobs whose results stay in the project, so that every tab sees them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.web.project.topics import Topic

if TYPE_CHECKING:
    from shoal.web.project.project import Project
    from shoal.web.project.runs import Job


@dataclass(eq=False)
class Study:
    """One study: a question about a release, and the job that answers it.

    Parameters:
        kind: What is studied, such as `risk`.
        of: The name of the release.
        key: What was asked; another question starts another study.
        job: The work.
    """

    kind: str
    of: str
    key: Hashable
    job: Job

    @property
    def state(self) -> str:
        """`running`, `done`, `failed` or `cancelled`."""
        return str(self.job.state)

    @property
    def result(self) -> Any:
        """The result, None unless it is done."""
        return self.job.result if self.state == "done" else None


class Studies:
    """The studies of a project, the latest of each kind and release.

    Parameters:
        project: The project, which starts the jobs and reports changes as `STUDIES`.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._studies: dict[tuple[str, str], Study] = {}

    def __getitem__(self, asked: tuple[str, str]) -> Study | None:
        return self._studies.get(asked)

    def begin(
        self, kind: str, of: str, task: Callable[..., Any], *arguments: Any, key: Hashable = None
    ) -> Study:
        """Start a study, unless the same one is running or done.

        Parameters:
            kind: What is studied.
            of: The name of the release.
            task: The function that the job calls.
            arguments: Its arguments.
            key: What is asked.
        """
        present = self._studies.get((kind, of))
        if present is not None and present.state in ("running", "done") and present.key == key:
            return present
        self.forget(kind, of)
        study = Study(kind, of, key, self._project.start_job(task, *arguments))
        self._studies[kind, of] = study
        study.job.on_change = lambda: self._changed(study)
        self._changed(study)
        return study

    def forget(self, kind: str, of: str) -> None:
        """Drop a study, and stop its job.

        Parameters:
            kind: What was studied.
            of: The name of the release.
        """
        present = self._studies.pop((kind, of), None)
        if present is not None and present.state == "running":
            present.job.cancel()

    def clear(self) -> None:
        """Drop all studies, after another file was opened."""
        for kind, of in list(self._studies):
            self.forget(kind, of)

    def _changed(self, study: Study) -> None:
        if self._studies.get((study.kind, study.of)) is study:
            self._project.touch(Topic.STUDIES)
