"""Information-loss metrics: each is a pure function of the release, from 0 (best) to 1 (worst)."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.errors import unknown
from shoal.metrics.bivariate_correlation import (
    bivariate_correlation,
    bivariate_correlation_by_pair,
)
from shoal.metrics.cell_width import (
    gcp,
    granularity,
    granularity_by_attribute,
    granularity_by_record,
    hierarchy_ncp,
    hierarchy_ncp_by_attribute,
    hierarchy_ncp_by_record,
    information_loss,
    information_loss_by_attribute,
    information_loss_by_record,
    ncp,
    ncp_by_attribute,
    ncp_by_record,
)
from shoal.metrics.class_size import (
    ambiguity,
    ambiguity_by_attribute,
    average_class_size,
    class_loss,
    class_loss_by_attribute,
    class_loss_by_record,
    classification,
    diameter,
    discernibility,
)
from shoal.metrics.divergence import (
    hellinger,
    hellinger_by_attribute,
    kl_divergence,
    kl_divergence_by_attribute,
)
from shoal.metrics.entropy import (
    entropy,
    entropy_by_attribute,
    entropy_by_record,
    non_uniform_entropy,
    non_uniform_entropy_by_attribute,
    non_uniform_entropy_by_record,
    published_loss,
    published_loss_by_attribute,
    published_loss_by_record,
)
from shoal.metrics.levels import (
    absolute_distance,
    absolute_distance_by_attribute,
    precision,
    precision_by_attribute,
    precision_by_record,
    relative_distance,
    relative_distance_by_attribute,
    squared_distance_error,
    squared_distance_error_by_attribute,
)
from shoal.metrics.metric import APART, COARSER, UNMATCHED, Metric, refuse, target_column
from shoal.metrics.registry import METRICS, estimate_errors, population_losses
from shoal.release.release import Release
from shoal.support.wording import html_table


class Losses(dict[str, float]):
    """Values of metrics by name; notebooks show them with their meaning."""

    def _repr_html_(self) -> str:
        rows = [(name, value, METRICS[name].meaning) for name, value in self.items()]
        return html_table("Losses", ("metric", "value", "what it measures"), rows)


def evaluate(
    release: Release,
    metrics: Iterable[str] | None = None,
    *,
    raw: bool = False,
    target: str | None = None,
) -> Losses:
    """Return the value of each metric for the release, from 0 (nothing lost) to 1.

    Parameters:
        release: The release to measure.
        metrics: Names of metrics. By default all that are defined for the release, see `undefined`.
        raw: Return values on the scales of the metrics' papers instead.
        target: The column that `classification` predicts. By default the only sensitive column.

    Returns:
        The value by name of the metric.

    Raises:
        InputError: A name is not a metric, or a named metric is not defined for the release.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> evaluate(release, ["ncp", "discernibility"])
    {'ncp': 0.25, 'discernibility': 0.3333333333333333}
    """
    release = release.digest
    if target is not None:
        target_column(release, target)
    if metrics is None:
        missing = undefined(release, target=target)
        names = [name for name in METRICS if name not in missing]
    else:
        names = list(metrics)
        unknown_names = [name for name in names if name not in METRICS]
        if unknown_names:
            raise unknown("no metric", unknown_names[0], METRICS)
    chosen = [METRICS[name] for name in names]
    for metric in chosen:
        reason = metric.undefined(release, target)
        if reason in (APART, COARSER, UNMATCHED):
            refuse(metric.name, reason)
    return Losses(
        (m.name, m.raw(release, target) if raw else m.scaled(release, target)) for m in chosen
    )


def undefined(release: Release, *, target: str | None = None) -> dict[str, str]:
    """Return the metrics that are not defined for the release, with the reason.

    Parameters:
        release: The release to measure.
        target: The column that `classification` predicts. By default the only sensitive column.

    Returns:
        The reason by name of the metric.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> undefined(release)["precision"]
    "column 'age' has no hierarchy"
    """
    release = release.digest
    reasons = {name: metric.undefined(release, target) for name, metric in METRICS.items()}
    return {name: reason for name, reason in reasons.items() if reason}


__all__ = [
    "METRICS",
    "Metric",
    "absolute_distance",
    "absolute_distance_by_attribute",
    "ambiguity",
    "ambiguity_by_attribute",
    "average_class_size",
    "bivariate_correlation",
    "bivariate_correlation_by_pair",
    "class_loss",
    "class_loss_by_attribute",
    "class_loss_by_record",
    "classification",
    "diameter",
    "discernibility",
    "entropy",
    "entropy_by_attribute",
    "entropy_by_record",
    "estimate_errors",
    "evaluate",
    "gcp",
    "granularity",
    "granularity_by_attribute",
    "granularity_by_record",
    "hellinger",
    "hellinger_by_attribute",
    "hierarchy_ncp",
    "hierarchy_ncp_by_attribute",
    "hierarchy_ncp_by_record",
    "information_loss",
    "information_loss_by_attribute",
    "information_loss_by_record",
    "kl_divergence",
    "kl_divergence_by_attribute",
    "ncp",
    "ncp_by_attribute",
    "ncp_by_record",
    "non_uniform_entropy",
    "non_uniform_entropy_by_attribute",
    "non_uniform_entropy_by_record",
    "population_losses",
    "precision",
    "precision_by_attribute",
    "precision_by_record",
    "published_loss",
    "published_loss_by_attribute",
    "published_loss_by_record",
    "relative_distance",
    "relative_distance_by_attribute",
    "squared_distance_error",
    "squared_distance_error_by_attribute",
    "undefined",
]
