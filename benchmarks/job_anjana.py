"""Job: anonymize the shared table with anjana's k-anonymity.

It drops rows and renumbers the rest, but keeps the old row labels in a column `index`.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity

from jobs import answer, receive
from meter import metered


def read_levels(path: str, number: bool) -> dict[int, Any]:
    """Return a hierarchy in the form of anjana: for each level one label per value."""
    with Path(path).open(newline="") as lines:
        rows = [row for row in csv.reader(lines, delimiter=";") if row]
    levels: dict[int, Any] = {i: np.array(labels) for i, labels in enumerate(zip(*rows))}  # noqa: B905
    if number:
        levels[0] = levels[0].astype(int)
    return levels


def main() -> None:
    folder, job = receive()
    kinds = dict.fromkeys(job["numbers"], int)  # text stays text, leading zeros included
    frame = pd.read_csv(job["table"], keep_default_na=False, dtype=defaultdict(lambda: str, kinds))
    quasi = job["quasi"]
    trees = {n: read_levels(job["hierarchies"][n], n in job["numbers"]) for n in quasi}
    percent = 100 * job["max_suppression"]
    with metered() as cost:
        found = k_anonymity(frame, [], list(quasi), job["k"], percent, trees)
    rows = found["index"] if "index" in found and "index" not in frame else found.index
    cells = {name: np.full(len(frame), -1) for name in quasi}
    entries = {}
    for name in quasi:
        codes, labels = pd.factorize(found[name])
        shown = set(labels)
        level = min(i for i, each in trees[name].items() if shown <= set(each))
        values, coarse = (np.asarray(trees[name][i]) for i in (0, level))
        entries[name] = [values[coarse == label].tolist() for label in labels]
        cells[name][rows.to_numpy()] = codes
    np.savez(folder / "cells.npz", **cells)
    answer(folder, {"cost": cost, "entries": entries, "rows": len(found)})


main()
