"""Named releases: what was asked, how far it is, and the files that it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from shoal.web.project.guarantee import Guarantee

State = Literal["running", "done", "failed", "cancelled"]


@dataclass
class Run:
    """One release of the project.

    Parameters:
        name: Its name, unique in the project.
        guarantee: What was asked.
        folder: Its folder: schema, hierarchies, and the files of `files`.
        state: `running`, `done`, `failed` or `cancelled`.
        fraction: How far it is, from 0 to 1; None while unknown.
        text: What it is doing, or why it failed, without cell values.
        summary: The summary of `shoal anonymize --json`, once it is done.
        files: The written files by kind: `release`, `report`, `json`, `schema`, `command`,
            `python`.
    """

    name: str
    guarantee: Guarantee
    folder: Path
    state: State = "running"
    fraction: float | None = None
    text: str = ""
    summary: Mapping[str, Any] | None = None
    files: dict[str, Path] = field(default_factory=dict)
