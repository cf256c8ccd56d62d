"""The program of one run: reads a task from its input and writes the answer to its output.

Nothing else is printed, because messages of libraries may contain cells.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

from shoal.comparison.runner import unpack
from shoal.errors import ShoalError


def main(name: str) -> None:
    """Run the task of this name; the process exits when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        answers.write(_answer(name))


def _answer(name: str) -> str:
    try:
        work, tasks = unpack(0)
        return json.dumps({"result": work(tasks[name])})
    except ShoalError as error:
        reason = str(error)
    except MemoryError:
        reason = "not enough memory"
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        kind = type(error).__name__  # its message may contain a cell
        reason = f"failed with {kind} in {Path(frame.filename).name}:{frame.lineno}"
    return json.dumps({"reason": reason})


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
