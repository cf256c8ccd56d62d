"""The page on metrics follows the code."""

from pathlib import Path

from shoal.metrics import METRICS

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def line(metric):
    scale = metric.raw_range + (", high is best" if metric.raw_best == "high" else "")
    cells = (metric.formula, scale, metric.use, metric.source, metric.requires)
    told = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| `{metric.name}` | {told} |".replace("|  |", "| |")


def test_every_metric_has_its_line_in_order():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    shown = [text for text in lines if text.startswith("| `")]
    assert shown == [line(metric) for metric in METRICS.values()]
