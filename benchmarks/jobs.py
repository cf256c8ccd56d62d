"""One measurement in one fresh process: the protocol of the benchmark and its `job_*.py` files.

A job finds `job.json` in the folder it is started with and leaves `result.json` there.
Standard library only, since it runs inside the peers' environment too.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # for `studies`
OWN_PYTHON = Path(sys.executable)
PEERS = """anonypy anjana pycanon thewalrus foolbox adversarial-robustness-toolbox
    torch==2.13.0""".split()


def run_job(
    script: str, job: dict[str, Any], folder: Path, *, limit: int, python: Path = OWN_PYTHON
) -> dict[str, Any]:
    """Run `script` in its own process and return its result, or a `note` with the reason it failed.

    limit: CPU seconds that it may use; three times as many by the clock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.json").write_text(json.dumps({**job, "limit": limit}))
    with (folder / "log").open("w") as log:
        try:
            ended = subprocess.run(
                [python, HERE / script, folder],
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=3 * limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"note": f"stopped after {3 * limit} s of wall time"}
    if ended.returncode < 0:
        return {"note": f"stopped: exceeded {limit} CPU s, or out of memory"}
    if ended.returncode:
        lines = (folder / "log").read_text().strip().splitlines() or ["no message"]
        return {"note": f"failed: {lines[-1][:120]}"}
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


def run_each(
    script: str, jobs: dict[str, dict[str, Any]], *, limit: int, python: Path = OWN_PYTHON
) -> dict[str, dict[str, Any]]:
    """Run jobs one after the other, each in a fresh process."""
    with scratch() as named:
        return {
            name: run_job(script, job, Path(named) / str(place), limit=limit, python=python)
            for place, (name, job) in enumerate(jobs.items())
        }


def receive() -> tuple[Path, dict[str, Any]]:
    """Return, inside a job, its folder and its task; the limit applies from here."""
    folder = Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text())
    resource.setrlimit(resource.RLIMIT_CPU, (job["limit"], job["limit"] + 5))
    return folder, job


def answer(folder: Path, result: dict[str, Any]) -> None:
    """Store the result of a job."""
    (folder / "result.json").write_text(json.dumps(result))


def bench_python(
    root: Path, name: str = ".venv-bench", packages: Sequence[str] = tuple(PEERS)
) -> Path:
    """Return the Python of an environment with other tools; created on first use."""
    home = root / name
    python, done = home / "bin" / "python", home / ".installed"
    if not done.exists() or done.read_text().split() != list(packages):
        sys.stderr.write(f"creating {name} for the other tools, once\n")
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        done.write_text("\n".join(packages))
    return python


def installed(python: Path, *packages: str) -> dict[str, str]:
    """Return the versions of packages in another environment."""
    code = (
        "import json, sys; from importlib.metadata import version; "
        "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
    )
    printed = subprocess.run([str(python), "-c", code, *packages], capture_output=True, check=True)
    found: dict[str, str] = json.loads(printed.stdout)
    return found


def scratch() -> tempfile.TemporaryDirectory[str]:
    """Yield a temporary folder."""
    return tempfile.TemporaryDirectory(prefix="shoal-bench-")
