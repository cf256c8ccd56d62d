"""Files at addresses give the release of the same files on a disk, and errors without secrets."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.rows.conftest import ROLES, TREES, rows, write_csv

import shoal
from shoal import InputError
from shoal.cli import main
from shoal.errors import MissingExtra, OutputError

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
READING = {"roles": ROLES, "hierarchies": TREES, "missing": ["NA"], "rows_are_people": True}
YEARS = {"year": "quasi", "sex": "quasi"}
SECRET = "s3cr3t"


@pytest.fixture
def run(monkeypatch):
    """Run a command and return its exit status."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0

    return run


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty store in memory; copies of its files go to a folder of this test."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    assert not list(temporary.iterdir())  # nothing is left behind


def put(store, path, address):
    store.pipe_file(address, Path(path).read_bytes())


def released(source, path, **reading):
    with shoal.open(source, memory="400MB", **(reading or READING)) as table:
        release = shoal.anonymize(table, k=3, method="flash")
        assert release.write(path, force=True).holds
    return path.read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_one_file_gives_the_same_bytes(ending, store, people, typed, tmp_path):
    path, reading = tmp_path / f"visits{ending}", READING
    if ending == ".parquet":
        reading = {"roles": dict.fromkeys(("age", "town", "ill"), "quasi")}
        shutil.copyfile(typed, path)
    else:
        packed = gzip.compress if ending.endswith("gz") else bytes
        path.write_bytes(packed(people.read_bytes()))
    put(store, path, f"memory://clinic/visits{ending}")
    here = released(path, tmp_path / "a.csv", **reading)
    assert here == released(f"memory://clinic/visits{ending}", tmp_path / "b.csv", **reading)
    assert here == released(f"file://{path}", tmp_path / "c.csv", **reading)


@pytest.mark.parametrize("source", ["clinic/parts", "clinic/parts/part-*.csv", "clinic/*/*-?.csv"])
def test_a_folder_and_a_pattern_give_the_bytes_of_one_file(source, store, people, tmp_path):
    for number, part in enumerate((rows()[:100], rows()[100:])):
        write_csv(tmp_path / "part.csv", part)
        put(store, tmp_path / "part.csv", f"memory://clinic/parts/part-{number}.csv")
    store.pipe_file("memory://clinic/parts/_manifest.json", b"{}")
    store.pipe_file("memory://clinic/other/readme.md", b"text")
    one = released(people, tmp_path / "a.csv")
    assert one == released(f"memory://{source}", tmp_path / "b.csv")


@pytest.mark.parametrize("source", ["", "/year=*/*.parquet", "/*/part.parquet"])
def test_folders_name_columns(source, store, tmp_path):
    for year in (2019, 2020):
        path = tmp_path / f"visits/year={year}/part.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table({"sex": ["f", "m"] * (year - 2010)}), path)
        put(store, path, f"memory://clinic/visits/year={year}/part.parquet")
    one = released(tmp_path / "visits", tmp_path / "a.csv", roles=YEARS)
    other = released(f"memory://clinic/visits{source}", tmp_path / "b.csv", roles=YEARS)
    assert one == other
    assert b"2019" in one


def test_commands_take_addresses(run, store, people, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(store, people, "memory://clinic/visits.csv")
    roles = ["--quasi", "sex,age", "--rows-are-people"]
    both = ["--method", "flash", "--missing", "NA", "-k", "3", *roles]
    for source, name in (("people.csv", "a"), ("memory://clinic/visits.csv", "b")):
        assert run("anonymize", source, *both, "-o", f"{name}.csv", "--report", f"{name}.html") == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert "files at an address are copied to the disk" in capsys.readouterr().err
    put(store, "b.csv", "memory://clinic/release.csv")
    verify = ["verify", "memory://clinic/release.csv", "--quasi", "sex,age", "-k"]
    assert run(*verify, "3") == 0
    assert run(*verify, "298") == 1
    assert run("risk", "records", "memory://clinic/release.csv", "--quasi", "sex,age") == 0


def test_what_needs_files_on_a_disk_says_so(run, store, people, capsys):
    put(store, people, "memory://clinic/visits.csv")
    address = "memory://clinic/visits.csv"
    assert run("metrics", address, str(people), "--quasi", "sex") == 2
    assert "this needs files on a disk; copy them there first" in capsys.readouterr().err


def stored(store, address):
    """Return the content of each file at an address, by its name."""
    paths = store.find(address.removeprefix("memory:/"))
    return {path.rpartition("/")[2]: store.cat_file(path) for path in paths}


@pytest.mark.parametrize("engine", [[], ["--engine", "duckdb"]])
def test_a_release_at_an_address_has_the_bytes_of_one_on_a_disk(
    engine, run, store, people, tmp_path
):
    asked = ["anonymize", str(people), "--quasi", "sex,age", "--rows-are-people", "-k", "3"]
    asked += ["--missing", "NA", "--method", "flash", *engine]
    for name in ("release.csv", "release.parquet", "parts", "more/"):
        assert run(*asked, "-o", f"{tmp_path}/{name}") == 0
        assert run(*asked, "-o", f"memory://clinic/new/{name}") == 0
        here = tmp_path / name
        files = sorted(here.iterdir()) if here.is_dir() else [here]
        there = stored(store, f"memory://clinic/new/{name.rstrip('/')}")
        assert there == {file.name: file.read_bytes() for file in files}
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_release_at_a_file_address_is_on_this_disk(run, people, tmp_path):
    asked = ["anonymize", str(people), "--quasi", "sex", "--rows-are-people", "-k", "3"]
    for name in ("release.csv", "parts/"):
        assert run(*asked, "-o", f"file://{tmp_path}/{name}") == 0
        assert run(*asked, "-o", f"file://{tmp_path}/{name}") == 2  # exists already
        assert run(*asked, "-o", f"file://{tmp_path}/{name}", "--force") == 0
    assert (tmp_path / "release.csv").is_file()
    assert (tmp_path / "parts/_manifest.json").is_file()


def test_a_report_names_the_digest_of_a_release_at_an_address(run, store, people, tmp_path):
    asked = ["anonymize", str(people), "--quasi", "sex", "--rows-are-people", "-k", "3"]
    for name in ("a.csv", "parts"):
        for folder in (str(tmp_path), "memory://clinic"):
            report = tmp_path / f"{name}-{len(folder)}.json"
            assert run(*asked, "-o", f"{folder}/{name}", "--report", str(report)) == 0
        here, there = (
            json.loads(path.read_text())["repeat"]["file"] for path in tmp_path.glob(f"{name}-*")
        )
        assert here == there


def test_an_address_that_exists_is_not_replaced(run, store, people, capsys):
    store.pipe_file("memory://clinic/old.csv", b"old")
    asked = ["anonymize", str(people), "--quasi", "sex", "--rows-are-people", "-k", "3", "--force"]
    assert run(*asked, "-o", "memory://clinic/old.csv") == 2
    assert "memory://clinic/old.csv: exists already; choose another name" in capsys.readouterr().err
    assert store.cat_file("/clinic/old.csv") == b"old"
    assert run(*asked, "-o", "memory://clinic/new.xyz") == 2
    assert "cannot write this kind of file" in capsys.readouterr().err


@pytest.mark.parametrize("failure", [OSError(SECRET), KeyboardInterrupt()])
@pytest.mark.parametrize("name", ["release.csv", "parts"])
def test_a_copy_that_fails_leaves_nothing_at_the_address(
    name, failure, store, people, tmp_path, monkeypatch
):
    kept = type(store).put_file

    def put_file(self, here, there, **options):
        kept(self, here, there, **options)
        raise failure

    monkeypatch.setattr(type(store), "put_file", put_file)
    with shoal.open(people, **READING) as table:
        release = shoal.anonymize(table, k=3, method="flash")
        with pytest.raises((OutputError, KeyboardInterrupt)) as caught:
            release.write(f"memory://clinic/{name}")
    assert SECRET not in str(caught.value)
    assert store.find("/clinic") == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_copy_of_another_size_is_an_error(store, people, monkeypatch):
    def put_file(self, here, there, **options):
        self.pipe_file(there, b"short")

    monkeypatch.setattr(type(store), "put_file", put_file)
    release = shoal.anonymize(shoal.read(people, **READING), k=3, method="flash")
    with pytest.raises(OutputError, match="arrived with another size"):
        release.write("memory://clinic/release.csv")
    assert store.find("/clinic") == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("memory://clinic/none.csv", "memory://clinic/none.csv: no such file"),
        ("memory://clinic/none-*.csv", "no file matches"),
        ("memory://clinic/empty.csv", "memory://clinic/empty.csv: the file is empty"),
        ("memory://clinic/notes", "has no Parquet or CSV files"),
        ("memory://clinic/notes/a.xlsx", "only Parquet and CSV files can stay on disk"),
        ("memory://clinic/mixed", "mixes Parquet and text files"),
        ("memory://clinic/mixed/a.parquet", "a.parquet: is damaged or not Parquet"),
        ("memory://clinic/binary.csv", "memory://clinic/binary.csv: contains binary data"),
        ("memory://clinic/years", "memory://clinic/years/year=…/b.csv: its columns differ"),
        ("s3://bucket/visits.parquet", "needs s3fs; install it with: pip install s3fs"),
        ("nowhere://bucket/visits.parquet", "fsspec has no file system for nowhere://"),
    ],
)
def test_errors_name_the_address_and_no_cell(source, message, store, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    store.pipe_file("memory://clinic/empty.csv", b"")
    store.pipe_file("memory://clinic/binary.csv", b"sex\nf\0unny\n")
    store.pipe_file("memory://clinic/notes/a.xlsx", b"PK")
    store.pipe_file("memory://clinic/mixed/a.parquet", b"PAR1 funny")
    store.pipe_file("memory://clinic/mixed/b.csv", b"sex\nfunny\n")
    store.pipe_file("memory://clinic/years/year=1931/a.csv", b"sex,age\nfunny,3\n")
    store.pipe_file("memory://clinic/years/year=1931/b.csv", b"sex,ill\nfunny,3\n")
    with pytest.raises(InputError, match=message) as caught:
        shoal.open(source, roles={"sex": "quasi"})
    for hidden in ("funny", "1931", tempfile.gettempdir()):
        assert hidden not in str(caught.value)


def test_a_damaged_line_is_named_by_its_address(store):
    store.pipe_file("memory://clinic/visits.csv", b"sex,age\nfunny,3\nfunny,3,4\n")
    with (
        pytest.raises(InputError, match=r"memory://clinic/visits.csv: line 3 has") as caught,
        shoal.open("memory://clinic/visits.csv", roles={"sex": "quasi", "age": "quasi"}) as table,
    ):
        shoal.anonymize(table, k=2, method="flash")
    assert "funny" not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "fsspec"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match=r"fsspec.*pip install 'shoal-privacy\[stores\]'"):
        shoal.open("memory://clinic/visits.csv", roles={"sex": "quasi"})


@pytest.mark.parametrize(
    "address",
    [
        f"s3://key:{SECRET}@bucket/visits.csv",
        f"s3a://key:{SECRET}/+{SECRET}@bucket/visits.csv",
        f"https://host/visits.csv?sig={SECRET}",
        f"abfss://c@account.example/visits.csv?sv=1&sig={SECRET}",
        f"https://{SECRET}@host/visits.csv",
    ],
)
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_an_address_with_a_secret_is_refused_and_not_shown(address, engine, run, capsys):
    with pytest.raises(InputError, match="out of the address") as caught:
        shoal.open(address, roles={"sex": "quasi"}, engine=engine)
    assert run("anonymize", address, "--quasi", "sex", "-k", "2", "--engine", engine) == 2
    assert SECRET not in str(caught.value) + "".join(capsys.readouterr())


def test_failures_of_a_store_show_no_message_of_it(store, people, monkeypatch):
    put(store, people, "memory://clinic/visits.csv")

    def fail(*_, **__):
        raise RuntimeError(f"403 with {SECRET}")

    for name in ("get_file", "info"):
        monkeypatch.setattr(type(store), name, fail)
        with pytest.raises(InputError, match=r"cannot be read \(RuntimeError\)") as caught:
            shoal.open("memory://clinic/visits.csv", **READING)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_file_that_changes_while_it_is_copied_is_refused(store, people, monkeypatch):
    put(store, people, "memory://clinic/visits.csv")
    cut = people.read_bytes()[:-20]
    monkeypatch.setattr(type(store), "get_file", lambda _, __, path: Path(path).write_bytes(cut))
    with pytest.raises(InputError, match=r"visits\.csv: was changed while it was copied"):
        shoal.open("memory://clinic/visits.csv", **READING)


def test_a_disk_without_space_is_named_before_anything_is_copied(store, people, monkeypatch):
    put(store, people, "memory://clinic/visits.csv")
    usage = shutil.disk_usage(tempfile.gettempdir())._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OutputError, match="no space left for copies"):
        shoal.open("memory://clinic/visits.csv", **READING)
