"""Auto chooses among the methods that run on disk, and the notes say which and why."""

from __future__ import annotations

import pytest
from tests.rows.conftest import ROLES, TREES

import shoal
from shoal import Auto, FreeformAnonymity, KAnonymity
from shoal.methods.registry import Shape

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")


def opened(path, **more):
    settings = {"roles": ROLES, "missing": ["NA"], "rows_are_people": True, "processes": 0}
    return shoal.open(path, **{**settings, **more})


@pytest.mark.parametrize(
    ("model", "trees", "method"),
    [
        ("k-anonymity(3)", None, "anneal"),
        ("k-anonymity(3)", TREES, "mondrian"),
        ("t-closeness(0.4, illness)", None, "mondrian"),
        ("freeform-anonymity(3)", None, "mondrian"),
    ],
)
def test_a_method_is_chosen_that_runs_on_disk(model, trees, method, people, tmp_path):
    table = opened(people, hierarchies=trees)
    release = shoal.anonymize(table, model, Auto(time_limit=5))
    assert release.write(tmp_path / "release.csv").holds
    assert release.run.method == "auto"
    assert release.run.options == {"time_limit": 5, "seed": 0}
    assert release.run.notes[0].startswith(f"auto chose {method}: ")


def test_the_choice_with_hierarchies_is_the_release_in_memory(people, tmp_path):
    settings = {"roles": ROLES, "missing": ["NA"], "rows_are_people": True, "hierarchies": TREES}
    one = shoal.anonymize(shoal.read(people, **settings), k=3, method="auto")
    other = shoal.anonymize(shoal.open(people, **settings), k=3, method="auto")
    one.write(tmp_path / "one.csv")
    other.write(tmp_path / "other.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    assert one.run.notes[0] == other.run.notes[0]


def test_large_tables_are_left_to_mondrian_and_never_to_freeform_methods():
    large = Shape(10**8, 8, hierarchies=False, on_disk=True)
    assert Auto().choose_by(large, KAnonymity(5))[0].name == "mondrian"
    small = Shape(1_000, 3, hierarchies=False, on_disk=True)
    assert Auto().choose_by(small, FreeformAnonymity(5))[0].name == "anneal"
