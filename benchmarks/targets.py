"""Targets of the project, printed next to the figures."""

from __future__ import annotations

from collections.abc import Mapping

# by run, then by figure: the maximum, or the minimum for figures in _LEAST
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
    "ola adult 9 k=5 5 %": {"cpu": 0.35},
    "ola adult 9 k=75 15 %": {"cpu": 0.6},
    "ola 60k x 8 k=5 5 %": {"cpu": 0.6},
    "flash adult 9 k=5 0 %": {"cpu": 0.03},
    "flash adult 9 k=5 5 %": {"cpu": 0.15},
    "flash adult 9 k=5 15 %": {"cpu": 0.2},
    "flash adult 9 k=75 15 %": {"cpu": 0.2},
    "flash adult 9 k=5 5 %, geometric": {"cpu": 0.15},
    "flash adult 9 k=5 15 %, geometric": {"cpu": 0.2},
    "flash adult 9 k=75 15 %, geometric": {"cpu": 0.2},
    "flash adult 9 k=5 5 %, local": {"granularity": 0.932, "cpu": 7.0},
    "flash 60k x 8 k=5 5 %, geometric": {"cpu": 0.3},
    "flash 30k x 11 k=5 5 %": {"cpu": 5.0},
    "flash 1.2M x 9 k=5 5 %": {"cpu": 1.5, "peak_mb": 600.0},
    "flash census-income k=5 5 %": {"cpu": 10.0},
    "greedy 100k x 8 k=3": {"cpu": 0.6, "peak_mb": 1000.0},
    "greedy 500k x 8 k=10": {"cpu": 4.0},
    "k-member 20k x 8 k=5": {"cpu": 0.3},
    "anneal 20k x 8 k=5": {"loss": 0.327, "cpu": 6.0},
    "anneal 20k x 8 k=10": {"loss": 0.550, "cpu": 12.0},
    "anneal 100k x 8 k=5": {"loss": 0.240, "cpu": 45.0, "peak_mb": 1000.0},
    "anneal 100k x 8 k=5, two threads": {"gain": 1.6},
    "anneal adult k=5": {"class": 0.0240},
    "anneal adult 2k k=5, bound": {"excess": 0.1, "cpu": 300.0},
    "optimal 100 x 8 k=3, five draws": {"proven": 5, "cpu": 60.0},
    "optimal 100 x 8 k=5, five draws": {"proven": 3, "gap": 0.01, "cpu": 300.0},
    "split-carry 100k x 4 k=3 S=3": {"cpu": 25.0},
    "doka-hungarian 5k x 4 k=4": {"cpu": 300.0},
    "10M pseudonyms of 10 bytes": {"cpu": 8.0},
    "1M FF1 numbers of 16 digits": {"cpu": 60.0},
    "6 linked tables, 20M rows": {"wall": 300.0, "peak_mb": 4000.0},
    "k^m check, 1M people x 10 events, m=2": {"wall": 60.0},
    "all metrics, adult 9": {"cpu": 0.5},
    "all metrics, 1M patients": {"cpu": 8.0, "peak_mb": 2000.0},
    "report, 1M patients": {"wall": 10.0, "megabytes": 3.0},
    "compare, 12 runs, two at a time": {"gain": 1.6},
    "learning, adult k=5, 4 models x 5 folds": {"cpu": 60.0, "peak_mb": 3000.0},
    "learning, adult k=5, raw rows beside": {"cpu": 60.0, "peak_mb": 3000.0},
    "200 releases, datafly, random ordered trees": {"cpu": 120.0},
    "200 releases, datafly, shuffled trees": {"cpu": 120.0},
    "200 releases, mondrian, permuted orders": {"cpu": 120.0},
    "Ψ, dense, n=25": {"cpu": 0.3},
    "Ψ, dense, n=28": {"cpu": 2.0},
    "Ψ, dense, n=30": {"cpu": 8.0},
    "Ψ, dense, n=28, two threads": {"gain": 1.7},
    "Ψ, band of half-width 4, n=1000": {"cpu": 1.0},
    "Ψ within 1 %, dense, n=10,000": {"cpu": 20.0},
    "frequency attack, 1,000 items": {"cpu": 2.0},
    "Ψ, adult, 4,096 boxes that overlap, 8 known": {"cpu": 20.0, "peak_mb": 2000.0},
    "Ψ, adult, 4,096 boxes that overlap, 5 known": {"cpu": 20.0, "peak_mb": 2000.0},
    "Ψ, adult, greedy, 8 known": {"cpu": 20.0, "peak_mb": 2000.0},
    "Ψ, adult, greedy, 5 known": {"cpu": 20.0, "peak_mb": 2000.0},
    "Ψ, 1M patients, flash: no overlaps": {"cpu": 5.0},
    "Ψ, 1M patients, mondrian": {"cpu": 30.0},
    "assess, 1,000,000 rows": {"cpu": 30.0},
    "safe-la adult 10 k=75": {"cpu": 5.0},
    "best node adult 10, expected rows": {"chance": 0.95},
    "planner, any k and β": {"slowest_ms": 10.0},
    "5 digits networks, 30 epochs": {"wall": 60.0},
    "C&W, 81 examples, one network": {"success": 1.0, "length_ratio": 1.0, "gain": 3.0},
    "C&W, 9 examples, each of 5 networks": {
        "wall": 60.0,
        "success": 1.0,
        "length_ratio": 1.0,
        "gain": 3.0,
    },
}
_TEXT = {
    "loss": "loss ≤ {:.4f}",
    "cpu": "≤ {:g} CPU s",
    "peak_mb": "≤ {:g} MB",
    "wall": "≤ {:g} s",
    "gain": "≥ {:g} x",
    "extra": "≤ {:g} s more",
    "class": "class ≤ {:.4f}",
    "proven": "≥ {:g} proven",
    "gap": "gap ≤ {:g}",
    "excess": "≤ {:.0%} above the best",
    "megabytes": "≤ {:g} MB",
    "chance": "P ≥ {:g}",
    "slowest_ms": "≤ {:g} ms",
    "success": "success ≥ {:.0%}",
    "granularity": "granularity ≥ {:g}",
    "length_ratio": "L2 ≤ {:g} x",
}
_LEAST = ("gain", "proven", "chance", "success", "granularity")


def verdict(name: str, figures: Mapping[str, float]) -> str:
    """Return the targets of a run, each marked as met or missed; "" if it has none."""
    marked = []
    for figure, limit in TARGETS.get(name, {}).items():
        met = figures[figure] >= limit if figure in _LEAST else figures[figure] <= limit
        mark = "[green]met[/]" if met else "[red]missed[/]"
        marked.append(f"{_TEXT[figure].format(limit)} {mark}")
    return "\n".join(marked)
