"""Job: the privacy level of a published file, by pycanon or by Shoal.

Both begin with the rows in memory, as text.
"""

from __future__ import annotations

from typing import Any

from jobs import answer, receive
from meter import medians, metered

REPEATS = 5


def by_pycanon(job: dict[str, Any]) -> dict[str, Any]:
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(job["release"], keep_default_na=False, dtype=str)
    quasi, sensitive = job["quasi"], [job["sensitive"]]
    frame = frame[[*quasi, *sensitive]]
    asked = {
        "k": lambda: anonymity.k_anonymity(frame, quasi),
        "l": lambda: anonymity.l_diversity(frame, quasi, sensitive),
        "t": lambda: anonymity.t_closeness(frame, quasi, sensitive),
    }
    values, costs = {}, {}
    for letter, ask in asked.items():
        with metered() as cost:
            values[letter] = float(ask())
        costs[letter] = cost
    return {"values": values, "costs": costs}


def by_shoal(job: dict[str, Any]) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import csv

    import shoal
    from shoal.privacy import TCloseness, profile
    from shoal.table.column import Role

    names, sensitive = [*job["quasi"], job["sensitive"]], job["sensitive"]
    as_text = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    rows = csv.read_csv(job["release"], convert_options=as_text).select(names)
    roles = dict.fromkeys(job["quasi"], Role.QUASI) | {sensitive: Role.SENSITIVE}

    def look(data: Any) -> tuple[shoal.Classes, dict[str, float]]:
        classes = shoal.Classes.by_quasi(shoal.Table.from_arrow(data, roles))
        return classes, profile(classes, [sensitive])

    look(rows.slice(0, 100))
    costs = []
    for _ in range(REPEATS):  # hundredths of a second: a single run is not reliable
        with metered() as cost:
            classes, levels = look(rows)
        costs.append(cost)
    values = {letter: levels[f"{letter}({sensitive})"] for letter in "lt"}
    values["t"] = TCloseness(1, sensitive, "equal").level(classes)  # pycanon's distance for text
    return {"values": {"k": levels["k"], **values}, "costs": {"all": medians(costs)}}


def main() -> None:
    folder, job = receive()
    answer(folder, by_pycanon(job) if job["by"] == "pycanon" else by_shoal(job))


main()
