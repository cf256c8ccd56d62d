"""What the project has set itself; figures are printed beside it."""

from __future__ import annotations

from collections.abc import Mapping

# by what is measured, then by figure: the most that is allowed
TARGETS: dict[str, dict[str, float]] = {
    "adult k=5": {"loss": 0.0291, "cpu": 0.3},
    "adult k=10": {"loss": 0.0505},
    "1M x 8": {"cpu": 6.0, "peak_mb": 1500.0},
    "demo, cold": {"wall": 20.0},
    "demo, warm": {"wall": 3.0},
    "help, warm": {"wall": 0.5},
}
_TEXT = {"loss": "loss ≤ {:.4f}", "cpu": "≤ {:g} CPU s", "peak_mb": "≤ {:g} MB", "wall": "≤ {:g} s"}


def verdict(name: str, figures: Mapping[str, float]) -> str:
    """Return the targets of what was measured, each marked as met or missed; "" without any."""
    told = []
    for figure, most in TARGETS.get(name, {}).items():
        met = figures[figure] <= most
        mark = "[green]met[/]" if met else "[red]missed[/]"
        told.append(f"{_TEXT[figure].format(most)} {mark}")
    return "\n".join(told)
