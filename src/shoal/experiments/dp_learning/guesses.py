"""What is claimed of guessed scores and of both mechanisms together, held against the rows."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.experiments.claims import Answer, StudyClaim
from shoal.experiments.dp_learning import published
from shoal.experiments.dp_learning.claims import NEAR, mean
from shoal.experiments.runs import Row


def ways(rows: Sequence[Row], attributes: int | None = None, table: str | None = None) -> list[Row]:
    """Return one row for each way of guessing on each lattice."""
    return [
        {
            **{n: row[n] for n in ("table", "attributes", "score", "nodes")},
            **way,
        }
        for row in rows
        if row["part"] == "interpolation"
        and attributes in (None, row["attributes"])
        and table in (None, row["table"])
        for way in row["ways"]
    ]


def _halves(rows: Sequence[Row]) -> Answer:
    row = next(r for r in rows if r["part"] == "time" and r["attributes"] == 10)
    ratio = row["singly, half guessed"] / row["singly"]
    before, after = published.LATTICE_SECONDS[10]
    return ratio < 0.6, (
        f"yes where nodes are counted one by one: {row['singly']:.0f} s and "
        f"{row['singly, half guessed']:.0f} s with 10 attributes ({before:.0f} s and {after:.0f} s "
        f"published); but one pass counts all of them in {row['pass']:.1f} s. Guessing is left for "
        "lattices that no pass can count, where each node is a question that costs"
    )


def _steadier(rows: Sequence[Row]) -> Answer:
    found = ways(rows, table="adult")
    most = {
        kind: max(r["variation"] for r in found if r["way"].startswith(kind))
        for kind in ("level", "dictionary")
    }
    least = min(r["variation"] for r in found if r["way"].startswith("dictionary"))
    return most["level"] < most["dictionary"], (
        f"total variation of the draw up to {most['level']:.2f} by levels; by dictionary from "
        f"{least:.2g} to {most['dictionary']:.2f}, as the attribute happens to matter"
    )


def _alike(rows: Sequence[Row]) -> Answer:
    found = [r for r in ways(rows, table="adult") if r["way"] == "level"]
    off = max(abs(r["good"] - r["good, guessed"]) for r in found)
    return off <= NEAR, f"the chance of a good node moves by {off:.3f} at most"


def _harmless(rows: Sequence[Row]) -> Answer:
    found = [r for r in ways(rows, table="adult") if r["way"] == "level"]
    worst = max(found, key=lambda r: r["variation"])
    off = max(r["most off"] for r in found)
    return worst["variation"] <= NEAR, (
        f"guesses are off by up to {100 * off:.0f} % of all records, and up to "
        f"{100 * worst['variation']:.0f} % of draws fall on another node"
    )


def _adds_up(rows: Sequence[Row]) -> Answer:
    row = next(r for r in rows if r["part"] == "row")
    refused = all(r["third refused"] for r in rows if r["part"] == "row")
    return row["epsilon"] <= row["granted"] and refused, (
        f"{row['table epsilon']:.3g} for the table and {row['regression epsilon']:.3g} for the "
        f"regression: ε = {row['epsilon']:.4g}, δ = {row['delta']:.3g}; a third release is refused"
    )


def _halved_budget(rows: Sequence[Row]) -> Answer:
    row = [r for r in rows if r["part"] == "row" and r["table"] == "adult"]
    table, private = (mean(row, f"from the {what}") for what in ("table", "regression"))
    bar = published.ACCURACY["adult"]["safe-la, published"]
    return min(table, private) > bar, (
        f"adult, {row[0]['epsilon']:.4g} in all: {table:.3f} from the table, {private:.3f} by the "
        f"regression"
    )


CLAIMS = (
    StudyClaim("5.3", "Guessing every other row halves the time", _halves),
    StudyClaim("5.3", "Guessing by levels is steadier than by dictionary", _steadier),
    StudyClaim("5.3", "With guessed scores good nodes are as likely as before", _alike),
    StudyClaim(
        "5.3", "Guessed scores can stand in for counted ones: the same nodes are drawn", _harmless
    ),
    StudyClaim("B", "What both cost in a row: left open in the study; the sum (ours)", _adds_up),
    StudyClaim("B", "With half of ε = 1.704 each, both still pass 0.759 (ours)", _halved_budget),
)
