"""What a release contains, counted by hand in rows and in people."""

import numpy as np
import pyarrow as pa

from shoal import KAnonymity, Release, Table
from shoal.release.provenance import Tally, released_of

# rows of a, b, c, d: 3, 1, 2, 1; a and b share a home
WHO = ["a", "a", "a", "b", "c", "c", "d"]
HOME = [1, 1, 1, 1, 2, 2, 3]


def released(ids, **units):
    data = pa.table({"id": WHO, "home": HOME, "age": np.arange(7)})
    table = Table.from_arrow(data, {"id": "identifier", "age": "quasi"}, **units)
    return Release.of_groups(table, np.array(ids, dtype=np.int32), max(ids) + 1, KAnonymity(2))


def test_people_are_counted_beside_rows():
    release = released([0, 0, 1, 1, 0, 1, -1], person="id")
    tally = Tally.of(release.classes)  # {a, a, c}, {a, b, c}; d is gone
    assert (tally.records, tally.people, tally.households) == (7, 4, None)
    assert (tally.released, tally.released_people) == (6, 3)
    assert (tally.suppressed, tally.suppressed_people) == (1, 1)
    assert (tally.classes, tally.smallest_class, tally.smallest_class_rows) == (2, 2, 3)
    assert (tally.average_class_people, tally.average_class_rows) == (2.5, 3.0)
    assert released_of(tally.to_dict()) == "6 of 7 rows about 3 of 4 people"


def test_a_person_is_lost_only_with_all_rows():
    tally = Tally.of(released([-1, 0, 0, 0, 0, 0, 0], person="id").classes)
    assert (tally.suppressed, tally.suppressed_people) == (1, 0)


def test_the_smallest_class_counts_households_where_they_are_fewer():
    release = released([0, 0, 0, 0, 1, 1, 1], person="id", household="home")
    tally = Tally.of(release.classes)  # a and b live together, c and d do not
    assert (tally.households, tally.smallest_class) == (3, 1)
    assert tally.average_class_people == 2


def test_each_record_is_a_person_where_none_is_named():
    tally = Tally.of(released([0, 0, 0, 0, 1, 1, -1], rows_are_people=True).classes)
    assert (tally.people, tally.released_people, tally.suppressed_people) == (7, 6, 1)
    assert released_of(tally.to_dict()) == "6 of 7 records"


def test_nothing_is_counted_of_nothing():
    release = released([0] * 7, person="id")
    empty = Release.of_groups(release.original, np.full(7, -1, np.int32), 0, KAnonymity(2))
    tally = Tally.of(empty.classes)
    assert (tally.released, tally.classes, tally.smallest_class) == (0, 0, 0)
    assert tally.average_class_people == 0
