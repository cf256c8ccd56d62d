"""Colours and spacing, light and dark: one accent colour, quiet surfaces, visible focus."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

ACCENT = "#0b6684"
STYLES = sorted(Path(__file__).parent.glob("*.css"), key=lambda path: path.stem != "shoal")
_SCRIPTS = [
    Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("page.js", "points.js")
]


def apply() -> None:
    """Add the colours and styles to the current page."""
    ui.colors(primary=ACCENT, dark="#141c28", dark_page="#0d131c")
    for style in STYLES:
        ui.add_css(style)
    for script in _SCRIPTS:
        ui.add_head_html(f"<script>{script}</script>")
