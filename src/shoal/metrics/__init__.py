"""What a release cost: each metric a pure function of the release, 0 best, 1 worst."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shoal.core.release import Release
from shoal.errors import InputError
from shoal.metrics.class_loss import class_loss, class_loss_by_attribute
from shoal.metrics.ncp import gcp, ncp, ncp_by_attribute
from shoal.metrics.published_loss import published_loss, published_loss_by_attribute

METRICS: dict[str, Callable[[Release], float]] = {
    "ncp": ncp,
    "class": class_loss,
    "pub": published_loss,
}


def evaluate(release: Release, metrics: Iterable[str] | None = None) -> dict[str, float]:
    """Return each metric's value for the release, from 0 (nothing lost) to 1."""
    names = list(METRICS if metrics is None else metrics)
    unknown = [name for name in names if name not in METRICS]
    if unknown:
        raise InputError(f"no metric {unknown[0]!r}; there are {', '.join(METRICS)}")
    return {name: METRICS[name](release) for name in names}


__all__ = [
    "METRICS",
    "class_loss",
    "class_loss_by_attribute",
    "evaluate",
    "gcp",
    "ncp",
    "ncp_by_attribute",
    "published_loss",
    "published_loss_by_attribute",
]
