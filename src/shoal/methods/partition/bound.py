"""The option `bound` of methods that divide a table into classes: a lower bound of the loss.

The bound depends on the table, k and the published form of a class, never on the method.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Protocol

import numpy as np

from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.release.provenance import Proof
from shoal.release.release import Release
from shoal.support.arrays import weighted_sum
from shoal.support.imports import requires
from shoal.support.options import check_flag, check_range
from shoal.table.table import Table

_ROUNDING = 1e-12  # relative error of sums of floats


class Bounded(Protocol):
    """A method with the two options of the bound."""

    @property
    def bound(self) -> bool:
        """Whether to search for a lower bound of the loss."""

    @property
    def bound_seconds(self) -> float | None:
        """Time limit of this search, None for no limit."""


def check_bound_options(method: Bounded) -> None:
    """Reject values that the two options do not allow."""
    check_flag("bound", method.bound)
    if method.bound_seconds is not None:
        check_range("bound_seconds", method.bound_seconds, 0)


def check_bound(method: Bounded, table: Table, model: Model) -> None:
    """Reject, before the search, a table or model for which no bound is known."""
    if not method.bound:
        return
    if not all(part.equivalent_size for part in model.parts):
        raise InputError(
            f"bound is known for k-anonymity only, not for {model}; leave out bound, or use "
            "k-anonymity alone"
        )
    if table.unit is not None:
        raise InputError(
            "bound needs one row per person: some people have several rows, or k counts "
            "households; leave out bound"
        )
    with requires("exact"):
        import highspy  # noqa: F401


def add_bound(method: Bounded, release: Release, *, use_hierarchies: bool = False) -> Release:
    """Return the release with a lower bound of the loss of any other, if the method is to find one.

    use_hierarchies: whether classes are published by labels of hierarchies; the bound is then one
        for such releases.
    """
    if not method.bound:
        return release
    columns = release.original.quasi_columns
    use_hierarchies &= any(column.hierarchy is not None for column in columns)
    proof, complete = _prove(release, method.bound_seconds, use_hierarchies)
    if use_hierarchies:
        proof = replace(proof, among="with labels of the hierarchies")
    if not complete:
        note = f"the search for the bound stopped after {method.bound_seconds:g} s"
        proof = replace(proof, note=note)
    return replace(release, proof=proof)


def _prove(release: Release, seconds: float | None, use_hierarchies: bool) -> tuple[Proof, bool]:
    """Return the loss and its bound, and whether the search for the bound ended in time."""
    from shoal.methods.partition.ascent import Ascent, lay_out_kinds

    loss = penalties(release)
    k = int(getattr(release.model, "equivalent_size", 0))
    if not loss or release.original.records < 2 * k:  # a single class is the only possibility
        return Proof(loss, loss), True
    space = lay_out_kinds(release.original, use_hierarchies=use_hierarchies)
    search = Ascent(space, k, inf if seconds is None else seconds).run()
    bound = max(search.units - space.excess, 0) * space.scale * (1 - _ROUNDING)
    return Proof(loss, min(bound, loss)), search.complete


def penalties(release: Release) -> float:
    """Return the weighted penalties (NCP) of a release without suppression, over all its cells."""
    total = 0.0
    for recoding in release.recodings.values():
        column = recoding.column
        if column.ordered:
            price = recoding.widths()
        else:
            price = (recoding.subsets.sizes - 1) / max(column.domain, 1)
        used = recoding.usage(release.original.counts)
        total += column.weight * weighted_sum(np.asarray(price, dtype=np.float64), used)
    return total
