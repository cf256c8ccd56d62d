"""No release lists what it should hide: names are refused, towns are grouped."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError
from shoal.table.recipes import LISTABLE

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
TOWNS = [f"{a}{b}" for a in ("Ber", "Ham", "Kol", "Lei") for b in ("au", "dorf", "feld", "heim")]


def residents(rows=400, seed=1, **more):
    draw = np.random.default_rng(seed)
    data = {
        "age": draw.integers(18, 90, rows),
        "town": draw.choice(TOWNS, rows),
        "sex": draw.choice(["f", "m"], rows),
        "ill": draw.choice(["flu", "gout", "cold"], rows),
    }
    return pa.table(data | more)


def released(frame, quasi=("age", "town", "sex"), **options):
    return shoal.anonymize(frame, k=5, quasi=list(quasi), sensitive="ill", **options)


def listed(release, name):
    """Return the most values that one cell of a column lists."""
    return max(cell.count(",") + 1 for cell in release.to_arrow()[name].to_pylist() if "{" in cell)


def test_a_column_of_many_values_is_grouped_by_a_hierarchy_made_for_it():
    release = released(residents())
    cells = set(release.to_arrow()["town"].to_pylist())
    assert not any("{" in cell for cell in cells)
    assert cells <= {*TOWNS, "*"} | {town[:n] + "*" * (4 - n) for town in TOWNS for n in (1, 2, 3)}
    assert "town: 16 values and no hierarchy" in release.run.notes[0]
    assert release.verify()


def test_sets_are_published_on_request():
    release = released(residents(), hierarchies=False)
    assert listed(release, "town") > 1
    assert release.run.notes == ()


def test_rare_values_share_a_group_where_initials_mean_nothing():
    jobs = ["clerk"] * 300 + ["nurse"] * 80 + [f"{a}rare" for a in "abcdefghijklmnopqrst"]
    release = released(residents(jobs=jobs), quasi=["age", "jobs"])
    cells = set(release.to_arrow()["jobs"].to_pylist())
    assert cells <= {"clerk", "nurse", "*", "other (each under 1 %)", "other (each under 5 %)"}


def test_few_values_may_be_listed():
    party = np.random.default_rng(3).choice([f"p{n}" for n in range(LISTABLE)], 40)
    release = released(residents(40, party=party), quasi=["age", "party"])
    assert 1 < listed(release, "party") < LISTABLE
    assert release.run.notes == ()


@pytest.mark.parametrize("method", ["mondrian", "sorted", "greedy", "anneal"])
def test_names_are_refused_unless_the_caller_insists(method):
    frame = residents(name=[f"Name {n:x}" for n in range(400)])
    with pytest.raises(InputError, match="column 'name': most people have a value") as error:
        released(frame, quasi=["name", "sex"], method=method)
    assert "Name" not in str(error.value)
    options = {"steps": 5} if method == "anneal" else {}
    assert released(frame, ["name", "sex"], method=method, list_values=True, **options).verify()


def test_full_domain_methods_list_nothing_and_refuse_nothing():
    frame = residents(name=[f"Name {n:x}" for n in range(400)])
    release = released(frame, quasi=["name", "sex"], method="flash")
    assert set(release.to_arrow()["name"].to_pylist()) == {"*"}


def test_a_name_in_several_rows_of_one_person_is_still_that_persons_name():
    frame = residents(who=[n // 10 for n in range(400)], name=[f"N{n // 10:x}" for n in range(400)])
    with pytest.raises(InputError, match="column 'name'"):
        released(frame, quasi=["name", "sex"], person="who")


def test_codes_of_one_length_are_masked_although_few_people_share_one():
    codes = [f"{n:05}" for n in np.random.default_rng(5).integers(10_000, 10_400, 400)]
    cells = released(residents(code=codes), quasi=["code", "sex"]).to_arrow()["code"].to_pylist()
    assert all("{" not in cell for cell in cells)
    assert any(cell.startswith("10") and cell.endswith("*") for cell in cells)


def test_texts_that_are_dates_become_ranges_of_dates():
    born = [f"19{n % 80 + 10}-0{n % 9 + 1}-1{n % 10}" for n in range(400)]
    born[7] = ""
    release = released(residents(born=born), quasi=["born", "sex"])
    cells = release.to_arrow()["born"].to_pylist()
    assert any(cell.startswith("[19") for cell in cells if cell)
    assert not any("{" in cell for cell in cells if cell)
    unreal = released(residents(born=[*born[:-1], "1999-02-30"]), ["born", "sex"], list_values=True)
    assert unreal.verify()  # a date that does not exist: texts


def test_a_table_on_disk_gets_the_same_hierarchy(tmp_path):
    import pyarrow.csv as csv

    csv.write_csv(residents(), tmp_path / "people.csv")
    roles = {"age": "quasi", "town": "quasi", "sex": "quasi", "ill": "sensitive"}
    made = []
    for place, read in enumerate((shoal.read, shoal.open)):
        table = read(tmp_path / "people.csv", roles=roles)
        shoal.anonymize(table, k=5).write(tmp_path / f"{place}.csv")
        made.append((tmp_path / f"{place}.csv").read_bytes())
    assert made[0] == made[1]
    assert b"{" not in made[0]
