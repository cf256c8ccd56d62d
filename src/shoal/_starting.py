"""The first second of the command: an interrupt while libraries load ends it with one line.

Loaded before anything heavy. A program that imports Shoal keeps its own way with interrupts.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

_INTERRUPTED = 130


def guard_command() -> None:
    """Handle interrupts until `hand_over`, if this process is the `shoal` command."""
    if (
        _is_command()
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT)
        is signal.default_int_handler  # not ignored, as by nohup
    ):
        signal.signal(signal.SIGINT, _leave)


def hand_over() -> None:
    """Let interrupts raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_command() -> bool:
    """Whether Python runs `shoal` or `python -m shoal`; during the latter, argv begins with -m."""
    program = Path(sys.argv[0]).stem if sys.argv else ""
    return program == "shoal" or (program == "-m" and _module() == "shoal")


def _module() -> str:
    words = sys.orig_argv
    return words[words.index("-m") + 1] if "-m" in words[:-1] else ""


def _leave(*_: Any) -> NoReturn:
    """End at once: nothing has been done yet, and libraries may be half loaded."""
    try:
        os.write(2, b"shoal: interrupted\n")
    finally:
        os._exit(_INTERRUPTED)


guard_command()
