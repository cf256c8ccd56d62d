"""Tables 5.1 and 5.5: δ by k and β, which are computed without sampling.

The printed values count γn itself, which the theorem does not; the tight form is smaller still.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.dp import least_epsilon, least_k, sampling_delta
from studies.claims import Answer, Claim, Test
from studies.lattice import published
from studies.runs import Row
from studies.verdicts import decide, exact, near

CHOSEN_BETA = 0.7
SAFE = 0.1  # of 1 / rows: δ below it is green in the tables


def measure_deltas(table: str) -> Row:
    """Return δ by k and β of one printed table, by three forms of the bound."""
    unit, printed = published.DELTAS[table]
    cells = [
        {
            "k": k,
            "beta": beta,
            "as printed": unit * float(text),
            "digits": text,
            **{
                form: float(sampling_delta(k, beta, form=form))
                for form in ("printed", "published", "tight")
            },
        }
        for k, texts in printed.items()
        for beta, text in zip(published.BETAS, texts.split(), strict=True)
    ]
    return {"cells": cells, "unit": unit, "rows": published.DELTA_ROWS[table]}


def delta_rows(rows: Sequence[Row], table: str) -> list[Row]:
    """Return a row for each k and β of one printed table."""
    found = [row for row in rows if row["part"] == "delta" and row["printed"] == table]
    return [
        {name: value for name, value in cell.items() if name != "digits"}
        for row in found
        for cell in row["cells"]
    ]


def _shown(row: Row, cell: Row, form: str) -> str:
    decimals = len(cell["digits"].partition(".")[2])
    return f"{cell[form] / row['unit']:.{decimals}f}"


def _row(rows: Sequence[Row], table: str) -> Row:
    return next(row for row in rows if row["part"] == "delta" and row["printed"] == table)


def _reproduced(table: str) -> Test:
    """Test whether every printed δ is reproduced to its last digit."""

    def test(rows: Sequence[Row]) -> Answer:
        row = _row(rows, table)
        cells = row["cells"]
        equal = {
            form: [_shown(row, cell, form) == cell["digits"] for cell in cells]
            for form in ("printed", "published")
        }
        others = [
            f"k = {cell['k']}, β = {cell['beta']:g}: {_shown(row, cell, 'printed')} here, "
            f"{cell['digits']} in print"
            for cell, same in zip(cells, equal["printed"], strict=True)
            if not same
        ]
        ratios = [cell["tight"] / cell["published"] for cell in cells]
        text = (
            f"{sum(equal['printed'])} of {len(cells)} where γn itself counts; "
            f"{sum(equal['published'])} by the theorem, which leaves γn out; the tight δ is "
            f"{min(ratios):.2f} to {max(ratios):.2f} of the theorem's"
        )
        word = decide(exact(sum(equal["printed"])), near(len(cells), 0))
        return word, "; ".join([text, *others])

    return test


def _chosen(table: str, chosen: int) -> Test:
    """Test whether the chosen k is the least listed one with a safe δ."""

    def test(rows: Sequence[Row]) -> Answer:
        row = _row(rows, table)
        bound = SAFE / row["rows"]
        at = [cell for cell in row["cells"] if cell["beta"] == CHOSEN_BETA]
        safe = min(cell["k"] for cell in at if cell["as printed"] < bound)
        least = {
            form: least_k(least_epsilon(CHOSEN_BETA), bound, CHOSEN_BETA, form=form)
            for form in ("published", "tight")
        }
        return decide(exact(safe), near(chosen, 0)), (
            f"k = {safe} of the listed k; {least['published']} is enough by the theorem, "
            f"{least['tight']} by the tight form"
        )

    return test


CLAIMS = (
    Claim("Table 5.1", "30 values of δ, to the printed digits", _reproduced("adult")),
    Claim(
        "Table 5.1",
        "At β = 0.7, k = 75 is the least listed k with δ below 0.1 / 30,162",
        _chosen("adult", 75),
    ),
    Claim("Table 5.5", "15 values of δ, to the printed digits", _reproduced("ipums")),
    Claim(
        "Table 5.5",
        "At β = 0.7, k = 85 is the least listed k with δ below 0.1 / 141,634",
        _chosen("ipums", 85),
    ),
)
