"""How soon the web app answers changes: live figures of a large table, and edits of many groups."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROWS = 100_000
VALUES = 50_000


def answer_changes(folder: Path) -> dict[str, dict[str, float]]:
    """Time figures after changes of a role, a level and k, and edits of a hierarchy.

    Parameters:
        folder: A folder for temporary files.
    """
    found = asyncio.run(_figures(folder))
    rows = {f"web, figures after a change of {what}": {"wall": s} for what, s in found.items()}
    return {**rows, "web, edit groups of 50,000 values": {"cpu": _slowest_edit()}}


async def _figures(folder: Path) -> dict[str, float]:
    """Return the seconds until groups are counted on all rows, and until an estimate is shown.

    Changes follow each other while other figures of the change before are still sought.
    """
    from shoal.datasets.hospital import write_patients
    from shoal.web.project.project import Project

    table = folder / "figures.csv"
    write_patients(table, ROWS, 0)
    project = Project(folder / "figures")
    (folder / "figures").mkdir()
    try:
        await project.open(table)
        while project.figures.outlook is None:
            await asyncio.sleep(0.005)
        found = {"k": await _changed(project, "groups", lambda: project.promise(k=7))}
        found["k, estimated"] = await _changed(project, "outlook", lambda: project.promise(k=8))
        begun = time.perf_counter()
        assert project.figures.outlook is not None
        assert not project.figures.outlook.exact
        while not project.figures.outlook.exact:
            await asyncio.sleep(0.005)
        found["k, exact after the estimate"] = time.perf_counter() - begun
        role = "insensitive"
        found["a role"] = await _changed(
            project, "groups", lambda: project.set_role(["occupation"], role)
        )
        levels = dict.fromkeys(project.columns.quasi, 1)

        def state(level: int) -> None:
            options = {"levels": {**levels, "birth_date": level}}
            project.promise(method="flash", options=options)

        await _changed(project, "levels", lambda: state(1))
        found["a level"] = await _changed(project, "levels", lambda: state(2))
        return found
    finally:
        project.close()


async def _changed(project: Any, what: str, change: Callable[[], None]) -> float:
    """Make a change; return the seconds until new figures are known."""
    before = getattr(project.figures, what)
    begun = time.perf_counter()
    change()
    while getattr(project.figures, what) is before or getattr(project.figures, what) is None:
        await asyncio.sleep(0.005)
    return time.perf_counter() - begun


def _slowest_edit() -> float:
    """Return the CPU seconds of the slowest edit of a column with many values."""
    from shoal import Column
    from shoal.web.project.hierarchies import HierarchyEditor

    editor = HierarchyEditor(Column.encode("code", [f"v{n:05}" for n in range(VALUES)]))
    editor.build({"mask": "right"})
    editor.tick(range(0, VALUES, 3))
    edits: list[Callable[[], Any]] = [
        lambda: editor.group("third", 1),
        lambda: editor.tick(range(5)),
        lambda: editor.ungroup(1),
        lambda: editor.rename(1, "third", "a third"),
        editor.add_level,
        editor.undo,
        editor.undo,
        editor.undo,
        editor.redo,
        lambda: editor.page(700, text="9", order="group"),
    ]
    slowest = 0.0
    for edit in edits:
        begun = time.process_time()
        edit()
        editor.page()
        _ = editor.ungrouped_text
        slowest = max(slowest, time.process_time() - begun)
    return slowest
