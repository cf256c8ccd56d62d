"""Tables of events under kᵐ-anonymity: any m rows of a person, in all tables, fit k people.

The people are grouped by their own attributes, for several sizes of groups; larger groups keep more
detail of events. The release with the least loss is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.anonymize.events import cell_costs, group_sizes
from shoal.anonymize.events.dividing import EventTable, divide_events
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.errors import InputError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.km_anonymity import KmAnonymity
from shoal.privacy.model import Model
from shoal.projects.cells import repeats_person
from shoal.projects.links import Linked
from shoal.projects.project import Project
from shoal.support.arrays import Codes, Floats
from shoal.support.options import check_range


def release_events(
    project: Project,
    done: Mapping[str, Linked],
    model: Model,
    search: Callable[[Model], Release],
    max_left_out: float,
) -> tuple[Release, dict[str, Codes]]:
    """Return a release of the people, and the groups of events of each table that has events.

    Parameters:
        search: Returns a release of the table of people that meets a model.
        max_left_out: Share of a group's rows that may be left out to keep the others detailed.
    """
    if not isinstance(model, KmAnonymity):
        raise InputError(f"{model}: km-anonymity cannot be joined with other models")
    check_range("max_left_out", max_left_out, 0, 1)
    tables = _event_tables(project, done)
    best: tuple[float, Release, dict[str, Codes]] | None = None
    for size in group_sizes(model.k, len(done[project.person].table)):
        release = search(KAnonymity(size))
        classes = release.classes.ids
        divided = divide_events(
            list(tables.values()), classes, k=model.k, m=model.m, share=max_left_out
        ) if tables else None  # fmt: skip
        groups = dict(zip(tables, divided.groups, strict=True)) if divided else {}
        loss = _loss(release, tables, groups)
        if best is None or loss < best[0]:
            best = (loss, release, groups)
        if len(release.classes) <= 1 or not tables:
            break
    assert best is not None
    return replace(best[1], model=model), best[2]


def _event_tables(project: Project, done: Mapping[str, Linked]) -> dict[str, EventTable]:
    """Return the tables whose quasi-identifiers describe events, not the person."""
    tables = {}
    for name, linked in done.items():
        if name == project.person or linked.people is None:
            continue
        columns = [c for c in linked.table.quasi_columns
                   if not repeats_person(project, done, name, c.name)]  # fmt: skip
        if not columns:
            continue
        for other, spec in project.tables.items():
            if name in spec.foreign.values():
                raise InputError(
                    f"table {other!r} refers to events of table {name!r}, so rows of both are "
                    "linked more closely than by the person, which km-anonymity does not cover; "
                    "use k-anonymity"
                )
        tables[name] = EventTable(linked.people, columns)
    return tables


def _loss(release: Release, tables: Mapping[str, EventTable], groups: Mapping[str, Codes]) -> float:
    """Return the mean loss of a row over all tables; suppressed rows have lost everything."""
    losses = [_of_rows(release.recodings.values(), release.classes.ids < 0)]
    for name, table in tables.items():
        ids = groups[name]
        count = int(ids.max(initial=-1)) + 1
        made = [Recoding.of_groups(column, ids, count) for column in table.columns]
        losses.append(_of_rows(made, ids < 0))
    return float(np.mean([each.mean() for each in losses if len(each)]))


def _of_rows(recodings: Any, hidden: Any) -> Floats:
    costs: Floats = np.mean([cell_costs(each) for each in recodings], axis=0)
    costs[hidden] = 1.0
    return costs
