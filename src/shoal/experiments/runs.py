"""Single runs of an experiment: measured one after the other, each kept as soon as it is done.

Times are only comparable when nothing else runs, so that runs are never side by side.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.core.files import replace_file
from shoal.core.progress import report

Task = Mapping[str, Any]
Row = dict[str, Any]


def measure_all(tasks: Sequence[Task], measure: Callable[[Task], Row], folder: Path) -> list[Row]:
    """Return the measured rows of all tasks; those in the folder from an earlier run are read.

    measure: returns figures for a task; they are joined with what the task says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for done, task in enumerate(tasks):
        report("runs", done, len(tasks))
        place = folder / f"{_key(task)}.json"
        if place.is_file():
            rows.append(json.loads(place.read_text(encoding="utf-8")))
            continue
        row = {**task, **measure(task)}
        with replace_file(place, force=True) as temporary:
            temporary.write_text(json.dumps(row), encoding="utf-8")
        rows.append(row)
    report("runs", len(tasks), len(tasks))
    return rows


def _key(task: Task) -> str:
    told = json.dumps(task, sort_keys=True).encode()
    return hashlib.sha256(told).hexdigest()[:20]


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
