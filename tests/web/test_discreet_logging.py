"""Logs say what kind of error happened and where, and show no cell."""

from __future__ import annotations

import subprocess
import sys

CANARY = "QXZW"
PROGRAM = f"""
import asyncio, logging, sys, threading, warnings
from shoal.web.server import configure

logging.getLogger("library").addHandler(logging.StreamHandler())
configure()
cell = "{CANARY}"
for name in ("uvicorn.error", "uvicorn.access", "nicegui", "asyncio", "library", "anything"):
    log = logging.getLogger(name)
    log.error("a cell: %s", cell)
    log.error("a cell: %d", cell)  # a malformed record
    log.error(ValueError(cell))
    try:
        int(cell)
    except ValueError as error:
        log.exception(error)
        log.exception("failed with %s", error)
warnings.warn(cell)

async def fail():
    raise KeyError(cell)

async def main():
    asyncio.get_running_loop().call_soon(int, cell)
    task = asyncio.create_task(fail())
    await asyncio.wait([task])
    del task

asyncio.run(main())
thread = threading.Thread(target=int, args=(cell,))
thread.start()
thread.join()

class Fails:
    def __del__(self):
        raise ValueError(cell)

Fails()
logging.getLogger("shoal.web").warning("this is Shoal's own sentence")
raise ValueError(cell)
"""


def test_no_log_warning_or_error_shows_a_cell(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert CANARY not in done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert {line.partition(": ")[0] for line in lines} == {"shoal web"}
    assert "shoal web: this is Shoal's own sentence" in lines
    assert "shoal web: ValueError" in lines
    assert "shoal web: KeyError" in lines
    assert any(line.startswith("shoal web: UserWarning (") for line in lines)
