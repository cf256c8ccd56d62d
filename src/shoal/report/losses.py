"""The information loss of a release: metrics, attributes, hardest-hit rows, and correlations."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.metrics import (
    METRICS,
    bivariate_correlation_by_pair,
    evaluate,
    ncp_by_attribute,
    ncp_by_record,
    undefined,
)
from shoal.metrics.registry import CellShares, cell_shares, cell_shares_by_attribute
from shoal.release.release import Release
from shoal.report.masking import Mask, at_rows, people_weights, released_only, rounded
from shoal.support.arrays import Counts
from shoal.table.column import Column

_HARDEST = 0.05  # of the released people


def losses(kept: Release, mask: Mask) -> dict[str, Any]:
    """Return the loss of the released records, overall and by attribute."""
    if not len(kept.original):
        return {"cells": None, "metrics": [], "undefined": {}, "attributes": []}
    values = evaluate(kept)
    return {
        "cells": _rounded_shares(cell_shares(kept)),
        "metrics": [_metric(name, value) for name, value in values.items()],
        "undefined": undefined(kept),
        "attributes": _attributes(kept, mask),
    }


def _metric(name: str, value: float) -> dict[str, Any]:
    metric = METRICS[name]
    return {
        "name": name,
        "title": metric.title,
        "value": rounded(value),
        "meaning": metric.meaning,
        "formula": metric.formula,
        "source": metric.source,
    }


def _attributes(kept: Release, mask: Mask) -> list[dict[str, Any]]:
    """Return the loss of each attribute over all released records and over the hardest-hit ones."""
    mean, shares = ncp_by_attribute(kept), cell_shares_by_attribute(kept)
    hardest = _hardest(kept, mask.least)
    hard = {} if hardest is None else _losses_at(kept, hardest)
    return [
        {
            "column": name,
            "loss": rounded(mean[name]),
            "hardest_hit": rounded(hard[name]) if name in hard else None,
            **_rounded_shares(shares[name]),
        }
        for name in kept.recodings
    ]


def _rounded_shares(shares: CellShares) -> dict[str, float | None]:
    """Return the shares of cells, rounded; 1 means all cells, never nearly all."""
    named = {
        "kept_exactly": shares.kept,
        "generalized": shares.generalized,
        "hidden": shares.hidden,
    }
    return {
        name: rounded(share) if share > 1 - 1e-9 else rounded(min(share, 0.999))
        for name, share in named.items()
    }


def _losses_at(kept: Release, rows: Counts) -> dict[str, float]:
    """Return the loss of each attribute over some rows, which may be most of them."""
    found: dict[str, float] = {}
    for name, recoding in kept.recodings.items():  # one copied column at a time
        original = replace(kept.original, columns=(kept.original[name],))
        alone = replace(kept, original=original, recodings={name: recoding}, replaced={})
        found |= ncp_by_attribute(at_rows(alone, rows))
    return found


def _hardest(kept: Release, least: int) -> Counts | None:
    """Return the 5 % of the rows that lost most, or None if all lost about the same.

    None too if only counts are known, because they do not show single rows.

    Rows are weighted by person, so that the selection contains enough people. Rows that lost as
    much as the last of them are included, so that the order of rows does not matter.
    """
    if not kept.knows("tuple"):
        return None
    lost = np.round(ncp_by_record(kept), 9)
    if lost.max() - lost.min() < 5e-4:
        return None
    order = np.argsort(-lost, kind="stable")
    # (rows,) people of the rows up to each one, the hardest hit first
    upto = np.round(np.cumsum(people_weights(kept.original)[order]), 6)
    wanted = max(least, math.ceil(_HARDEST * kept.original.people))
    last = order[min(int(np.searchsorted(upto, wanted)), len(order) - 1)]
    found: Counts = order[lost[order] >= lost[last]]
    return found


def correlations(kept: Release) -> dict[str, Any]:
    """Return the correlations of pairs of attributes over released records, before and after."""
    reason = METRICS["bivariate-correlation"].undefined(kept)
    if not len(kept.original):
        reason = "no record is released"
    if reason:
        return {"pairs": [], "reason": reason}
    found = bivariate_correlation_by_pair(kept, corrected=True)
    pairs = [
        {
            "first": first,
            "second": second,
            "before": rounded(both.before),
            "after": rounded(both.after),
        }
        for (first, second), both in found.items()
    ]
    return {"pairs": pairs, "reason": None}


def is_coarser(column: Column) -> bool:
    """Return whether the rows of a column have one value for each group of a coarser level."""
    return column.floor > 0


def sizes_before(release: Release, rows: Release) -> tuple[Counts, Counts] | None:
    """Return the sizes of the original tuples, and how many have each; None if the rows show them.

    rows: the release in memory.
    """
    if not rows.knows("tuple"):
        return released_only(rows).original_sizes()
    if any(is_coarser(column) for column in rows.original.quasi_columns):
        found: tuple[Counts, Counts] = release.sizes_before  # type: ignore[attr-defined]
        return found
    return None
