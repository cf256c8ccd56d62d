"""flash at stated levels: no search, the same release as the search if it finds these levels."""

from __future__ import annotations

import pyarrow.csv
import pytest

import shoal
from shoal import Flash, InputError, KAnonymity


def test_the_levels_that_a_search_finds_give_the_same_release():
    table = shoal.datasets.patients(300)
    found = shoal.anonymize(table, k=5, method="flash")
    stated = shoal.anonymize(table, k=5, method=Flash(levels=found.node))
    assert stated.node == found.node
    assert stated.to_arrow().equals(found.to_arrow())
    assert stated.evaluated == 1


def test_columns_that_are_not_named_stay_as_they_are():
    people = pyarrow.table({"age": [31, 32, 33, 34], "sex": ["f", "f", "m", "m"]})
    method = Flash(levels={"age": 1})
    trees = {"age": {"intervals": [10]}}
    release = shoal.anonymize(people, k=2, quasi=["age", "sex"], hierarchies=trees, method=method)
    assert release.node == {"age": 1, "sex": 0}


def test_levels_that_suppress_too_much_are_refused_with_the_numbers():
    table = shoal.datasets.patients(300)
    with pytest.raises(shoal.Infeasible, match=r"at these levels \d+ of 300 records break"):
        shoal.anonymize(table, KAnonymity(5), Flash(levels={}))


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"height": 1}, "no quasi-identifier"),
        ({"sex": 99}, "level of 'sex' must be 0 to"),
        ({"sex": -1}, "level of 'sex' must be"),
    ],
)
def test_wrong_levels_are_refused(levels, message):
    table = shoal.datasets.patients(100)
    with pytest.raises(InputError, match=message):
        shoal.anonymize(table, k=5, method="flash", levels=levels)


def test_levels_and_local_recoding_exclude_each_other():
    with pytest.raises(InputError, match="levels and local"):
        Flash(levels={}, local=True)


def test_rows_on_disk_are_published_at_the_same_levels(tmp_path):
    table = shoal.datasets.patients(300)
    path = tmp_path / "patients.csv"
    roles = {"sex": "quasi", "postcode": "quasi", "diagnosis": "sensitive"}
    pyarrow.csv.write_csv(table.to_arrow().select(list(roles)), path)
    asked = {"roles": roles, "hierarchies": {"postcode": {"mask": "right"}}}
    method = Flash(levels={"postcode": 3}, max_suppression=0.5)
    made = {}
    for reader in (shoal.read, shoal.open):
        release = shoal.anonymize(reader(path, **asked, rows_are_people=True), k=5, method=method)
        made[reader] = tmp_path / f"{reader.__name__}.csv"
        release.write(made[reader])
    assert made[shoal.read].read_bytes() == made[shoal.open].read_bytes()
    with shoal.open(path, **asked, rows_are_people=True) as large, pytest.raises(InputError):
        shoal.anonymize(large, k=5, method=Flash(levels={"postcode": 99}))
