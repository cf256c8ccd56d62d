"""A table on disk gives the release that the same table in memory gives, byte for byte."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.rows.conftest import ROLES, TREES, rows, write_csv

import shoal
from shoal import InputError
from shoal.files import writing
from shoal.files import writing as staging
from shoal.release import large_release

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
METHODS = {
    "flash": {},
    "flash, no suppression": {"max_suppression": 0.0},
    "ola": {},
    "ola, local": {"local": True},
    "datafly": {},
    "samarati": {},
    "incognito": {},
    "mingen": {},
    "mondrian": {},
    "mondrian, sets": {"summary": "set", "hierarchies": False},
}


def both(path, model, method="flash", options=(), **reading):
    """Return the release of the file in memory, and on disk."""
    options = dict(options)
    name = method.partition(",")[0]
    table = shoal.read(path, **reading)
    on_disk = shoal.open(path, **reading, memory="400MB")
    return (
        shoal.anonymize(table, model, name, **options),
        shoal.anonymize(on_disk, model, name, **options),
    )


def assert_same_files(one, other, folder):
    for name in ("release.csv", "release.parquet", "release.tsv"):
        first, second = folder / f"one-{name}", folder / f"other-{name}"
        checked = one.write(first), other.write(second)
        assert first.read_bytes() == second.read_bytes()
        assert checked[0] == checked[1]
    other.write(folder / "parts")
    parts = pq.ParquetDataset(folder / "parts").read()
    assert parts.equals(pq.read_table(folder / "one-release.parquet"))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_on_tuples_gives_the_release_of_the_table_in_memory(method, people, tmp_path):
    reading = {"roles": ROLES, "hierarchies": TREES, "missing": ["NA"], "rows_are_people": True}
    one, other = both(people, shoal.KAnonymity(3), method, METHODS[method], **reading)
    assert one.node == other.node
    assert_same_files(one, other, tmp_path)


@pytest.mark.parametrize(
    "model",
    ["k-anonymity(2)", "l-diversity(2, illness)", "t-closeness(0.5, cost)"],
)
@pytest.mark.parametrize("method", ["flash", "mondrian"])
def test_people_with_several_rows_count_once(model, method, people, tmp_path):
    reading = {"roles": ROLES, "hierarchies": TREES, "missing": ["NA"], "person": "patient"}
    one, other = both(people, model, method, **reading)
    assert_same_files(one, other, tmp_path)
    assert other.verify().people < 300


def test_households_count_too(people, tmp_path):
    reading = {"hierarchies": TREES, "missing": ["NA"], "person": "patient", "household": "note"}
    roles = {name: role for name, role in ROLES.items() if name != "note"}
    reading["roles"] = {**roles, "note": "identifier"}
    records = [{**record, "note": record["patient"][:2]} for record in rows()]
    write_csv(people, records)
    one, other = both(people, "k-anonymity(3)", **reading)
    assert_same_files(one, other, tmp_path)
    assert other.verify().households == one.verify().households


def test_typed_columns_keep_their_types(typed, tmp_path):
    roles = {
        "age": "quasi",
        "height": "quasi",
        "born": "quasi",
        "town": "quasi",
        "seen": "insensitive",
        "fee": "sensitive",
        "ill": "sensitive",
    }
    trees = {"age": {"intervals": [5, 10]}}
    one, other = both(typed, shoal.KAnonymity(2), roles=roles, hierarchies=trees)
    assert_same_files(one, other, tmp_path)


@pytest.mark.parametrize("columns", [["town"], ["town", "note"]])
def test_empty_texts_stay_apart_from_missing_cells_only_where_they_pass_through(columns, tmp_path):
    path = tmp_path / "towns.parquet"
    cells = [None, 'a "b"', "c,d", "two\nlines", "tab\tbed", "'single'", "#"]
    cells += [""] if len(columns) > 1 else ["x"]
    pq.write_table(pa.table({"town": cells * 3, "note": cells * 3}), path)
    roles = dict(zip(columns, ["quasi", "insensitive"], strict=False))
    one, other = both(path, shoal.KAnonymity(3), roles=roles)
    assert_same_files(one, other, tmp_path)
    assert other.verify().classes == (7 if len(columns) > 1 else 8)
    other.write(tmp_path / "other.parquet")
    written = pq.read_table(tmp_path / "other.parquet").to_pydict()
    assert written["town"].count(None) == written["town"].count("c,d") * (
        2 if len(columns) > 1 else 1
    )
    assert "" not in written["town"]
    assert written.get("note", [""] * 3).count("") == 3


def test_declared_types_apply(people, tmp_path):
    schema = {
        "file": {"missing": ["NA"]},
        "columns": {
            "postcode": {"role": "quasi", "type": "text", "hierarchy": {"mask": "right"}},
            "age": {"role": "quasi", "type": "integer", "bounds": [0, 99]},
            "income": {"role": "quasi", "type": "decimal(3)", "hierarchy": {"intervals": [50]}},
            "sex": {"role": "quasi", "values": ["f", "m", "x"]},
            "cost": {"role": "sensitive", "type": "decimal"},
            "note": {"role": "insensitive", "missing": ["plain"]},
        },
    }
    one, other = both(people, shoal.KAnonymity(3), schema=schema, rows_are_people=True)
    assert_same_files(one, other, tmp_path)


def test_cells_that_do_not_fit_are_counted_in_rows(people):
    roles = {"age": {"role": "quasi", "type": "integer"}}
    wrong = sum(record["age"] == "NA" for record in rows())
    table = shoal.open(people, roles=roles, rows_are_people=True)
    with pytest.raises(InputError, match=f"column 'age': {wrong} of 300 cells are not integers"):
        shoal.anonymize(table, k=2, method="flash")


def test_many_files_are_one_table(people, tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    records = rows()
    write_csv(folder / "b.csv", records[100:])
    write_csv(folder / "plain.csv", records[:100])
    packed = gzip.compress((folder / "plain.csv").read_bytes())
    (folder / "a.csv.gz").write_bytes(packed)
    (folder / "plain.csv").unlink()
    reading = {"roles": ROLES, "hierarchies": TREES, "missing": ["NA"]}
    reading["rows_are_people"] = True
    one = shoal.anonymize(shoal.read(people, **reading), k=3, method="flash")
    for source in (folder, folder / "*.csv*"):
        other = shoal.anonymize(shoal.open(source, **reading), k=3, method="flash")
        first, second = tmp_path / "one.csv", tmp_path / "other.csv"
        one.write(first, force=True)
        other.write(second, force=True)
        assert first.read_bytes() == second.read_bytes()


def test_a_search_begins_at_coarser_levels_if_tuples_are_too_many(people, monkeypatch):
    from shoal.rows.large_table import LargeTable

    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 60)
    reading = {"roles": ROLES, "hierarchies": TREES, "missing": ["NA"]}
    reading["rows_are_people"] = True
    release = shoal.anonymize(shoal.open(people, **reading), k=10, method="ola")
    assert release.floor
    assert all(release.node[name] >= level for name, level in release.floor.items())
    assert release.verify().smallest >= 10
    assert any("the search began at" in note for note in release.run.notes)
    with pytest.raises(InputError, match="too many for a search with datafly"):
        shoal.anonymize(shoal.open(people, **reading), k=10, method="datafly")


@pytest.mark.parametrize("method", ["doka-greedy", "doka-sort-greedy", "doka-hungarian"])
def test_methods_that_see_all_records_at_once_need_the_table_in_memory(method, people):
    table = shoal.open(people, roles=ROLES, rows_are_people=True)
    with pytest.raises(InputError, match=f"{method} needs the table in memory: its records"):
        shoal.anonymize(table, k=2, method=method)


def test_identifiers_that_repeat_are_refused(people):
    table = shoal.open(people, roles={**ROLES, "patient": "identifier"})
    with pytest.raises(InputError, match=r"column 'patient' has \d+ distinct values in 300 rows"):
        shoal.anonymize(table, k=2, method="flash")


def test_parts_that_differ_are_refused(tmp_path):
    for name, cell in (("a", 1), ("b", "1")):
        pq.write_table(pa.table({"age": [cell]}), tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match=r"b.parquet: its type of column .age. differ"):
        shoal.open(tmp_path, roles={"age": "quasi"})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("postgresql://clinic/visits", "a database is read into memory"),
        ("nowhere-*.csv", "no file matches"),
        ("visits.xlsx", "only Parquet and CSV files can stay on disk"),
    ],
)
def test_other_sources_are_refused_with_the_reason(source, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=message):
        shoal.open(source, roles={"age": "quasi"})


def test_a_damaged_part_is_named(tmp_path):
    pq.write_table(pa.table({"age": [1, 2]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match=r"b.parquet: is damaged or not Parquet"):
        shoal.open(tmp_path, roles={"age": "quasi"})


def test_a_damaged_line_is_named_without_its_content(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n31,f\n47,m,secret\n", encoding="utf-8")
    table = shoal.open(path, roles={"age": "quasi"})
    with pytest.raises(InputError, match="line 3 has 3 fields but the header has 2") as error:
        shoal.anonymize(table, k=2, method="flash")
    assert "secret" not in str(error.value)


def test_a_column_with_many_values_stays_plain(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.rows.large_table.MAX_NATURAL", 20)
    monkeypatch.setattr("shoal.release.publishing.MAX_NATURAL", 20)
    monkeypatch.setattr("shoal.files.writing.MAX_NATURAL", 20)
    for kind in (pa.string(), pa.int64()):
        path = tmp_path / "many.parquet"
        serial = pa.array([str(1000 - n) for n in range(400)]).cast(kind)
        data = {"age": [n % 4 for n in range(400)], "serial": serial, "ill": ["flu", "gout"] * 200}
        pq.write_table(pa.table(data), path)
        roles = {"age": "quasi", "serial": "insensitive", "ill": "sensitive"}
        one, other = both(path, shoal.KAnonymity(5), roles=roles)
        assert other.source.plain == ("serial",)
        folder = tmp_path / str(kind)
        folder.mkdir()
        assert_same_files(one, other, folder)


def test_the_working_files_disappear(people, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with shoal.open(people, roles=ROLES, rows_are_people=True) as table:
        shoal.anonymize(table, k=2, method="flash")
        assert list(scratch.iterdir())
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    "recipe",
    [
        {"quantiles": [8, 4, 2]},
        {"quantiles": {"groups": [4, 2]}},
        {"frequency": [0.02, 0.05]},
    ],
)
def test_recipes_by_count_count_all_rows(recipe, people, tmp_path):
    """Most ages are those of a few rows: distinct values alone would be divided otherwise."""
    write_csv(people, [*rows(), *[{**rows()[0], "age": "20"} for _ in range(200)]])
    settings = {"roles": ROLES, "missing": ["NA"], "rows_are_people": True}
    settings["hierarchies"] = TREES | {"age": recipe}
    made = []
    for place, read in enumerate((shoal.read, shoal.open)):
        release = shoal.anonymize(read(people, **settings), k=4, method="flash")
        release.write(tmp_path / f"{place}.csv")
        made.append((tmp_path / f"{place}.csv").read_bytes())
    assert made[0] == made[1]


def test_quantiles_with_wrong_arguments_are_refused(people):
    settings = {"roles": ROLES, "missing": ["NA"], "rows_are_people": True}
    for recipe in ({"quantiles": [4], "more": 1}, {"quantiles": "x"}, {"quantiles": [3, 2]}):
        table = shoal.open(people, **settings, hierarchies={"age": recipe})
        with pytest.raises(InputError, match="quantiles"):
            shoal.anonymize(table, k=3, method="flash")


@pytest.mark.parametrize("engine", [shoal.open, shoal.read])
def test_a_folder_of_csv_parts_has_the_rows_of_one_file(engine, people, tmp_path, monkeypatch):
    monkeypatch.setattr(staging, "PART_ROWS", 100)
    monkeypatch.setattr(writing, "BATCH", 100)
    for module in (staging, large_release):
        monkeypatch.setattr(module, "BATCH", 100)
    release = shoal.anonymize(
        engine(people, roles=ROLES, hierarchies=TREES, missing=["NA"], rows_are_people=True),
        k=3,
        method="flash",
    )
    assert release.write(tmp_path / "one.csv").holds
    assert release.write(tmp_path / "parts", parts="csv").holds
    names = sorted(path.name for path in (tmp_path / "parts").iterdir())
    assert names == ["_manifest.json", *(f"part-0000{n}.csv" for n in range(len(names) - 1))]
    assert len(names) > 2
    header, *rows = (tmp_path / "one.csv").read_text().splitlines()
    parts = [(tmp_path / "parts" / name).read_text().splitlines() for name in names[1:]]
    assert [part[0] for part in parts] == [header] * len(parts)
    assert [row for part in parts for row in part[1:]] == rows
    assert release.write(tmp_path / "parts", parts="parquet", force=True).holds
    assert not list((tmp_path / "parts").glob("*.csv"))
    with pytest.raises(InputError, match="parts must be one of parquet, csv"):
        release.write(tmp_path / "other", parts="xlsx")


def test_people_without_a_number_are_refused_on_disk_as_in_memory(tmp_path):
    path = tmp_path / "people.parquet"
    numbers = pa.array([1.0, float("nan"), 2.0, float("nan")])
    pq.write_table(pa.table({"town": ["x"] * 4, "who": numbers}), path)
    for read in (shoal.read, shoal.open):
        with pytest.raises(shoal.InputError, match="'who' identifies the person, but 2 rows have"):
            shoal.anonymize(read(path, roles={"town": "quasi"}, person="who"), k=2)
