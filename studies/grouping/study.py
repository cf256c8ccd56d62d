"""Methods that group records, compared on loss and time.

Repeats figures 3.2 to 3.8 and A.1 of Liang, "Algorithms in privacy & security for data analytics
and machine learning", 2020, which are also in Liang & Samavi, "Optimization-based k-anonymity
algorithms", 2020, on public tables instead of the published census extract, with annealing added.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from shoal.errors import InputError
from shoal.methods import anonymize
from shoal.metrics import gcp
from shoal.privacy.k_anonymity import FreeformAnonymity, KAnonymity
from shoal.privacy.model import Model
from shoal.table.column import Column
from shoal.table.table import Table
from studies.grouping.sections import sections_of
from studies.grouping.tables import draw_table
from studies.grouping.tasks import DOKA, tasks_for
from studies.page import write_page
from studies.runs import Row, Stopwatch, Task, measure_all


def run(out: Path, *, full: bool, data: str) -> Path:
    """Measure, draw and judge; returns the page."""
    tasks = list(tasks_for(data, full=full))
    rows = measure_all(tasks, measure, out / "runs")
    about = (
        f"Table {data} in place of the published census extract, with the attributes of table 3.6 "
        "in their order, all as numbers except in figures 3.3 and 3.4. Which four attributes "
        "figures 3.2, 3.5 and 3.6 have is not published: here they are the first four. Loss is the "
        "weighted penalty of a record (GCP), time is CPU seconds on one core with kernels loaded, "
        "verification included. Each setting is run on five draws of rows or more. Mondrian cuts "
        "the widest attribute at its median, as published, with strict cuts; mondrian-relaxed may "
        "separate records at the median, and mondrian-best chooses the cut that saves most, as "
        "Shoal does by default. A strict median cut depends on how categories are numbered, which "
        "is alphabetical here: claims on Mondrian are also tested with the numbers in reverse, and "
        "are undecided if the two do not agree. Further numberings are not tested. "
        + (
            "Sizes as published."
            if full
            else "Some tables are smaller than published; --full runs the published sizes."
        )
    )
    return write_page(out, "Methods that group records", about, sections_of(out, rows))


def measure(task: Task) -> Row:
    """Run one method on one table; a method that refuses the table returns its reason."""
    table = draw_table(
        task["data"],
        task["rows"],
        task["width"],
        task["seed"],
        categories=task.get("categories", False),
        other=task.get("other", False),
        reverse=task.get("reverse", False),
    )
    if task.get("chain"):
        return _measure_chain(table, task["k"], task["options"]["sets_read"])
    model: Model = KAnonymity(task["k"])
    if task["name"] in DOKA:
        model = FreeformAnonymity(task["k"])
    _load_kernels(task["name"], model)
    try:
        with Stopwatch() as took:
            release = anonymize(table, model, task["name"], **task["options"])
    except InputError as refused:
        return {"loss": None, "seconds": None, "note": str(refused)}
    proof = release.proof
    return {
        "loss": gcp(release),
        "seconds": took.seconds,
        "proven": None if proof is None else proof.proven,
        "note": "; ".join(release.run.notes),
    }


def _measure_chain(table: Table, k: int, sets_read: int) -> Row:
    """Return how many sub-problems of Split & Carry have each size, and their largest size."""
    from shoal.methods.partition.carrying import Chain
    from shoal.methods.partition.records import lay_out
    from shoal.methods.partition.split_carry import SplitCarry, link

    records = lay_out(table, ())
    chain = Chain(records, k, link(SplitCarry(sets_read=sets_read), k))
    chain.solve(np.arange(len(records)))
    counts = Counter(chain.sizes)
    return {"sizes": [[size, counts[size]] for size in sorted(counts)], "bound": chain.most}


@cache
def _load_kernels(name: str, model: Model) -> None:
    """Run a method on a handful of rows, so that loading its kernels is not measured."""
    places = [(7 * i) % 13 for i in range(4 * model.least_size)]
    table = Table((Column.encode("a", places), Column.encode("b", places[::-1])))
    anonymize(table, model, name)
