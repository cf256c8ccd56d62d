"""The project: the single state from which every page is drawn."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.web.project.columns import Columns
from shoal.web.project.guarantee import Guarantee
from shoal.web.project.runs import Run
from shoal.web.project.source import Source

Listener = Callable[["Topic"], None]


class Step(StrEnum):
    """The five screens, in their order."""

    OPEN = "open"
    DESCRIBE = "describe"
    GROUP = "group"
    PROTECT = "protect"
    RELEASE = "release"


class Topic(StrEnum):
    """What changed in a project."""

    SOURCE = "source"
    COLUMNS = "columns"
    HIERARCHIES = "hierarchies"
    GUARANTEE = "guarantee"
    FIGURES = "figures"
    RUNS = "runs"
    SAVED = "saved"


class Project:
    """The opened file, the roles of its columns, their hierarchies, the guarantee and its releases.

    All pages of a server share one project, so that a reload or a second tab sees the same state.
    It is changed in the event loop only. After a change, `touch` calls every listener.

    Parameters:
        workspace: A private folder for uploads and results.

    Attributes:
        source: The opened file, None before one is opened.
        columns: Its columns with their roles.
        hierarchies: The hierarchy of each quasi-identifier that has one.
        guarantee: What the release promises.
        runs: The releases, oldest first.
        versions: For each topic, how often it changed.

    >>> from pathlib import Path
    >>> project, seen = Project(Path("workspace")), []
    >>> stop = project.subscribe(seen.append)
    >>> project.touch(Topic.GUARANTEE)
    >>> stop(); project.touch(Topic.GUARANTEE)
    >>> seen, project.versions[Topic.GUARANTEE]
    ([<Topic.GUARANTEE: 'guarantee'>], 2)
    """

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.source: Source | None = None
        self.columns = Columns()
        self.hierarchies: dict[str, Hierarchy] = {}
        self.guarantee = Guarantee()
        self.runs: list[Run] = []
        self.versions = dict.fromkeys(Topic, 0)
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener after each change; the returned function ends that.

        Parameters:
            listener: It takes the topic that changed.

        Returns:
            A function that unsubscribes the listener.
        """
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def touch(self, topic: Topic) -> None:
        """Report a change to all listeners.

        Parameters:
            topic: What changed.
        """
        self.versions[topic] += 1
        for listener in tuple(self._listeners):
            listener(topic)

    def is_ready(self, step: Step) -> bool:
        """Return whether a screen has what it needs.

        Parameters:
            step: The screen.

        Returns:
            True for Open; for the others whether a file is open, for Group values and Protect also
            whether a column is a quasi-identifier, and for Release whether there is a release.
        """
        if step is Step.OPEN:
            return True
        if self.source is None or not self.columns:
            return False
        if step is Step.DESCRIBE:
            return True
        if step is Step.RELEASE:
            return bool(self.runs)
        return bool(self.columns.quasi)
