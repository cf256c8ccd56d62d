"""Job: anonymize the shared table with anonypy's Mondrian.

It returns counts of equal rows, not rows, so its partitions are recorded to assign each row to its
class.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import anonypy
import numpy as np
import pandas as pd

from jobs import answer, receive
from meter import metered


def main() -> None:
    folder, job = receive()
    kinds = dict.fromkeys(job["numbers"], int)  # text stays text, leading zeros included
    frame = pd.read_csv(job["table"], keep_default_na=False, dtype=defaultdict(lambda: str, kinds))
    quasi = job["quasi"]
    texts = [name for name in frame.columns if name not in job["numbers"]]
    frame[texts] = frame[texts].astype("category")
    preserver = anonypy.Preserver(frame, quasi, job["sensitive"])
    kept: list[Any] = []
    cut = preserver.modrian.partition  # anonypy's spelling

    def remember(*arguments: Any) -> Any:
        kept.extend(cut(*arguments))
        return kept

    preserver.modrian.partition = remember
    with metered() as cost:
        counted = preserver.anonymize_k_anonymity(job["k"])
    cells = {name: np.full(len(frame), -1) for name in quasi}
    entries: dict[str, list[Any]] = {name: [] for name in quasi}
    places: dict[str, dict[Any, int]] = {name: {} for name in quasi}
    for part in kept:
        for name in quasi:
            values = sorted(frame.loc[part, name].unique().tolist())
            if name in job["numbers"]:  # it publishes the least and the greatest
                values = list(range(values[0], values[-1] + 1))
            place = places[name].setdefault(tuple(values), len(entries[name]))
            if place == len(entries[name]):
                entries[name].append(values)
            cells[name][part] = place
    np.savez(folder / "cells.npz", **cells)
    answer(folder, {"cost": cost, "entries": entries, "rows": sum(row["count"] for row in counted)})


main()
