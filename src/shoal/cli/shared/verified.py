"""What `shoal verify` prints about a file."""

from __future__ import annotations

import math
from typing import Any

from shoal.cli.shared.console import grid, number, out, show_warnings, verdict
from shoal.support.wording import counted

_MEANING = {
    "k": "people in the smallest class; higher is better",
    "l": "fewest distinct values in a class, except missing; higher is better",
    "entropy-l": "fewest values in a class by entropy; higher is better",
    "t": "largest distance from the whole table; lower is better",
    "alpha": "largest share of one value; lower is better",
    "delta": "largest log change of a share; lower is better",
    "beta": "largest relative gain of a share; lower is better",
}


def show_verified(data: dict[str, Any]) -> None:
    """Print the verdict, the levels that a file achieves, and its warnings."""
    check = data.get("check")
    if check:
        outcome = "holds" if check["holds"] else "does not hold"
        warnings = data["warnings"]
        out.print(verdict(check["model"], check["holds"], outcome, warnings), soft_wrap=True)
        if not check["holds"]:
            out.print(
                f"  {check['failing']:,} of {counted(check['classes'], 'class')} break it "
                f"({counted(check['failing_records'], 'record')})"
            )
        show_warnings(data["warnings"])
        out.print()
    who = counted(data["records"], "row")
    if data["people"] is not None:
        who = f"{counted(data['people'], 'person', 'people')} in {who}"
    out.print(f"{who}, {counted(data['classes'], 'class')}")
    if data["people"] is None:
        out.print("each row counts as one person: the file has no declared person column")
    out.print()
    rows = grid("achieved", "", "what it means")
    for name, value in data["reached"].items():
        lacking = f" ({number(value)}: some class lacks a value)" if math.isinf(value) else ""
        rows.add_row(name, number(value), _MEANING[name.partition("(")[0]] + lacking)
    out.print(rows)
    if not check:
        show_warnings(data["warnings"])
    if data["households"]:
        out.print("k counts households where a class has fewer of them than people")
