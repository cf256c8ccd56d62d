"""What stands inside a range or set is read back as what it was: quotes where they are needed."""

import numpy as np
import pytest

from shoal.table.column import Column
from shoal.table.subsets import Subsets, agree, range_labels, set_labels

TEXTS = ['"x"', "a", "a, b", "b ", "missing", "x or missing", 'y"z', "{c}", None]


def pairs(domain):
    """Return the subsets of two neighbours."""
    first = np.arange(domain - 1, dtype=np.int32)
    return Subsets.ranges(domain, first, first + 1)


def test_members_that_would_be_misread_are_quoted():
    column = Column.encode("q", TEXTS)
    assert set_labels(column, pairs(column.domain)) == (
        '{"""x""", a}',
        '{a, "a, b"}',
        '{"a, b", "b "}',
        '{"b ", "missing"}',
        '{"missing", "x or missing"}',
        '{"x or missing", y"z}',
        '{y"z, {c}}',
        "{{c}, missing}",
    )


def test_ends_of_ranges_are_quoted_likewise():
    column = Column.encode("q", TEXTS, order=[t for t in TEXTS if t is not None])
    labels = range_labels(column, pairs(column.domain))
    assert labels[1] == '[a, "a, b"]'
    assert labels[-1] == "{c} or missing"
    missing = Subsets.of_members(column.domain, np.array([0, 2]), np.array([5, 8], np.int32))
    assert range_labels(column, missing) == ('"x or missing" or missing',)


@pytest.mark.parametrize("make", [set_labels, range_labels])
def test_a_single_value_is_published_as_it_is_and_no_two_subsets_alike(make):
    column = Column.encode("q", TEXTS, order=[t for t in TEXTS if t is not None])
    subsets = Subsets.joined([Subsets.singletons(column.domain), pairs(column.domain)])
    labels = make(column, subsets)
    assert labels[: column.domain] == column.labels
    assert len(set(labels)) == len(labels)
    assert agree(column, subsets, labels, None).all()
