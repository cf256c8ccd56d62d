"""Average class size: how much larger classes are than they had to be.

LeFevre, DeWitt & Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
"""

from __future__ import annotations

from functools import partial

from shoal.core.release import Release
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled


def average_class_size(release: Release, *, raw: bool = False) -> float:
    """Mean size of a class, from 0 for that in the original to 1 for all records in one.

    A suppressed record counts as one in a class of the whole table.
    raw: the size / k, where k is the least class size that the model allows.
    """
    records, classes = release.original.records, release.classes
    if not records:
        return 0.0
    lost = classes.suppressed / records
    kept = records - classes.suppressed
    size = (1 - lost) * kept / max(len(classes), 1) + lost * records
    if raw:
        return size / _least_size(release)
    return scaled(size, records / len(release.original.distinct()), records, release)


def _least_size(release: Release) -> int:
    return max([1, *(int(getattr(part, "k", 1)) for part in release.model.parts)])


AVERAGE_CLASS_SIZE = Metric(
    "average-class-size",
    average_class_size,
    title="Average class size",
    meaning="how much larger classes are than they had to be",
    formula="records / classes / k; a suppressed record is in a class of the whole table",
    use="the same, with large classes punished less",
    source="LeFevre et al. 2006",
    published=partial(average_class_size, raw=True),
    raw_range="1 / k to records / k",
)
