"""Faults seen in other tools, each one turned into something that Shoal must not do."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal import KAnonymity, LDiversity, Table, TCloseness
from shoal.privacy import profile

ROLES = {"age": "quasi", "town": "quasi", "illness": "sensitive"}


def frame(rows=24):
    return pd.DataFrame(
        {
            "age": [20 + i % 12 for i in range(rows)],
            "town": [f"t{i % 3}" for i in range(rows)],
            "illness": ["flu" if i % 12 < 6 else "cold" for i in range(rows)],
        }
    )


def measured(data, roles=ROLES):
    table = Table.from_arrow(data, roles)
    return profile(shoal.Classes.by_quasi(table), table.sensitive)


def test_the_parameter_of_t_closeness_is_not_ignored():
    table = Table.from_arrow(frame(), ROLES)
    loose, tight = (
        shoal.anonymize(table, KAnonymity(2) & TCloseness(t, "illness")) for t in (0.5, 0.1)
    )
    assert len(tight.classes) < len(loose.classes)
    assert TCloseness(0.1, "illness").level(tight.classes) <= 0.1
    assert TCloseness(0.1, "illness").level(loose.classes) > 0.1


def test_no_index_or_row_number_is_published(tmp_path):
    data = frame().set_index(pd.Index(range(100, 124), name="patient"))
    release = shoal.anonymize(Table.from_arrow(data, ROLES), KAnonymity(3))
    release.write(tmp_path / "out.csv")
    assert list(release.to_pandas().columns) == ["age", "town", "illness"]
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "age,town,illness"


def test_rows_with_missing_values_do_not_vanish():
    data = frame()
    data.loc[3:7, "town"] = None
    release = shoal.anonymize(Table.from_arrow(data, ROLES), KAnonymity(3))
    assert release.to_arrow().num_rows == len(data)


def test_a_unique_row_with_a_missing_value_makes_k_one():
    data = pd.DataFrame({"age": [30] * 5, "town": ["a"] * 5, "illness": ["flu"] * 5})
    assert measured(data)["k"] == 5
    data.loc[2, "town"] = None
    assert measured(data)["k"] == 1


def test_l_does_not_depend_on_the_index_of_the_frame():
    data = frame()
    shuffled = data.sample(frac=1, random_state=1)
    assert measured(shuffled) == measured(data)
    assert measured(data.set_index(pd.Index([7] * len(data)))) == measured(data)


def test_an_infeasible_model_is_an_error_not_an_empty_frame():
    table = Table.from_arrow(frame(), ROLES)
    with pytest.raises(shoal.InputError, match="k is 25 but the table has 24 people"):
        shoal.anonymize(table, KAnonymity(25))
    with pytest.raises(shoal.Infeasible, match="even the whole table"):
        shoal.anonymize(table, LDiversity(3, "illness"))


def test_classes_larger_than_k_keep_it_too():
    table = Table.from_arrow(
        pa.table({"age": [1] * 7 + [2] * 9, "illness": ["x"] * 16}),
        {
            "age": "quasi",
            "illness": "sensitive",
        },
    )
    assert KAnonymity(5).holds(shoal.Classes.by_quasi(table)).tolist() == [True, True]


def test_leftovers_are_not_heaped_on_the_last_class():
    table = Table.from_arrow(pa.table({"age": list(range(23))}), {"age": "quasi"})
    sizes = shoal.anonymize(table, KAnonymity(4)).classes.sizes
    assert sizes.min() >= 4
    assert sizes.max() < 8


def test_a_rare_number_is_not_left_in_clear():
    table = Table.from_arrow(pa.table({"income": [10] * 9 + [987]}), {"income": "quasi"})
    cells = shoal.anonymize(table, KAnonymity(3)).to_arrow().column("income").to_pylist()
    assert 987 not in cells
    assert "987" not in cells


def test_the_same_input_is_partitioned_alike_in_every_process():
    program = (
        "import shoal; t = shoal.datasets.patients(300, seed=4);"
        "r = shoal.anonymize(t, shoal.KAnonymity(4));"
        "print(r.to_arrow().to_pylist())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


@pytest.mark.parametrize("column", ["age", "town"])
def test_a_categorical_column_or_none_does_not_crash(column):
    data = frame()
    data[column] = data[column].astype("category")
    data.loc[5, column] = None
    release = shoal.anonymize(Table.from_arrow(data, ROLES), KAnonymity(3))
    assert release.verify()
