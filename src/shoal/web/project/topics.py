"""The screens of the app, and what reports changes of a project to its pages."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


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
    PROGRESS = "progress"  # of a running release
    STUDIES = "studies"
    SAVED = "saved"
    THEME = "theme"


Listener = Callable[[Topic], None]


class Announcer:
    """Calls listeners after changes.

    Attributes:
        versions: For each topic, how often it changed.

    >>> announcer, seen = Announcer(), []
    >>> stop = announcer.subscribe(seen.append)
    >>> announcer.touch(Topic.GUARANTEE)
    >>> stop(); announcer.touch(Topic.GUARANTEE)
    >>> seen, announcer.versions[Topic.GUARANTEE]
    ([<Topic.GUARANTEE: 'guarantee'>], 2)
    """

    def __init__(self) -> None:
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

    def touch(self, *topics: Topic) -> None:
        """Report changes to all listeners."""
        for topic in topics:
            self.versions[topic] += 1
            for listener in tuple(self._listeners):
                listener(topic)
