import pyarrow as pa
import pytest

import shoal
from shoal.risk.caveats import caveats
from shoal.risk.singling_out import is_notable, singling_out
from shoal.table.classes import Classes
from shoal.table.table import Table


def table(person=(), counts=None, **columns):
    """Columns by role: q… quasi-identifiers, s… sensitive, i… insensitive, p… the person."""
    roles = {"q": "quasi", "s": "sensitive", "i": "insensitive"}
    given = {name: roles[name[0]] for name in columns if name[0] in roles}
    return Table.from_arrow(pa.table(columns), given, counts=counts, person=person)


def found(**columns):
    return singling_out(Classes.by_quasi(table(**columns)))


def test_values_that_one_person_has_single_them_out():
    told = found(q=list("aabb"), s=[1, 2, 2, 3])
    (column,) = told.columns
    assert (column.columns, column.alone, column.with_quasi, told.people) == (("s",), 2, 4, 4)
    assert (column.alone_share, column.with_quasi_share) == (0.5, 1.0)
    assert (told.together, told.insensitive) == (None, None)


def test_columns_are_counted_by_themselves_and_together():
    told = found(q=list("aaaa"), s=[1, 1, 2, 2], i=[1, 2, 1, 2])
    assert [each.alone for each in told.columns] == [0, 0]
    assert (told.together.alone, told.together.columns) == (4, ("s", "i"))
    assert (told.insensitive.columns, told.insensitive.alone) == (("i",), 0)


def test_a_person_with_several_rows_of_one_value_is_alone_with_it():
    told = found(q=list("aaaa"), s=[1, 1, 2, 2], p=["n", "n", "m", "o"], person="p")
    assert (told.columns[0].alone, told.people) == (1, 3)


def test_a_person_counts_once_however_many_values_single_them_out():
    told = found(q=list("aabb"), s=[1, 2, 3, 3], p=["n", "n", "m", "o"], person="p")
    assert (told.columns[0].alone, told.columns[0].with_quasi) == (1, 1)


def test_a_row_that_stands_for_several_records_is_not_alone():
    told = found(q=list("aab"), s=[1, 2, 2], counts=[2, 1, 1])
    assert (told.columns[0].alone, told.columns[0].with_quasi, told.people) == (0, 2, 4)


def test_rows_that_are_left_out_do_not_keep_others_company():
    data = table(q=[1, 1, 5, 5, 9], s=[1, 2, 2, 2, 1])
    hidden = shoal.anonymize(data, shoal.KAnonymity(2), "flash", max_suppression=0.2)
    assert hidden.classes.suppressed == 1
    assert singling_out(hidden.classes).columns[0].alone == 1  # the other 1 is not released


def test_lists_are_compared_as_a_whole():
    told = found(q=list("aaa"), i=[[1, 2], [1, 2], [3]])
    assert told.columns[0].alone == 1


def test_nobody_is_singled_out_where_nobody_is_released():
    data = table(q=[1], s=[1])
    classes = Classes.of(data, pa.array([-1], pa.int32()).to_numpy())
    told = singling_out(classes)
    assert (told.people, told.columns[0].alone, told.notable) == (0, 0, False)


@pytest.mark.parametrize(
    ("some", "people", "notable"),
    [(5, 99, True), (5, 100, False), (4, 10, False), (6, 100, True), (0, 0, False)],
)
def test_more_than_one_in_twenty_and_at_least_five_are_notable(some, people, notable):
    assert is_notable(some, people) is notable


def test_exact_coordinates_are_notable_by_themselves_and_together():
    told = found(
        q=["a"] * 40, s1=[*range(30), *[99] * 10], s2=[*[7] * 25, *range(100, 115)], s3=[1] * 40
    )
    assert told.notable
    assert told.sentences() == [
        "s1 is published unchanged and singles out 30 of 40 people (75 %): nobody else has their "
        "value",
        "s2 is published unchanged and singles out 15 of 40 people (38 %): nobody else has their "
        "value",
        "all 3 columns published unchanged together single out 40 of 40 people (100 %)",
    ]


def test_columns_that_single_out_only_together_are_named():
    told = found(q=["a"] * 16, s=[i // 4 for i in range(16)], i=[i % 4 for i in range(16)])
    assert told.sentences() == [
        "s and i are published unchanged and together single out 16 of 16 people (100 %)"
    ]


def test_diverse_sensitive_values_within_a_class_are_no_warning():
    told = found(q=[i // 4 for i in range(16)], s=[i % 4 for i in range(16)])
    assert told.columns[0].with_quasi == 16
    assert (told.notable, told.sentences()) == (False, [])


def test_insensitive_values_within_a_class_are_a_warning():
    told = found(q=[i // 4 for i in range(16)], i=[i % 4 for i in range(16)])
    assert told.notable
    assert told.sentences() == [
        "the quasi-identifiers and i, published unchanged, together single out 16 of 16 people "
        "(100 %)"
    ]


def test_many_columns_are_not_all_spelled_out():
    columns = {f"s{i}": list(range(20)) for i in range(6)}
    told = found(q=["a"] * 20, **columns).sentences()
    assert len(told) == 4
    assert told[3] == "s3, s4 and s5 also single out people, as many or fewer"


def test_classes_of_one_value_are_a_caveat_with_their_classes_and_people():
    data = table(q=[i // 5 for i in range(20)], s=["flu"] * 10 + ["flu", "cold"] * 5)
    told = caveats(Classes.by_quasi(data)).sentences()
    assert told == ["in 2 of 4 classes, with 10 of 20 people (50 %), everyone has the same s"]


def test_a_column_of_one_value_gives_nothing_away():
    data = table(q=[i // 5 for i in range(20)], s=["flu"] * 20)
    assert caveats(Classes.by_quasi(data)).sentences() == []
