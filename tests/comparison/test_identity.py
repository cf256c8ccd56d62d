"""Runs have the same name just where they would end the same."""

from dataclasses import replace

import pyarrow as pa
import pytest
from tests.comparison import tasks

from shoal import KAnonymity, LDiversity, Mondrian, Table
from shoal.comparison import fingerprint, identify
from shoal.comparison.bench import Bench, fresh
from shoal.comparison.grid import Trial


def people(town="b", *, age="quasi", weight=1.0, cut=5, counts=None, last="x"):
    data = pa.table({"age": [1, 2, 9], "town": ["a", town, None], "disease": ["x", "y", last]})
    roles = {
        "age": {"role": age, "weight": weight, "hierarchy": {"intervals": [cut]}},
        "town": "quasi",
        "disease": "sensitive",
    }
    return Table.from_arrow(data, roles, counts=counts)


def test_the_same_table_read_again_is_the_same():
    assert fingerprint(people()) == fingerprint(people())


@pytest.mark.parametrize(
    "other",
    [
        people("c"),
        people(None),
        people(age="sensitive"),
        people(weight=2.0),
        people(cut=4),
        people(counts=[1, 1, 2]),
        people(last="y"),
        people().take([0, 2, 1]),
    ],
)
def test_a_table_that_differs_in_anything_is_another(other):
    assert fingerprint(other) != fingerprint(people())


def test_a_table_of_other_people_or_households_is_another():
    data = pa.table({"id": [1, 1, 2], "home": [1, 2, 2], "age": [3, 4, 5]})

    def table(**units):
        return Table.from_arrow(data, {"age": "quasi"}, **units)

    bare = [fresh(table(**units)) for units in ({}, {"person": "id"}, {"person": "home"})]
    bare += [fresh(table(household="id")), fresh(table(person="id", household="home"))]
    assert len({fingerprint(each) for each in bare}) == 5


def test_a_run_that_differs_in_anything_is_another():
    trial, bench = Trial(Mondrian(), KAnonymity(2), 0), Bench(people(), ("ncp",), {})
    names = [
        identify(trial, "table", bench),
        identify(trial, "other table", bench),
        identify(replace(trial, seed=1), "table", bench),
        identify(replace(trial, model=KAnonymity(3)), "table", bench),
        identify(replace(trial, model=trial.model & LDiversity(2, "disease")), "table", bench),
        identify(replace(trial, algorithm=tasks.Whole()), "table", bench),
        identify(replace(trial, algorithm=tasks.Whole(note="new")), "table", bench),
        identify(trial, "table", replace(bench, metrics=("pub",))),
        identify(trial, "table", replace(bench, metrics=None)),
        identify(trial, "table", replace(bench, measures={"size": tasks.smallest})),
        identify(trial, "table", replace(bench, measures={"size": tasks.undefined})),
    ]
    assert len(set(names)) == len(names)
    assert identify(Trial(Mondrian(), KAnonymity(2), 0), "table", bench) == names[0]
