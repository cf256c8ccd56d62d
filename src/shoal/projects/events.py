"""Tables of events under kᵐ-anonymity: any m rows of a person, in all tables, fit k people.

The people are grouped by their own attributes, for several sizes of groups; larger groups keep more
detail of events. The release with the least loss is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from shoal.anonymize.events import Attempt, cell_costs, least_loss
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
from shoal.support.arrays import Bools, Codes, Floats
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
        max_left_out: Share of the rows of events that may be left out.

    Raises:
        Infeasible: More rows have to be left out.
    """
    if not isinstance(model, KmAnonymity):
        raise InputError(f"{model}: km-anonymity cannot be joined with other models")
    check_range("max_left_out", max_left_out, 0, 1)
    tables = _event_tables(project, done)
    if not tables:
        return replace(search(KAnonymity(model.k)), model=model), {}

    def attempt(size: int) -> Attempt[tuple[Release, dict[str, Codes]]]:
        release = search(KAnonymity(size))
        divided = divide_events(
            list(tables.values()), release.classes.ids, k=model.k, m=model.m, share=max_left_out
        )
        groups = dict(zip(tables, divided.groups, strict=True))
        loss = _loss(release, tables, groups)
        return Attempt(divided, loss, not release.classes.ids.any(), (release, groups))

    release, groups = least_loss(model, len(done[project.person].table), attempt).made
    return replace(release, model=model), groups


def _event_tables(project: Project, done: Mapping[str, Linked]) -> dict[str, EventTable]:
    """Return the tables with quasi-identifiers, whose rows an attacker may know of a person.

    Columns that repeat an attribute of the person are recoded with it, the others by events.
    """
    tables = {}
    for name, linked in done.items():
        if name == project.person or linked.people is None or not linked.table.quasi:
            continue
        for other, spec in project.tables.items():
            if name in spec.foreign.values():
                raise InputError(
                    f"table {other!r} refers to events of table {name!r}, so rows of both are "
                    "linked more closely than by the person, which km-anonymity does not cover; "
                    "use k-anonymity"
                )
        columns = [c for c in linked.table.quasi_columns
                   if not repeats_person(project, done, name, c.name)]  # fmt: skip
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


def _of_rows(recodings: Iterable[Recoding], hidden: Bools) -> Floats:
    costs = np.zeros(len(hidden))
    each = [cell_costs(recoding) for recoding in recodings]
    if each:
        costs = np.mean(each, axis=0)
    costs[hidden] = 1.0
    return costs
