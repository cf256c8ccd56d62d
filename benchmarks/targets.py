"""What the project has set itself; figures are printed beside it."""

from __future__ import annotations

from collections.abc import Mapping

# by what is measured, then by figure: the most that is allowed, for a gain the least
TARGETS: dict[str, dict[str, float]] = {
    "adult k=5": {"loss": 0.0291, "cpu": 0.3},
    "adult k=10": {"loss": 0.0505},
    "1M x 8": {"cpu": 6.0, "peak_mb": 1500.0},
    "demo, cold": {"wall": 20.0},
    "demo, warm": {"wall": 3.0},
    "help, warm": {"wall": 0.5},
    "adult 9, every node, k=75": {"cpu": 0.5, "peak_mb": 500.0},
    "adult 10, every node, k=75": {"cpu": 4.0, "peak_mb": 500.0},
    "adult 10, two threads": {"gain": 1.6, "peak_mb": 500.0},
    "adult 9, no kernels in store": {"extra": 10.0},
    "ola adult 9 k=5 0 %": {"cpu": 0.2},
    "ola adult 9 k=5 5 %": {"cpu": 0.6},
    "ola adult 9 k=75 15 %": {"cpu": 0.6},
    "flash adult 9 k=5 0 %": {"cpu": 0.15},
    "flash adult 9 k=5 5 %": {"cpu": 0.6},
    "flash census-income k=5 5 %": {"cpu": 10.0},
}
_TEXT = {
    "loss": "loss ≤ {:.4f}",
    "cpu": "≤ {:g} CPU s",
    "peak_mb": "≤ {:g} MB",
    "wall": "≤ {:g} s",
    "gain": "≥ {:g} x",
    "extra": "≤ {:g} s more",
}


def verdict(name: str, figures: Mapping[str, float]) -> str:
    """Return the targets of what was measured, each marked as met or missed; "" without any."""
    told = []
    for figure, limit in TARGETS.get(name, {}).items():
        met = figures[figure] >= limit if figure == "gain" else figures[figure] <= limit
        mark = "[green]met[/]" if met else "[red]missed[/]"
        told.append(f"{_TEXT[figure].format(limit)} {mark}")
    return "\n".join(told)
