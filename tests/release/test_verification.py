from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.privacy import KAnonymity, LDiversity
from shoal.release.release import Release
from shoal.release.verification import published_table, recount
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.table import Table

DATA = {
    "age": [20, 21, 30, 31, 31],
    "sex": ["F", "F", "M", "M", None],
    "ill": ["flu", None, "flu", "cold", "cold"],
}
ROLES = {"age": "quasi", "sex": "quasi", "ill": "sensitive"}
MODEL = KAnonymity(2) & LDiversity(2, "ill", count_missing=True)


@pytest.fixture
def release():
    table = Table.from_arrow(pa.table(DATA), ROLES)
    return Release.of_groups(table, np.array([0, 0, 1, 1, 1], dtype=np.int32), 2, MODEL)


def test_an_honest_release_passes(release):
    found = release.verify()
    assert found
    assert found.to_dict() == {
        "holds": True,
        "model": str(MODEL),
        "classes": 2,
        "smallest": 2,
        "failing": 0,
        "failing_records": 0,
        "levels": {str(part): 2.0 for part in MODEL.parts},
        "records": 5,
        "people": 5,
        "households": None,
        "truthful": True,
    }


def test_a_class_that_is_too_small_is_caught(release):
    ages = Recoding.identity(release.original["age"])
    tampered = replace(release, recodings={**release.recodings, "age": ages})
    found = tampered.verify()
    assert not found
    assert (found.classes, found.smallest) == (4, 1)
    assert (found.failing, found.failing_records) == (4, 5)  # the two aged 31 have one illness


def test_a_value_that_its_cell_does_not_cover_is_caught(release):
    age = release.recodings["age"]
    moved = replace(age, codes=np.array([1, 1, 0, 0, 0], dtype=np.int32))
    found = replace(release, recodings={**release.recodings, "age": moved}).verify()
    assert not found.truthful
    assert found.failing == 0
    assert not found


def test_a_recoding_of_another_column_is_caught(release):
    column = release.original["age"]
    for other in (
        replace(column, codes=column.codes[::-1]),
        Column.encode("age", [10, 21, 30, 31, 31], "quasi"),
    ):
        ages = Recoding.of_groups(other, np.array([0, 0, 1, 1, 1], dtype=np.int32), 2)
        found = replace(release, recodings={**release.recodings, "age": ages}).verify()
        assert not found.truthful


class Losing(Release):
    """Publishes fewer rows than it says."""

    def _published(self):
        return super()._published().slice(0, 4)


class Doubling(Release):
    """Publishes rows twice to fill its classes."""

    def _published(self):
        return pa.concat_tables([super()._published()] * 2)


@pytest.mark.parametrize("kind", [Losing, Doubling])
def test_rows_lost_or_made_up_are_caught(release, kind):
    found = kind(release.original, release.recodings, release.model).verify()
    assert found.failing == 0
    assert not found.truthful
    assert not found


def test_suppressed_rows_are_not_missed():
    table = Table.from_arrow(pa.table(DATA), ROLES, counts=[1, 1, 2, 2, 7])
    ids = np.array([0, 0, 1, 1, -1], dtype=np.int32)
    found = Release.of_groups(table, ids, 2, MODEL).verify()
    assert found
    assert found.smallest == 2


def test_a_recount_knows_published_values_only(release):
    published = release.to_arrow()
    assert recount(published, release.original, MODEL, np.arange(published.num_rows)).failing == 0
    alone = published.set_column(0, "age", pa.array(["a", "b", "c", "c", "c"]))
    assert recount(alone, release.original, MODEL, np.arange(alone.num_rows)).failing_records == 2


def test_sensitive_values_keep_their_codes(release):
    table = published_table(release.to_arrow(), release.original)
    assert table["ill"].codes.tolist() == release.original["ill"].codes.tolist()
    assert table["ill"].values.equals(release.original["ill"].values)


def test_an_unknown_sensitive_value_is_refused_without_being_quoted(release):
    cells = pa.array(["flu", "secret", "flu", "cold", "cold"])
    with pytest.raises(InputError, match="column 'ill': 1 cell with a value") as caught:
        published_table(release.to_arrow().set_column(2, "ill", cells), release.original)
    assert "secret" not in str(caught.value)


def test_a_sensitive_column_of_another_type_is_refused():
    table = Table.from_arrow(pa.table({"q": [1], "s": [5]}), {"q": "quasi", "s": "sensitive"})
    with pytest.raises(InputError, match="its type differs from the original's") as caught:
        published_table(pa.table({"q": [1], "s": ["secret"]}), table)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "cells",
    [[0.5, None, -0.0], [True, None, False], [b"a", None, b"b"], [2**70, None, 1]],
    ids=["float", "bool", "bytes", "huge"],
)
def test_sensitive_cells_of_any_type_are_found_again(cells):
    column = Column.encode("s", cells, "sensitive")
    table = Table((Column.encode("q", [1, 1, 1]), column))
    release = Release.of_groups(table, np.zeros(3, dtype=np.int32), 1, KAnonymity(3))
    assert release.verify()
    again = published_table(release.to_arrow(), table)
    assert again["s"].codes.tolist() == column.codes.tolist()
