"""Colours and spacing, light and dark: one accent colour, quiet surfaces, visible focus."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

ACCENT = "#0b6684"
STYLES = Path(__file__).with_name("shoal.css")


def apply() -> None:
    """Add the colours and styles to the current page."""
    ui.colors(primary=ACCENT, dark="#141c28", dark_page="#0d131c")
    ui.add_css(STYLES)
