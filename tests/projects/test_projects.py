"""Projects: linked tables are released together, and stay linked in the same way."""

import csv
import json
import signal
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle
from tests.examples import examples
from tests.projects.naive import fewest_alike, joins, rows_of, rows_per_person

from shoal import KmAnonymity
from shoal.errors import Infeasible, InputError, OutputError
from shoal.identifiers import Key
from shoal.projects import Project, check_set, release_project, releasing
from shoal.projects.checking import digest

KEY = Key(bytes(range(32)))
PATIENTS = {
    "patient_id": [f"p{n}" for n in range(12)],
    "age": [30, 31, 32, 33, 40, 41, 42, 43, 50, 51, 52, 53],
    "sex": list("fm" * 6),
    "name": [f"name {n}" for n in range(12)],
}
VISITS = {
    "visit_id": list(range(1, 21)),
    "patient_id": [f"p{n % 10}" for n in range(18)] + ["p99", None],
    "sex": [PATIENTS["sex"][n % 10] for n in range(18)] + ["f", "m"],
    "month": [1 + n % 12 for n in range(20)],
    "ward_id": [n % 3 for n in range(20)],
    "ill": ["flu", "cold"] * 10,
}
LABS = {"visit_id": [1, 1, 2, 18, 19, 77], "patient_id": ["p0", "p0", "p1", "p7", None, "p3"],
        "value": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]}  # fmt: skip
WARDS = {"ward_id": [0, 1], "ward": ["north", "south"]}
TABLES = {"patients": PATIENTS, "visits": VISITS, "labs": LABS, "wards": WARDS}
SCHEMA = {
    "person": "patients",
    "tables": {
        "labs": {
            "foreign": {"visit_id": "visits", "patient_id": "patients"},
            "columns": {"value": "insensitive"},
        },
        "visits": {
            "key": "visit_id",
            "foreign": {"patient_id": "patients", "ward_id": "wards"},
            "columns": {"sex": "quasi", "month": "quasi", "ill": "sensitive"},
        },
        "patients": {
            "key": "patient_id",
            "columns": {"age": "quasi", "sex": "quasi", "name": "identifier"},
        },
        "wards": {"key": "ward_id", "columns": {"ward_id": "insensitive", "ward": "insensitive"}},
    },
}
OPTIONS = {"k": 2, "key": KEY, "domain": "study"}


def written(folder, kind, tables=TABLES):
    """A source with the tables, of one kind of storage."""
    for name, columns in tables.items():
        data = pa.table(columns)
        if kind == "parquet":
            pq.write_table(data, folder / f"{name}.parquet")
        elif kind == "csv":
            pa.csv.write_csv(data, folder / f"{name}.csv")
        elif kind == "duckdb":
            with duckdb.connect(str(folder / "all.duckdb")) as database:
                database.register("data", data)
                database.execute(f"CREATE TABLE {name} AS SELECT * FROM data")
        else:
            with sqlite3.connect(folder / "all.sqlite") as database:
                database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
                marks = ", ".join("?" * len(columns))
                rows = list(zip(*columns.values(), strict=True))
                database.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
            database.close()
    source = {"duckdb": "all.duckdb", "sqlite": "all.sqlite"}.get(kind)
    return Project.of({**SCHEMA, "source": source} if source else SCHEMA, folder)


def released(folder):
    record = json.loads((folder / "release.json").read_text())
    return {name: rows_of(folder / table["file"]) for name, table in record["tables"].items()}


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "sqlite"])
def test_every_source_gives_a_set_that_joins_as_before(tmp_path, kind):
    checked = release_project(written(tmp_path, kind), tmp_path / "out", **OPTIONS)
    assert checked
    found = released(tmp_path / "out")
    assert joins(found["visits"], "patient_id", found["patients"], "patient_id") == (18, 0)
    assert joins(found["labs"], "visit_id", found["visits"], "visit_id") == (4, 1)
    assert joins(found["visits"], "ward_id", found["wards"], "ward_id") == (12, 6)
    assert rows_per_person(found["visits"], "patient_id") == [1, 1, 2, 2, 2, 2, 2, 2, 2, 2]
    assert "name" not in found["patients"][0]
    raw = {str(cell) for name in ("patients", "visits") for cell in TABLES[name][f"{name[:-1]}_id"]}
    shown = {str(row[c]) for t in found.values() for row in t for c in row if c[-3:] == "_id"}
    assert not (raw - {"0", "1", "2"}) & shown
    linked = {"visits": ("patient_id", ["sex", "month"])}
    assert fewest_alike(found, "patients", "patient_id", ["age", "sex"], linked) >= 2


def test_attributes_of_a_person_are_the_same_in_all_tables(tmp_path):
    release_project(written(tmp_path, "parquet"), tmp_path / "out", **OPTIONS)
    found = released(tmp_path / "out")
    sexes = {row["patient_id"]: row["sex"] for row in found["patients"]}
    assert all(row["sex"] == sexes[row["patient_id"]] for row in found["visits"])


def test_suppressed_people_disappear_from_every_table(tmp_path):
    """The two oldest fit no interval of the others and are suppressed, with all their rows."""
    people = {**PATIENTS, "age": [30] * 10 + [70, 99], "sex": ["f"] * 12}
    visits = {**VISITS, "patient_id": [f"p{n % 12}" for n in range(20)], "sex": ["f"] * 20}
    tables = {**TABLES, "patients": people, "visits": visits}
    tables["labs"] = {"visit_id": [11, 12, 1], "patient_id": [None] * 3, "value": [1.0, 2.0, 3.0]}
    written(tmp_path, "parquet", tables)
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10]}}, "name": "identifier"}
    schema = {name: dict(table) for name, table in SCHEMA["tables"].items()}
    schema["patients"]["columns"] = columns
    schema["visits"]["columns"] = {"ill": "sensitive"}
    project = Project.of({"person": "patients", "tables": schema}, tmp_path)
    checked = release_project(
        project, tmp_path / "out", method="flash", max_suppression=0.2, **OPTIONS
    )
    found = released(tmp_path / "out")
    assert checked.people == len(found["patients"]) == 10
    assert len(found["visits"]) == 18
    assert [row["value"] for row in found["labs"]] == [3.0]


def test_a_sample_draws_people_and_keeps_all_their_rows(tmp_path):
    checked = release_project(
        written(tmp_path, "parquet"), tmp_path / "out", people=6, seed=1, **OPTIONS
    )
    found = released(tmp_path / "out")
    assert checked.people == len(found["patients"]) == 6
    assert joins(found["visits"], "patient_id", found["patients"], "patient_id")[1] == 0
    counts = rows_per_person(found["visits"], "patient_id")
    assert set(counts) <= {1, 2}
    assert sum(counts) == len(found["visits"])


def test_another_domain_shares_no_pseudonym(tmp_path):
    project = written(tmp_path, "csv")
    release_project(project, tmp_path / "one", **OPTIONS)
    release_project(project, tmp_path / "two", **OPTIONS | {"domain": "other"})
    release_project(project, tmp_path / "three", **OPTIONS)
    people = [
        {row["patient_id"] for row in released(tmp_path / name)["patients"]}
        for name in ("one", "two", "three")
    ]
    assert people[0] == people[2]
    assert not people[0] & people[1]


def changed(tmp_path, name, edit):
    """Release the tables, edit one file, and renew its digest in the record."""
    release_project(written(tmp_path, "csv"), tmp_path / "out", **OPTIONS)
    path = tmp_path / "out" / f"{name}.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(edit(lines)) + "\n")
    record = json.loads((tmp_path / "out" / "release.json").read_text())
    record["tables"][name]["sha256"] = digest(path)
    (tmp_path / "out" / "release.json").write_text(json.dumps(record))
    return check_set(tmp_path / "out")


def test_a_lost_row_breaks_the_joins(tmp_path):
    found = changed(tmp_path, "patients", lambda lines: lines[:7])
    assert not found
    assert "joins more or fewer rows than before" in found.problem


def test_a_repeated_key_is_noticed(tmp_path):
    found = changed(tmp_path, "patients", lambda lines: [*lines, lines[-1]])
    assert "repeats" in found.problem


def test_cells_of_another_table_that_distinguish_people_break_the_guarantee(tmp_path):
    def own_month(lines):
        head, *rows = csv.reader(lines)
        place = head.index("month")
        made = [[*row[:place], str(n), *row[place + 1 :]] for n, row in enumerate(rows)]
        return [",".join(f'"{cell}"' for cell in row) for row in [head, *made]]

    found = changed(tmp_path, "visits", own_month)
    assert "single out people within a class" in found.problem


def test_a_changed_file_is_noticed(tmp_path):
    release_project(written(tmp_path, "csv"), tmp_path / "out", **OPTIONS)
    with (tmp_path / "out" / "wards.csv").open("a") as handle:
        handle.write("7,west\n")
    assert "table 'wards' was changed" in check_set(tmp_path / "out").problem


def test_an_existing_folder_is_not_touched(tmp_path):
    project = written(tmp_path, "csv")
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        release_project(project, tmp_path / "out", **OPTIONS)


def test_a_failure_between_tables_leaves_nothing(tmp_path, monkeypatch):
    project = written(tmp_path, "csv")
    real, calls = releasing.write_published, []

    def second_fails(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise InputError("stop")
        real(*arguments)

    monkeypatch.setattr(releasing, "write_published", second_fails)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(InputError, match="stop"):
        release_project(project, tmp_path / "out", **OPTIONS)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"person": "nobody"}, "no table"),
        ({"person": "labs"}, "needs a key"),
        ({"extra": 1}, "no entry"),
        ({"tables": {"a": {"key": "x", "foreign": {"y": "b"}}}}, "refers to no table"),
        (
            {
                "person": "a",
                "tables": {
                    "a": {"key": "x", "foreign": {"y": "b"}},
                    "b": {"key": "z", "foreign": {"w": "a"}},
                },
            },
            "form a cycle",
        ),
    ],
)
def test_a_wrong_project_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        Project.of({**SCHEMA, **change})


def test_keys_that_repeat_and_rows_of_two_people_are_refused(tmp_path):
    repeated = {**TABLES, "patients": {**PATIENTS, "patient_id": ["p0"] * 12}}
    with pytest.raises(InputError, match="repeats in 11 rows"):
        release_project(written(tmp_path, "parquet", repeated), tmp_path / "out", **OPTIONS)
    mixed = {**TABLES, "labs": {**LABS, "patient_id": ["p5"] * 6}}
    with pytest.raises(InputError, match="different people"):
        release_project(written(tmp_path, "parquet", mixed), tmp_path / "out", **OPTIONS)


PEOPLE = st.integers(4, 9)
ROWS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 5), st.integers(0, 3)), max_size=15)


@examples(15)
@given(PEOPLE, ROWS, ROWS, st.integers(0, 10**6))
def test_random_tables_keep_their_joins_and_hide_their_people(
    tmp_path_factory, people, visits, labs, seed
):
    """Against a naive join of the raw and of the released rows."""
    folder = tmp_path_factory.mktemp("project")
    raw = {
        "patients": {"id": [str(n) for n in range(people)],
                     "age": [seed * n % 7 for n in range(people)]},
        "visits": {"id": [str(n) for n in range(len(visits))],
                   "who": [str(who) for who, _, _ in visits],
                   "month": [month for _, month, _ in visits]},
        "labs": {"visit": [str(visit) for visit, _, _ in labs],
                 "unit": [unit for _, _, unit in labs]},
    }  # fmt: skip
    types = {"age": pa.int64(), "month": pa.int64(), "unit": pa.int64()}
    for name, columns in raw.items():
        arrays = {c: pa.array(cells, types.get(c, pa.string())) for c, cells in columns.items()}
        pq.write_table(pa.table(arrays), folder / f"{name}.parquet")
    tables = {
        "patients": {"key": "id", "columns": {"age": {"role": "quasi", "type": "integer"}}},
        "visits": {"key": "id", "foreign": {"who": "patients"},
                   "columns": {"month": {"role": "quasi", "type": "integer"}}},
        "labs": {"foreign": {"visit": "visits"}, "columns": {"unit": "insensitive"}},
    }  # fmt: skip
    project = Project.of({"person": "patients", "tables": tables}, folder)
    assert release_project(project, folder / "out", **OPTIONS)
    found = released(folder / "out")
    kept = [row for row in visits if row[0] < people]
    assert len(found["visits"]) == len(kept)
    owned = {str(n) for n, row in enumerate(visits) if row[0] < people}
    expected = [row for row in labs if str(row[0]) in owned]
    assert len(found["labs"]) == len(expected)
    assert joins(found["labs"], "visit", found["visits"], "id") == (len(expected), 0)
    per_person = sorted(sum(row[0] == who for row in kept) for who in {row[0] for row in kept})
    assert rows_per_person(found["visits"], "who") == per_person
    assert fewest_alike(found, "patients", "id", ["age"], {"visits": ("who", ["month"])}) >= 2


KILLED = """
import os, signal, sys
from pathlib import Path
from shoal.identifiers import Key
from shoal.projects import Project, release_project, releasing

write, written = releasing.write_published, []

def write_or_die(*arguments):
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(write(*arguments))

releasing.write_published = write_or_die
folder, key = Path(sys.argv[1]), Key(bytes(range(32)))
release_project(folder / "project.yaml", folder / "out", k=2, key=key, domain="study")
"""


def test_a_kill_between_tables_leaves_no_half_set(tmp_path):
    written(tmp_path, "csv")
    (tmp_path / "project.yaml").write_text(json.dumps(SCHEMA))
    before = {path.name for path in tmp_path.iterdir()}
    child = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    release_project(tmp_path / "project.yaml", tmp_path / "out", **OPTIONS)
    assert check_set(tmp_path / "out").holds
    assert {path.name for path in tmp_path.iterdir()} == before | {"out"}  # leftovers are removed


EVENTS = {
    "person": "patients",
    "tables": {
        "patients": {"key": "id", "columns": {"age": "quasi", "sex": "quasi"}},
        "stays": {"foreign": {"id": "patients"}, "columns": {"month": "quasi", "sex": "quasi"}},
        "drugs": {"foreign": {"id": "patients"}, "columns": {"drug": "quasi"}},
    },
}


def events_of(people, seed=0):
    """People with stays and drugs; about half of them have no drug."""
    draw = np.random.default_rng(seed)
    stays, drugs = (np.repeat(np.arange(people), draw.integers(0, n, people)) for n in (4, 3))
    sex = draw.choice(["f", "m"], people)
    return {
        "patients": {"id": range(people), "age": draw.integers(20, 60, people), "sex": sex},
        "stays": {"id": stays, "month": draw.integers(1, 13, len(stays)), "sex": sex[stays]},
        "drugs": {"id": drugs, "drug": draw.choice(list("abcd"), len(drugs))},
    }


@pytest.mark.parametrize(("k", "m"), [(2, 1), (3, 2)])
def test_any_m_events_of_all_tables_fit_k_people(tmp_path, k, m):
    written(tmp_path, "csv", events_of(60))
    project = Project.of(EVENTS, tmp_path)
    checked = release_project(
        project, tmp_path / "out", f"km-anonymity({k}, {m})", key=KEY, domain="study"
    )
    assert checked.holds
    people = {row["id"]: (row["age"], row["sex"]) for row in rows_of(tmp_path / "out/patients.csv")}
    kept = []
    for name, column in (("stays", "month"), ("drugs", "drug")):
        for row in rows_of(tmp_path / f"out/{name}.csv"):
            cell = (people[row["id"]], name, row[column], row.get("sex"))
            kept.append({oracle.PERSON: row["id"], "cell": cell})
    assert oracle.fewest_with_rows(oracle.classes(kept, ["cell"]), m) >= k
    assert check_set(tmp_path / "out").model == f"km-anonymity(k={k}, m={m})"


def test_events_that_single_out_are_found_in_the_files(tmp_path):
    written(tmp_path, "csv", events_of(60))
    project = Project.of(EVENTS, tmp_path)
    release_project(project, tmp_path / "out", "km-anonymity(2, 1)", key=KEY, domain="study")
    found = check_set(tmp_path / "out", KmAnonymity(2, 3))
    assert not found.holds
    assert "km-anonymity(k=2, m=3) does not hold for the linked rows of" in found.problem


ROWS_ALONE = {
    "person": "patients",
    "tables": {
        "patients": {"key": "id", "columns": {"sex": "quasi"}},
        "stays": {"foreign": {"id": "patients"}, "columns": {"sex": "quasi"}},
    },
}


def test_rows_that_show_attributes_of_the_person_alone_are_counted_too(tmp_path):
    """Person 0 has three stays, all others have one."""
    people = list(range(10))
    stays = [0, 0, *people]
    written(tmp_path, "csv", {
        "patients": {"id": people, "sex": ["f"] * 10},
        "stays": {"id": stays, "sex": ["f"] * 12},
    })  # fmt: skip
    project, asked = Project.of(ROWS_ALONE, tmp_path), {"key": KEY, "domain": "study"}
    with pytest.raises(Infeasible, match="2 of 12 rows would have to be left out"):
        release_project(project, tmp_path / "out", "km-anonymity(3, 2)", **asked)
    checked = release_project(
        project, tmp_path / "out", "km-anonymity(3, 2)", max_left_out=0.2, **asked
    )
    assert (checked.tables["stays"]["rows"], checked.tables["stays"]["left_out"]) == (10, 2)
    assert "left_out" not in checked.tables["patients"]
    release_project(project, tmp_path / "one", "km-anonymity(3, 1)", **asked)
    assert check_set(tmp_path / "one").tables["stays"]["rows"] == 12
    assert (
        "for the linked rows of 1 person" in check_set(tmp_path / "one", KmAnonymity(2, 3)).problem
    )


def test_events_that_others_refer_to_are_refused(tmp_path):
    written(tmp_path, "csv")
    with pytest.raises(InputError, match="'labs' refers to events of table 'visits'"):
        release_project(
            Project.of(SCHEMA, tmp_path), tmp_path / "out", "km-anonymity(2, 2)", key=KEY,
            domain="study",
        )  # fmt: skip
    assert not (tmp_path / "out").exists()


def renamed(old, new, **more):
    """The schema with another name of a table of people, which still reads the same file."""
    tables = {}
    for name, table in SCHEMA["tables"].items():
        own = {"from": name, **table}
        if "foreign" in own:
            own["foreign"] = {c: new if to == old else to for c, to in own["foreign"].items()}
        tables[new if name == old else name] = own
    return {"person": "patients" if old != "patients" else new, "tables": tables, **more}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_name_of_a_table_cannot_overwrite_an_original(tmp_path, kind):
    """A table named `../src/patients` was written over the file that it was read from."""
    (tmp_path / "src").mkdir()
    written(tmp_path / "src", kind)
    before = {path: path.read_bytes() for path in (tmp_path / "src").iterdir()}
    for name in ("../src/patients", str(tmp_path / "src" / "patients"), "..\\src\\patients"):
        with pytest.raises(InputError, match="its name becomes a file name"):
            release_project(
                Project.of(renamed("patients", name), tmp_path / "src"), tmp_path / "out", **OPTIONS
            )
    assert {path: path.read_bytes() for path in (tmp_path / "src").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["src"]


def test_tables_that_differ_only_in_case_are_refused(tmp_path):
    with pytest.raises(InputError, match="'Patients' and 'patients': become the same file"):
        Project.of(renamed("visits", "Patients"), tmp_path)


@pytest.mark.parametrize("origin", ["../src/patients.csv", "/patients.csv", "a/../../patients"])
def test_a_table_is_read_from_the_source_only(tmp_path, origin):
    project = written(tmp_path, "csv")
    schema = {**SCHEMA["tables"], "patients": {**SCHEMA["tables"]["patients"], "from": origin}}
    project = Project.of({**SCHEMA, "tables": schema}, tmp_path)
    with pytest.raises(InputError, match=r"table 'patients': from .* leads out of the folder"):
        release_project(project, tmp_path / "out", **OPTIONS)


def test_a_table_may_be_in_a_folder_of_the_source(tmp_path):
    (tmp_path / "2024").mkdir()
    written(tmp_path / "2024", "csv")
    tables = {n: {"from": f"2024/{n}.csv", **table} for n, table in SCHEMA["tables"].items()}
    project = Project.of({"person": "patients", "tables": tables}, tmp_path)
    assert release_project(project, tmp_path / "out", **OPTIONS)
    assert (tmp_path / "out" / "patients.csv").is_file()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_released_folder_is_read_by_its_exact_name(tmp_path, kind):
    """A folder `out[ab]` is no pattern for `outa`, and `week=3` is no column."""
    project = written(tmp_path, kind)
    place = tmp_path / "week=3"
    place.mkdir()
    assert release_project(project, place / "outa", **OPTIONS)
    assert release_project(project, place / "out[ab]", **OPTIONS)
    (place / "outa" / f"visits.{kind}").unlink()
    assert check_set(place / "out[ab]")


@pytest.mark.parametrize("file", ["../patients.csv", "/patients.csv", "", ".."])
def test_a_record_names_files_of_its_folder_only(tmp_path, file):
    release_project(written(tmp_path, "csv"), tmp_path / "out", **OPTIONS)
    record = json.loads((tmp_path / "out" / "release.json").read_text())
    record["tables"]["patients"]["file"] = file
    (tmp_path / "out" / "release.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="its name becomes a file name"):
        check_set(tmp_path / "out")


@pytest.mark.parametrize("name", ["x%41", "x#y", "x?y", "x?mode=rwc", "x y", "x%", "x[ab]", "x'y"])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_is_read_by_its_exact_name(tmp_path, kind, name):
    """SQLite read the file `xA.sqlite` for `x%41.sqlite`, and created a file `x` for `x#y`."""
    written(tmp_path, kind)
    wanted = tmp_path / f"{name}.{kind}"
    (tmp_path / f"all.{kind}").rename(wanted)
    other = written(tmp_path, kind, {**TABLES, "patients": {**PATIENTS, "age": [99] * 12}})
    (tmp_path / f"all.{kind}").rename(tmp_path / f"xA.{kind}")
    before = sorted(path.name for path in tmp_path.iterdir())
    project = Project(str(wanted), other.person, other.tables)
    release_project(project, tmp_path / "out", **OPTIONS)
    assert all("99" not in row["age"] for row in released(tmp_path / "out")["patients"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "out"])


def test_a_database_may_be_named_like_an_extension(tmp_path, monkeypatch):
    project = written(tmp_path, "duckdb")
    (tmp_path / "all.duckdb").rename(tmp_path / "sqlite:all.duckdb")
    monkeypatch.chdir(tmp_path)
    project = Project("sqlite:all.duckdb", project.person, project.tables)
    assert release_project(project, tmp_path / "out", **OPTIONS)


READING = {
    "a file": "read_csv('{}')",
    "a text": "(SELECT 'p' || content AS patient_id, 30 AS age, 'f' AS sex FROM read_text('{}'))",
    "names": "(SELECT file AS patient_id, 30 AS age, 'f' AS sex FROM glob('{}'))",
    "a name that is a file": "'{}'",
}


@pytest.mark.parametrize("how", READING)
def test_a_view_that_reads_a_local_file_is_refused(tmp_path, how):
    project = written(tmp_path, "duckdb")
    secret = tmp_path / "secret.csv"
    secret.write_text("patient_id,age,sex,name\n" + "".join(f"s{n},3{n},f,x\n" for n in range(9)))
    with duckdb.connect(str(tmp_path / "all.duckdb")) as database:
        database.execute("DROP TABLE patients")
        view = f"SELECT * FROM {READING[how].format(secret)}"
        database.execute(f"CREATE MACRO people() AS TABLE {view}")
        database.execute("CREATE VIEW patients AS SELECT * FROM people()")
    with pytest.raises(InputError) as raised:
        release_project(project, tmp_path / "out", **OPTIONS)
    assert str(raised.value) == (
        f"{tmp_path}/all.duckdb: 'patients' reads files or addresses outside of the database; "
        "store its rows as a table"
    )
    assert not (tmp_path / "out").exists()


def test_a_table_of_a_database_is_no_file(tmp_path):
    """DuckDB reads a file for the name of a table that is not in the database."""
    project = written(tmp_path, "duckdb")
    pa.csv.write_csv(pa.table(PATIENTS), tmp_path / "secret.csv")
    tables = {name: {"from": name, **table} for name, table in SCHEMA["tables"].items()}
    tables["patients"]["from"] = f"{tmp_path}/secret.csv"
    project = Project.of({"person": "patients", "source": "all.duckdb", "tables": tables}, tmp_path)
    with pytest.raises(InputError, match="reads files or addresses outside of the database"):
        release_project(project, tmp_path / "out", **OPTIONS)


def test_views_of_tables_of_the_database_are_read(tmp_path):
    project = written(tmp_path, "duckdb")
    with duckdb.connect(str(tmp_path / "all.duckdb")) as database:
        database.execute("ALTER TABLE patients RENAME TO everyone")
        database.execute("CREATE VIEW patients AS SELECT * FROM everyone WHERE age > 0")
    assert release_project(project, tmp_path / "out", **OPTIONS).people == 12


def test_a_column_of_large_whole_numbers_and_others_becomes_text(tmp_path):
    with sqlite3.connect(tmp_path / "all.sqlite") as database:
        database.execute("CREATE TABLE patients (patient_id, age, sex, name)")
        rows = [(n, 30 + n % 2, "f", 2**60 + n if n else 0.5) for n in range(8)]
        database.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", rows)
    database.close()
    people = {"key": "patient_id", "columns": {"age": "quasi", "name": "insensitive"}}
    schema = {"person": "patients", "source": "all.sqlite", "tables": {"patients": people}}
    release_project(Project.of(schema, tmp_path), tmp_path / "out", **OPTIONS)
    shown = {row["name"] for row in released(tmp_path / "out")["patients"]}
    assert shown == {str(row[3]) for row in rows}


def test_hierarchy_files_are_relative_to_the_project_file(tmp_path):
    written(tmp_path, "csv")
    rows = [f"{age};{age // 10 * 10};*" for age in PATIENTS["age"]]
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "age.csv").write_text("\n".join(rows) + "\n")
    tables = {**SCHEMA["tables"], "patients": {"key": "patient_id", "columns": {
        "age": {"role": "quasi", "hierarchy": "trees/age.csv"}, "sex": "quasi"}}}  # fmt: skip
    (tmp_path / "project.yaml").write_text(json.dumps({**SCHEMA, "tables": tables}))
    release_project(tmp_path / "project.yaml", tmp_path / "out", method="flash", **OPTIONS)
    ages = {row["age"] for row in released(tmp_path / "out")["patients"]}
    assert set(map(str, ages)) <= {"30", "40", "50", "*"}
