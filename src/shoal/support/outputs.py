"""Outputs of one command, which appear together or not at all.

    with outputs_together():
        release → a staged file beside its target ┐
        evidence about it, read at `written_at`   ├→ no error: all are synced, then renamed
        report, picture, control group            ┘→ an error: all staged files are removed

Outputs at the address of a store do not take part: each appears when it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from shoal.errors import OutputError
from shoal.support.files import reason, sync


@dataclass(eq=False)
class _Waiting:
    """Staged outputs: the contexts that rename them, and the staged path of each target."""

    stack: ExitStack = field(default_factory=ExitStack)
    staged: dict[Path, Path] = field(default_factory=dict)

    def sync(self) -> None:
        """Write everything to the disk, so that a full one is noticed before the first rename."""
        for target, path in self.staged.items():
            try:
                for file in (*(path.iterdir() if path.is_dir() else ()), path):
                    sync(file)
            except OSError as error:
                raise OutputError(f"{target}: cannot be written ({reason(error)})") from None


_waiting: ContextVar[_Waiting | None] = ContextVar("outputs that wait for each other", default=None)


@contextmanager
def outputs_together() -> Iterator[None]:
    """Let the outputs of the block appear when it ends; after an error, none appears.

    They are renamed in reverse order, so that the first output, the release, is the last to appear.
    """
    waiting = _Waiting()
    token = _waiting.set(waiting)
    try:
        with waiting.stack:
            yield
            waiting.sync()
    finally:
        _waiting.reset(token)


@contextmanager
def as_output(staging: AbstractContextManager[Path], target: Path) -> Iterator[Path]:
    """Yield the path at which an output is written.

    Parameters:
        staging: Yields the path, which becomes the target when the context ends without error.
        target: The name of the output.
    """
    waiting = _waiting.get()
    if waiting is None:
        with staging as path:
            yield path
        return
    path = waiting.stack.enter_context(staging)
    waiting.staged[target.absolute()] = path
    yield path


def written_at(target: Path) -> Path:
    """Return where the content of an output is: a staged path until all outputs appear."""
    waiting = _waiting.get()
    return target if waiting is None else waiting.staged.get(target.absolute(), target)
