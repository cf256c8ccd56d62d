"""Losses of classes: what records that are published alike have lost together.

    ambiguity            tuples that a record may stand for; in logarithms, as products overflow,
                         and a few coarse records dominate (Goldberger & Tassa, ICDM Workshops 2009)
    average_class_size   people in a class (LeFevre, DeWitt & Ramakrishnan, "Mondrian
                         multidimensional k-anonymity", ICDE 2006, which divides by k: raw only)
    class_loss           spread of the original values in a class, whatever its label
    classification       records whose target differs from the majority of their class, as no
                         classifier that reads the release can be right on them (Iyengar, KDD 2002)
    diameter             attributes in which the two most different records differ (Meyerson &
                         Williams, "On the complexity of optimal k-anonymity", PODS 2004)
    discernibility       pairs of records in the same class (Bayardo & Agrawal, "Data privacy
                         through optimal k-anonymization", ICDE 2005)

In average class size a suppressed row counts as one in a class of all people, which departs from
the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from shoal.metrics.divergence import released_boxes
from shoal.metrics.metric import (
    Metric,
    class_width,
    scaled,
    set_share,
    suppressed_share,
    target_column,
    with_suppressed,
    without_target,
)
from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts, Floats, weighted_sum
from shoal.table.classes import Classes, count_values
from shoal.table.column import Column


def ambiguity(release: Release, *, raw: bool = False) -> float:
    """Return the mean number of tuples that a record may stand for, 0 (one) to 1 (whole domain).

    Parameters:
        release: The release to measure.
        raw: Return the number, from 1 to the product of the domains; infinite if it overflows a
            float.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ambiguity(release, raw=True)  # two ages, and two sexes in one of the two classes
    3.0
    """
    boxes = released_boxes(release)
    if not len(boxes):
        return 0.0
    most = float(sum(np.log(column.domain) for column in boxes.columns))
    volumes = boxes.log_volumes()
    if raw:
        # the largest volume is factored out, so that only the result itself can overflow
        top = float(volumes.max())
        with np.errstate(over="ignore"):
            return float(np.exp(top) * _mean(np.exp(volumes - top), boxes.counts))
    share = _mean(np.exp(np.minimum(volumes - most, 0.0)), boxes.counts)
    return scaled(share, float(np.exp(-most)), 1.0, release)


def ambiguity_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the mean number of values that a cell of each attribute may stand for.

    Parameters:
        release: The release to measure.
        raw: Return the number itself.

    Returns:
        The loss of each quasi-identifier, from 0 (one value) to 1 (the whole domain).

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ambiguity_by_attribute(release, raw=True)
    {'age': 2.0, 'sex': 1.5}
    """
    boxes = released_boxes(release)
    losses = {}
    for j, column in enumerate(boxes.columns):
        sizes = boxes.subsets[j].sizes[boxes.entries[j]]
        mean = _mean(sizes.astype(np.float64), boxes.counts)
        losses[column.name] = mean if raw else scaled(mean, 1.0, column.domain, release)
    return losses


def _mean(values: Floats, counts: Counts) -> float:
    return float((values * counts).sum() / max(int(counts.sum()), 1))


AMBIGUITY = Metric(
    "ambiguity",
    ambiguity,
    title="Ambiguity",
    scope="cell",
    meaning="tuples that a record may stand for",
    formula="mean over records: product over attributes of the values a cell may stand for",
    use="how many different records a record could describe; a few coarse records dominate",
    source="Goldberger & Tassa 2009",
    published=partial(ambiguity, raw=True),
    raw_range="1 to the product of the domains",
    by_attribute=ambiguity_by_attribute,
)


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
        return size / max([1, *(int(getattr(part, "k", 1)) for part in release.model.parts)])
    return scaled(size, _mean_before(release), people, release)


def _mean_before(release: Release) -> float:
    """Return the mean number of people with the same original tuple."""
    if release.original.unit is not None:
        return _mean_people(Classes.by_quasi(release.original))
    sizes, numbers = release.original_sizes()
    return int((sizes * numbers).sum()) / max(int(numbers.sum()), 1)


def _mean_people(classes: Classes) -> float:
    return int(classes.people.sum()) / max(len(classes), 1)


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


def class_loss(release: Release) -> float:
    """Return the mean spread inside the record's class over all cells, from 0 (best) to 1.

    Ordered: (greatest − least) / extent of the column; nominal: (values − 1) / (domain − 1);
    a suppressed record counts 1.

    Parameters:
        release: The release to measure.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> class_loss(release)
    0.375
    """
    by_attribute = class_loss_by_attribute(release)
    return float(np.mean(list(by_attribute.values())))


def class_loss_by_attribute(release: Release) -> dict[str, float]:
    """Return the mean spread of each attribute inside the classes.

    Parameters:
        release: The release to measure.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> class_loss_by_attribute(release)
    {'age': 0.25, 'sex': 0.5}
    """
    classes = release.classes
    records = max(release.original.records, 1)
    losses = {}
    for column in release.original.quasi_columns:
        lost = float(classes.suppressed)
        if len(classes):
            lost += weighted_sum(_spread(release, column), classes.rows)
        losses[column.name] = lost / records
    return losses


def class_loss_by_record(release: Release) -> Floats:
    """Return the mean spread inside each record's class.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> class_loss_by_record(release).tolist()
    [0.125, 0.125, 0.625, 0.625]
    """
    if not len(release.classes):
        return np.ones(len(release.original))
    spreads = [_spread(release, column) for column in release.original.quasi_columns]
    by_class = np.mean(spreads, axis=0)
    return with_suppressed(release, by_class[release.classes.ids])


def _spread(release: Release, column: Column) -> Floats:
    """(classes,) spread of the values of a column inside each class, 0 to 1."""
    values = release.classes.row_histogram(column.name)
    if column.ordered:
        return class_width(column, values)
    return set_share(np.diff(values.indptr).astype(np.float64), column.domain)


CLASS_LOSS = Metric(
    "class",
    class_loss,
    title="Class loss",
    scope="class",
    meaning="spread of values inside a class",
    formula="mean over cells: spread of the original values in the record's class / extent",
    use="comparing methods and tools that label their cells differently",
    source="Shoal",
    by_attribute=class_loss_by_attribute,
    by_record=class_loss_by_record,
)


def classification(release: Release, target: str | None = None, *, raw: bool = False) -> float:
    """Return the share of records that are suppressed or differ from their class's majority.

    Scaled from 0, the share in the original, whose classes are equal quasi-identifier tuples, to 1,
    all records.

    Parameters:
        release: The release to measure.
        target: A sensitive or insensitive column; by default the only sensitive one.
        raw: Return the share itself.

    Returns:
        The loss.

    Raises:
        InputError: The target is not such a column, or none is named and there is not exactly one
            sensitive column.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = pa.table({"age": [20, 30, 50, 60], "disease": ["flu", "flu", "flu", "gout"]})
    >>> release = shoal.anonymize(ill, k=2, quasi="age", sensitive="disease")
    >>> classification(release)  # the class [50, 60] has no majority
    0.25
    """
    column = target_column(release, target)
    records = max(release.original.records, 1)
    classes = release.classes
    share = 1 - _outvoting(release, column, classes.ids, len(classes)) / records
    if not release.original.records:
        return 0.0
    if raw:
        return share
    tuples = release.original.distinct()
    least = 1 - _outvoting(release, column, tuples.inverse, len(tuples)) / records
    return scaled(share, least, 1.0, release)


def _outvoting(release: Release, column: Column, ids: Codes, groups: int) -> int:
    """Return the number of records that have the most frequent value of their group."""
    if not groups:
        return 0
    values = count_values(column, ids, groups, release.original.counts)
    return int(np.maximum.reduceat(values.counts, values.indptr[:-1]).sum())


CLASSIFICATION = Metric(
    "classification",
    classification,
    title="Classification metric",
    by_cell=True,
    meaning="records whose target differs from the majority of their class",
    formula="share of records that are suppressed or lack their class's most frequent target value",
    use="classifiers trained on the release; 1 − raw is the best accuracy that they can reach",
    source="Iyengar 2002",
    published=partial(classification, raw=True),
    requires="a target column: the only sensitive column, or the one given as target",
    lacking=without_target,
    takes_target=True,
)


_CELLS = 4_000_000  # compared at a time


def diameter(release: Release, *, raw: bool = False) -> float:
    """Return the loss in the greatest Hamming distance, 0 (as in the original) to 1 (all equal).

    Cells differ if their published texts differ. A suppressed record has distance 0 to all others.

    Parameters:
        release: The release to measure.
        raw: Return the distance, from 0 to the number of attributes; higher is better.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> diameter(release), diameter(release, raw=True)  # classes differ in age and in sex
    (0.0, 2.0)
    """
    after = _greatest_distance(_released_tuples(release))
    if raw:
        return float(after)
    tuples = release.original.distinct().table
    before = _greatest_distance([column.codes for column in tuples.quasi_columns])
    return scaled(-after, -before, 0.0, release)


def _released_tuples(release: Release) -> list[Codes]:
    """For each attribute (classes,) the published text of each class, encoded as a number."""
    _, rows = np.unique(release.classes.ids, return_index=True)
    rows = rows[len(rows) - len(release.classes) :]  # without the suppressed ones
    columns = []
    for recoding in release.recodings.values():
        number: dict[str | None, int] = {}
        same = [number.setdefault(text, len(number)) for text in recoding.labels]
        columns.append(np.array(same, dtype=np.int32)[recoding.codes[rows]])
    return columns


def _greatest_distance(columns: Sequence[Codes]) -> int:
    """Return the greatest Hamming distance between two of the distinct tuples."""
    # Of two tuples that differ everywhere, at most one has the most frequent value of an attribute.
    # So the few others are compared with all tuples, and the tuples with that value, which agree in
    # this attribute, are left for the next round. Rare tuples first: they usually end the search.
    best = 0
    while True:
        counts = [np.bincount(column) for column in columns]
        varied = [j for j, count in enumerate(counts) if np.count_nonzero(count) > 1]
        if best >= len(varied):
            return best
        columns = [columns[j] for j in varied]
        counts = [counts[j] for j in varied]
        most = int(np.argmax([count.max() for count in counts]))
        common = int(counts[most].argmax())
        few = np.flatnonzero(columns[most] != common)
        rarity = np.zeros(len(few), dtype=np.int64)
        for count, column in zip(counts, columns, strict=True):
            rarity += count[column[few]]
        few = few[np.argsort(rarity, kind="stable")]
        best = max(best, _distance_between(columns, few))
        rest = columns[most] == common
        columns = [column[rest] for column in columns]


def _distance_between(columns: Sequence[Codes], few: Counts) -> int:
    """Return the greatest distance between one of a few tuples and any of all tuples.

    few: the positions of the few tuples.
    """
    every = len(columns[0])
    best, begin, step = 0, 0, 1
    while begin < len(few) and best < len(columns):
        part = few[begin : begin + step]
        apart = np.zeros((len(part), every), dtype=np.int16)
        for column in columns:
            apart += column[part][:, None] != column[None, :]
        best = max(best, int(apart.max()))
        begin += step
        step = min(2 * step, max(_CELLS // every, 1))
    return best


DIAMETER = Metric(
    "diameter",
    diameter,
    title="Diameter",
    meaning="attributes in which the most different records differ",
    formula="greatest Hamming distance between two released records",
    use="rarely; two records determine the value",
    source="Meyerson & Williams 2004",
    published=partial(diameter, raw=True),
    raw_range="0 to the number of attributes",
    raw_best="high",
)


def discernibility(release: Release, *, raw: bool = False) -> float:
    """Return the ordered pairs of indistinguishable records, 0 (as in the original) to 1 (all).

    A record costs the size of its class, a suppressed record the size of the table.

    Parameters:
        release: The release to measure.
        raw: Return the number of pairs, including each record with itself.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> discernibility(release, raw=True)  # two classes of two records: 2² + 2²
    8.0
    """
    records = release.original.records
    rows = release.classes.rows
    alike = _pairs(rows, np.ones_like(rows)) + release.classes.suppressed * records
    if raw:
        return float(alike)
    before = _pairs(*release.original_sizes())
    return scaled(alike / max(records, 1), before / max(records, 1), records, release)


def _pairs(sizes: Counts, numbers: Counts) -> int:
    """Return the pairs in groups of these sizes, exactly: squares of large counts overflow."""
    listed = zip(sizes.tolist(), numbers.tolist(), strict=True)
    return sum(size * size * number for size, number in listed)


DISCERNIBILITY = Metric(
    "discernibility",
    discernibility,
    title="Discernibility",
    scope="cell",
    by_cell=True,
    meaning="record pairs that can no longer be distinguished",
    formula="sum of squared class sizes; a suppressed record adds the size of the table",
    use="the sizes of classes matter, not the published values",
    source="Bayardo & Agrawal 2005",
    published=partial(discernibility, raw=True),
    raw_range="records to records²",
)
