"""Logs of the web app: the kind of an error and its place, never its message.

Messages of libraries may contain cells of the table.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
import warnings
from types import TracebackType
from typing import Any

_OWN = "shoal"


class DiscreetFormatter(logging.Formatter):
    """Formats a record without its message, unless Shoal wrote it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line: what happened and where.

        >>> record = logging.LogRecord("uvicorn", 40, "server.py", 7, "Alice is 31", (), None)
        >>> DiscreetFormatter().format(record)
        'shoal web: error in uvicorn (server.py:7)'
        """
        if record.exc_info and record.exc_info[1] is not None:
            return f"shoal web: {describe(record.exc_info[1])}"
        if isinstance(record.msg, BaseException):
            return f"shoal web: {describe(record.msg)}"
        if record.name.partition(".")[0] == _OWN:
            return f"shoal web: {record.getMessage()}"
        level = record.levelname.lower()
        return f"shoal web: {level} in {record.name} ({record.filename}:{record.lineno})"


def describe(error: BaseException) -> str:
    """Return the kind of an error and the last place in Shoal that it passed.

    >>> describe(ValueError("Alice is 31"))
    'ValueError'
    """
    places = [
        f"{frame.f_globals['__name__']}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).startswith("shoal.")
    ]
    return f"{type(error).__name__} at {places[-1]}" if places else type(error).__name__


def configure() -> None:
    """Send every log, warning and uncaught error of this process through the formatter.

    With SHOAL_TRACEBACK=1 they are shown in full, which may print cells.
    """
    if os.environ.get("SHOAL_TRACEBACK"):
        logging.basicConfig(level=logging.WARNING)
        return
    handler = logging.StreamHandler()
    handler.setFormatter(DiscreetFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in list(logging.root.manager.loggerDict):  # libraries come with handlers of their own
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.access").disabled = True
    logging.raiseExceptions = False  # would print the arguments of a malformed record
    warnings.showwarning = _show_warning
    sys.excepthook = _show_error
    sys.unraisablehook = lambda fault: _show(fault.exc_value)
    threading.excepthook = lambda fault: _show(fault.exc_value)


def _show(error: BaseException | None) -> None:
    if error is not None:
        sys.stderr.write(f"shoal web: {describe(error)}\n")


def _show_error(
    _: type[BaseException], error: BaseException, __: TracebackType | None = None
) -> None:
    _show(error)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    sys.stderr.write(f"shoal web: {category.__name__} ({os.path.basename(filename)}:{lineno})\n")  # noqa: PTH119
