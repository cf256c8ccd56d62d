"""Before and after: what the release does to each column."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from shoal.web.project.outcomes import ColumnOutcome, Outcome, percent
from shoal.web.screens.parts import heading
from shoal.web.screens.studying import table
from shoal.web.text import release as text

_LEAST_SHARE = 0.0001  # of a value that occurs: reports round shares to three decimal places


def build(outcome: Outcome) -> None:
    """Draw all columns of a release.

    Parameters:
        outcome: The release.
    """
    ui.label(text.COLUMNS_WHY).classes("s-why")
    drawn = [c for c in outcome.columns if c.role in ("quasi", "sensitive")]
    others = [c for c in outcome.columns if c.role not in ("quasi", "sensitive")]
    with ui.element("div").classes("s-column-cards"):
        for column in drawn:
            _card(column)
    if others:
        rows = [(column.name, column.treatment) for column in others]
        table(text.UNCHANGED, (text.COLUMN, text.AFTER), rows)


def _card(column: ColumnOutcome) -> None:
    with ui.element("section").classes("s-card s-outcome"):
        heading(3, column.name)
        ui.label(column.treatment).classes("s-small")
        if column.kept is not None:
            _shares(column)
        if not column.bars:
            ui.label(text.NO_BARS).classes("s-why")
            return
        both = any(bar.before is not None for bar in column.bars)
        top = max(max(bar.after, bar.before or 0.0) for bar in column.bars) or 1.0
        heads = (text.VALUES, text.BEFORE, text.AFTER) if both else (text.VALUES, text.AFTER)
        rows: list[tuple[Any, ...]] = [
            (
                bar.label,
                *([lambda bar=bar: _bar(_seen(bar.before), top, "s-before")] if both else []),
                lambda bar=bar: _bar(bar.after if both else _seen(bar.after), top, "s-after"),
            )
            for bar in column.bars
        ]
        table(text.columns_caption(column.name), heads, rows)


def _shares(column: ColumnOutcome) -> None:
    """Draw which share of the cells is kept, coarser and hidden, as one bar with its legend."""
    parts = (
        (text.KEPT, column.kept, "s-kept"),
        (text.COARSER, column.generalized, "s-coarser"),
        (text.HIDDEN, column.hidden, "s-hid"),
    )
    with ui.element("div").classes("s-stackbar").props("aria-hidden=true"):
        for _, share, kind in parts:
            ui.element("span").classes(kind).style(f"flex-grow: {share or 0:.4f}")
    with ui.element("div").classes("s-legend"):
        for label, share, kind in parts:
            with ui.element("span").classes("s-key"):
                ui.element("i").classes(kind).props("aria-hidden=true")
                ui.label(f"{label} {percent(share)}")


def _seen(share: float | None) -> float:
    """Return the share of a value that occurs; one that was rounded to 0 is under 0.1 %."""
    return share or _LEAST_SHARE


def _bar(share: float | None, top: float, kind: str) -> None:
    with ui.element("div").classes("s-bar"):
        ui.element("span").classes(kind).style(f"width: {100 * (share or 0) / top:.1f}%")
        ui.label(percent(share))
