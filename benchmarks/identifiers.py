"""Section identifiers: pseudonyms, format-preserving encryption, linked tables."""

from __future__ import annotations

from typing import Any

from grids import COST, Row, runs_grid
from jobs import run_each

LIMIT = 900


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process."""
    jobs: dict[str, dict[str, Any]] = {
        "10M pseudonyms of 10 bytes": {"kind": "pseudonyms", "count": 10_000_000},
        "1M FF1 numbers of 16 digits": {"kind": "ff1", "count": 1_000_000},
        "k^m check, 1M people x 20 rows, m=2": {"kind": "events", "people": 1_000_000, "m": 2},
        "k^m check, 100k people x 20 rows, m=3": {"kind": "events", "people": 100_000, "m": 3},
    }
    if full:
        jobs["6 linked tables, 20M rows"] = {"kind": "project", "people": 1_000_000}
    return {"runs": run_each("job_identifiers.py", jobs, limit=LIMIT)}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    title = "identifiers: pseudonyms, encryption, linked tables"
    caption = (
        "Pseudonyms compared, in the same run, with a loop over hmac.digest (on a twentieth of the "
        "values) and with DuckDB's sha256. The linked tables are Parquet to Parquet, verified."
    )
    return [runs_grid(title, caption, result, COST, _remark)]


def _remark(row: Row) -> str:
    if "loop" in row:
        return f"{row['loop']:.1f} x a loop, {row['duckdb']:.1f} x DuckDB's sha256"
    return f"{row['count']:,}"
