"""The process of a job: a fresh interpreter with a private folder of its own.

One process can wait for the next job with its imports done, so that the job begins at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from shoal.web.worker import READY

_workspace: Path | None = None
_spare: JobProcess | None = None
_is_spare_kept = False


@dataclass(frozen=True, eq=False)
class JobProcess:
    """A process that waits for its task on its standard input.

    Parameters:
        process: The process; it leads a group of its own.
        folder: Its folder for temporary files; None for the system's.
    """

    process: subprocess.Popen[bytes]
    folder: Path | None

    @classmethod
    def start(cls, *arguments: str) -> JobProcess:
        """Start an interpreter with the module path of this one.

        Parameters:
            arguments: The arguments of the worker.
        """
        folder = _own_folder()
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        own = {"TMPDIR": str(folder), "TEMP": str(folder)} if folder else {}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "shoal.web.worker", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("SHOAL_TRACEBACK") else subprocess.DEVNULL,
            env={**os.environ, **own, "PYTHONPATH": path},
            start_new_session=True,
        )
        return cls(process, folder)

    def signal(self, name: str) -> None:
        """Send a signal to the process and to those that it started.

        Parameters:
            name: The signal, such as `SIGKILL`.
        """
        with suppress(OSError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, getattr(signal, name))

    def end(self) -> None:
        """End a process that has no task, and remove its folder."""
        self.signal("SIGKILL")
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.remove_folder()

    def remove_folder(self) -> None:
        """Remove the temporary files."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def take_process() -> JobProcess:
    """Return a process for a job: the spare one if there is one, else a new one."""
    global _spare
    spare, _spare = _spare, None
    if spare is not None:
        if spare.process.poll() is None:
            return spare
        spare.end()  # it was killed while it waited
    return JobProcess.start()


def keep_spare(*, kept: bool = True) -> None:
    """Keep one process ready for the next job, or none.

    Parameters:
        kept: Whether a process is started now, and after each job.
    """
    global _is_spare_kept, _spare  # noqa: PLW0603  one server per process
    _is_spare_kept = kept
    if kept:
        restore_spare()
    elif _spare is not None:
        _spare.end()
        _spare = None


def restore_spare() -> None:
    """Start the spare process again after a job has taken it."""
    global _spare  # noqa: PLW0603  one server per process
    if _is_spare_kept and _spare is None:
        _spare = JobProcess.start(READY)


def use_workspace(path: Path | None) -> None:
    """Keep the temporary files of all later jobs in a private folder.

    Parameters:
        path: The folder; None for the system's folder for temporary files.
    """
    global _workspace  # noqa: PLW0603  one server per process
    keep_spare(kept=False)
    _workspace = path


def workspace() -> Path | None:
    """Return the private folder of the jobs."""
    return _workspace


def _own_folder() -> Path | None:
    if _workspace is None:
        return None
    folder = _workspace / f"job-{os.urandom(8).hex()}"
    folder.mkdir(mode=0o700)
    return folder
