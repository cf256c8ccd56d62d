"""Average class size: how much larger classes are than required.

LeFevre, DeWitt & Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006. Departs from the
paper, which divides records by k times classes: without `raw` there is no k, and in both forms a
suppressed row counts as one in a class of all people.
"""

from __future__ import annotations

from functools import partial

from shoal.core.classes import Classes
from shoal.core.release import Release
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled, suppressed_share


def average_class_size(release: Release, *, raw: bool = False) -> float:
    """Return the mean number of people in a class, from 0 (as in the original) to 1 (one class).

    Like k, this metric counts people: several rows of one person in a class count once. A
    suppressed row counts as a row in a class of all people.

    Parameters:
        release: The release to measure.
        raw: Return the mean / k, where k is the least class size that the model allows.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> average_class_size(release, raw=True)  # two classes of k = 2 people
    1.0
    """
    people, classes = release.original.people, release.classes
    if not people:
        return 0.0
    lost = suppressed_share(release)
    size = (1 - lost) * _mean_people(classes) + lost * people
    if raw:
        return size / _least_size(release)
    return scaled(size, _mean_before(release), people, release)


def _mean_before(release: Release) -> float:
    """Return the mean number of people with the same original tuple."""
    if release.original.unit is not None:
        return _mean_people(Classes.by_quasi(release.original))
    sizes, numbers = release.original_sizes()
    return int((sizes * numbers).sum()) / max(int(numbers.sum()), 1)


def _mean_people(classes: Classes) -> float:
    return int(classes.people.sum()) / max(len(classes), 1)


def _least_size(release: Release) -> int:
    return max([1, *(int(getattr(part, "k", 1)) for part in release.model.parts)])


AVERAGE_CLASS_SIZE = Metric(
    "average-class-size",
    average_class_size,
    title="Average class size",
    scope="cell",
    by_cell=True,
    meaning="how much larger classes are than required",
    formula="mean people in a class / k; a suppressed record is in a class of all people",
    use="the same, with a lower penalty for large classes",
    source="LeFevre et al. 2006",
    published=partial(average_class_size, raw=True),
    raw_range="1 / k to people / k",
)
