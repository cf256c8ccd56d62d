"""Single runs of a study, each stored as soon as it is done.

Times are only comparable when nothing else runs: where they are reported, runs follow one another.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.support.files import replace_file
from shoal.support.progress import report

Task = Mapping[str, Any]
Row = dict[str, Any]


def measure_all(tasks: Sequence[Task], measure: Callable[[Task], Row], folder: Path) -> list[Row]:
    """Return the measured rows of all tasks; rows of an earlier run are read from the folder.

    measure: returns figures for a task; the fields of the task are added to them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for done, task in enumerate(tasks):
        report("runs", done, len(tasks))
        path = _path(task, folder)
        if path.is_file():
            rows.append(json.loads(path.read_text(encoding="utf-8")))
            continue
        row = {**task, **measure(task)}
        with replace_file(path, force=True) as temporary:
            temporary.write_text(json.dumps(row), encoding="utf-8")
        rows.append(row)
    report("runs", len(tasks), len(tasks))
    return rows


def measure_in_parallel(
    tasks: Sequence[Task],
    measure: Callable[[Task], Row],
    folder: Path,
    *,
    batch: int,
    stage: str = "runs",
) -> list[Row]:
    """Return the same as `measure_all`, measured by several processes.

    measure: a function of a module, so that other processes can import it.
    batch: tasks per process; a process needs a second or two to start.
    """
    from shoal.comparison.runner import run_tasks

    waiting = [task for task in tasks if not _path(task, folder).is_file()]
    parts = [waiting[start : start + batch] for start in range(0, len(waiting), batch)]
    batches = {str(number): part for number, part in enumerate(parts)}
    work = partial(_measure_batch, measure=measure, folder=folder)
    for outcome in run_tasks(batches, work, stage=stage).values():
        if outcome.result is None:
            raise ShoalError(f"{stage}: {outcome.reason}; run it again to go on from there")
    return measure_all(tasks, measure, folder)


def _measure_batch(
    tasks: Sequence[Task], measure: Callable[[Task], Row], folder: Path
) -> dict[str, Any]:
    return {"rows": len(measure_all(tasks, measure, folder))}


def _path(task: Task, folder: Path) -> Path:
    return folder / f"{digest(task)}.json"


def digest(task: Task) -> str:
    """Return a name for a task that no other task has."""
    return hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()[:20]


class Stopwatch:
    """CPU seconds of a block: `with Stopwatch() as took: …`, then `took.seconds`."""

    def __enter__(self) -> Stopwatch:
        self.seconds = 0.0
        self._begun = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.process_time() - self._begun


def groups(rows: Sequence[Row], *names: str) -> Iterator[tuple[tuple[Any, ...], list[Row]]]:
    """Yield rows that agree in these fields, in order of first appearance."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    yield from found.items()
