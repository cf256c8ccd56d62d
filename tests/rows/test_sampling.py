"""A release of safe-la on disk is the release in memory, and reveals nothing more."""

from __future__ import annotations

import json
import random
import sys
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.rows.conftest import write_csv

import shoal
from shoal import BudgetSpent, InputError
from shoal.cli import main
from shoal.cli.shared.summary import summarize
from shoal.dp import Ledger
from shoal.files import writing
from shoal.files.writing import write_table
from shoal.methods.lattice.node_choice import NodeChoice
from shoal.methods.lattice.sampled_draw import SampledDraw
from shoal.release import drawn_rows
from shoal.release.drawn_rows import distinct_rows
from shoal.report import contents
from shoal.rows.large_table import LargeTable
from shoal.support.wording import plain

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
TREE = {"west": ["a", "b;c"], "east": {"hill": ["d, e"], "coast": ['f"g', "é"]}}
COLUMNS = {
    "who": {"role": "identifier"},
    "home": {"role": "identifier", "type": "text"},
    "age": {
        "role": "quasi", "type": "integer", "bounds": [0, 99], "missing": ["NA"],
        "hierarchy": {"intervals": [10, 50]},
    },
    "town": {
        "role": "quasi", "type": "text", "values": ["a", "b;c", "d, e", 'f"g', "é"],
        "hierarchy": {"tree": TREE},
    },
    "born": {
        "role": "quasi", "type": "date", "bounds": ["1990-01-01", "1999-12-31"],
        "hierarchy": {"dates": ["month", "year"]},
    },
    "ill": {"role": "sensitive", "type": "text", "values": ["flu", "=gout", "none"]},
    "pay": {"role": "insensitive", "type": "decimal(2)", "bounds": [0, 99]},
}  # fmt: skip
LOOSE = {"allow_large_delta": True, "n0": 300, "epsilon": 3.0}
UNITS = [
    {"rows_are_people": True},
    {"person": "who"},
    {"person": "who", "household": "home"},
    {"household": "home", "rows_are_people": True},
]


def records(count=600, seed=1, kinds=6):
    draw = random.Random(seed)
    cells = [
        {
            "age": draw.choice(["NA", "20", "23", "71"]),
            "town": draw.choice(["a", "b;c", 'f"g', "é", ""]),
            "born": draw.choice(["1990-01-01", "1994-02-28", ""]),
            "ill": draw.choice(["flu", "=gout", ""]),
            "pay": draw.choice(["0.50", "7.25", ""]),
        }
        for _ in range(kinds)
    ]
    people = [draw.randrange(count // 2) for _ in range(count)]
    return [{"who": f"p{p}", "home": f"h{p % 90}", **draw.choice(cells)} for p in people]


def written(tmp_path, rows):
    path = tmp_path / "in.csv"
    write_csv(path, rows)
    return path


def schema_of(units):
    stated = {name: units[name] for name in ("person", "household") if name in units}
    return {"columns": COLUMNS, "file": {"delimiter": ","}, **stated}


def schema_file(tmp_path, units):
    path = tmp_path / "in.yaml"
    path.write_text(json.dumps(schema_of(units)), encoding="utf-8")
    return path


def both(path, schema, units, k=3, **options):
    """Return the release in memory, and the one on disk."""
    rows = {"rows_are_people": True} if "rows_are_people" in units else {}
    asked = {"method": "safe-la", "k": k, "seed": 5, **LOOSE, **options}
    one = shoal.anonymize(shoal.read(path, schema, **rows), **asked)
    return one, shoal.anonymize(shoal.open(path, schema, **rows), **asked)


def everything(release, folder, name):
    """Return all that leaves: files, the reports and the summary."""
    for ending in ("csv", "parquet"):
        checked = release.write(folder / f"{name}.{ending}")
        yield checked
        yield (folder / f"{name}.{ending}").read_bytes()
    yield plain(summarize(release, checked, None))
    yield plain(contents(release))
    yield repr(release).removeprefix("Sampled")


@pytest.mark.parametrize("units", UNITS, ids=" ".join)
@pytest.mark.parametrize("most", [1, 3])
def test_a_seed_gives_the_release_in_memory_and_all_that_leaves_with_it(units, most, tmp_path):
    if most > 1 and "person" not in units and "household" not in units:
        pytest.skip("needs people")
    path = written(tmp_path, records())
    options = {"max_rows_per_person": most}
    one, other = both(path, schema_file(tmp_path, units), units, **options)
    assert one.node == other.node
    assert one.to_arrow().num_rows > 0
    assert one.to_arrow().equals(other.to_arrow())
    assert list(everything(one, tmp_path, "one")) == list(everything(other, tmp_path, "other"))
    names = ["ncp", "discernibility", "precision", "class"]  # for the owner
    assert shoal.metrics.evaluate(one, names) == pytest.approx(shoal.metrics.evaluate(other, names))


@pytest.mark.parametrize(
    ("rows", "k"), [(records(1 << 5)[:1], 2), (records(32)[:3], 5), (records(40, kinds=40), 30)]
)
def test_small_tables_give_an_empty_release(rows, k, tmp_path):
    path = written(tmp_path, rows)
    schema = schema_file(tmp_path, {})
    one, other = both(path, schema, {"rows_are_people": True}, k)
    for name, release in (("one", one), ("other", other)):
        assert release.to_arrow().num_rows == 0
        release.write(tmp_path / f"{name}.csv")
        assert release.write(tmp_path / name).holds
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    assert plain(contents(one)) == plain(contents(other))


def test_rows_are_written_in_batches(tmp_path, monkeypatch):
    path = written(tmp_path, records())
    one, other = both(path, schema_file(tmp_path, {}), {"rows_are_people": True})
    monkeypatch.setattr(drawn_rows, "BATCH", 7)
    rows = distinct_rows(other, text=False)
    sizes = [batch.num_rows for batch in rows.batches()]
    assert set(sizes[:-1]) == {7}
    assert sum(sizes) == rows.total == one.to_arrow().num_rows
    other.write(tmp_path / "parts")
    other.write(tmp_path / "texts", parts="csv")
    one.write(tmp_path / "one.csv")
    assert (tmp_path / "texts/part-00000.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    monkeypatch.setattr(drawn_rows, "BATCH", writing.BATCH)
    parts = pq.ParquetDataset(tmp_path / "parts").read()
    assert parts.equals(one.to_arrow())


def test_formulas_are_escaped_as_in_memory(tmp_path):
    path = written(tmp_path, records())
    one, other = both(path, schema_file(tmp_path, {}), {"rows_are_people": True})
    for name, release in (("one", one), ("other", other)):
        release.write(tmp_path / f"{name}.csv", escape_formulas=True)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    assert other.rows.formula_columns(other) == ["ill"]
    with pytest.raises(InputError, match="no original order"):
        other.write(tmp_path / "again.csv", order="original")


def test_a_secure_draw_differs_each_time(tmp_path):
    path = written(tmp_path, records())
    table = shoal.open(path, schema_file(tmp_path, {}), rows_are_people=True)
    found = {
        shoal.anonymize(table, k=3, method="safe-la", **LOOSE).to_arrow().num_rows for _ in range(8)
    }
    assert len(found) > 1


def test_what_is_not_declared_is_refused_before_rows_are_grouped(tmp_path):
    path = written(tmp_path, records())
    roles = {"age": "quasi", "ill": "sensitive", "pay": "insensitive"}
    options = {"k": 3, "method": "safe-la", **LOOSE}
    table = shoal.open(path, roles=roles, rows_are_people=True, delimiter=",")
    with pytest.raises(InputError, match=r"column 'age': declare its type.*column 'pay': declare"):
        shoal.anonymize(table, **options)
    declared = shoal.open(path, schema_file(tmp_path, {}), rows_are_people=True)
    with pytest.raises(InputError, match="exceeds 1/n0"):
        shoal.anonymize(declared, k=3, method="safe-la")
    with pytest.raises(InputError, match="needs a table with person columns"):
        shoal.anonymize(declared, max_rows_per_person=2, **options)


@pytest.mark.parametrize("units", UNITS[:2], ids=" ".join)
def test_tuples_that_do_not_fit_are_refused_rather_than_rolled_up(units, tmp_path, monkeypatch):
    path = written(tmp_path, records())
    monkeypatch.setattr(LargeTable, "most_tuples", lambda *_: 3)
    rows = {"rows_are_people": True} if "rows_are_people" in units else {}
    table = shoal.open(path, schema_file(tmp_path, units), **rows)
    with pytest.raises(InputError, match="published columns, too many for safe-la"):
        shoal.anonymize(table, k=3, method="safe-la", **LOOSE)


@pytest.mark.parametrize("more", [["--json"], ["--report", "r.html"], ["--report", "r.json"]])
def test_records_that_are_not_drawn_leave_no_trace_on_the_command_line(
    more, tmp_path, monkeypatch, capsys
):
    """Of the same drawn records, with others beside them of any kind and number."""
    ages = ["NA", "20", "23", "71", "72", "73"]
    kinds = [{**cells, "age": age} for cells, age in zip(records(6), ages, strict=True)]
    drawn = [{**kinds[n % 3], "who": f"d{n}"} for n in range(60)]
    others = [{**cells, "who": f"x{n}"} for n, cells in enumerate(kinds * 40)]

    def sample(self, slot, _):
        """Draw 20 records of each of three tuples, whatever else there is."""
        found = self.records["age"].to_arrow(as_text=True).to_pylist()
        return slot.clip(max=20) * [age in (None, "20", "23") for age in found]

    monkeypatch.setattr(SampledDraw, "_sample", sample)
    monkeypatch.setattr(NodeChoice, "draw", lambda *_: (0, 0, 0))
    monkeypatch.chdir(tmp_path)
    schema_file(tmp_path, {})
    left = []
    for rows in (drawn, [*others, *drawn]):
        written(tmp_path, rows)
        command = "shoal anonymize in.csv --schema in.yaml --rows-are-people -k 5 --method safe-la"
        command += " -O allow_large_delta=true --engine duckdb --memory 1GB --force -o out.parquet"
        monkeypatch.setattr(sys, "argv", [*command.split(), *more])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None)
        printed = capsys.readouterr()
        files = [(tmp_path / name).read_bytes() for name in ("out.parquet", *more[1:])]
        left.append((printed.out, printed.err, files))
    assert left[0] == left[1]
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 60


def test_one_ledger_is_charged_in_memory_and_on_disk(tmp_path):
    path, schema = written(tmp_path, records()), schema_file(tmp_path, UNITS[2])
    ledger = Ledger(7.0, 0.99, neighbours="add or remove one household")
    asked = {"k": 15, "method": "safe-la", **LOOSE}
    shoal.anonymize(shoal.read(path, schema), ledger=ledger, **asked)
    release = shoal.anonymize(shoal.open(path, schema), ledger=ledger, what="on disk", **asked)
    assert [entry.what for entry in ledger.entries] == ["safe-la", "on disk"]
    assert release.claims[0].epsilon == 3.0
    with pytest.raises(BudgetSpent):
        shoal.anonymize(shoal.open(path, schema), ledger=ledger, **asked)
    with pytest.raises(InputError, match="ola makes no differential privacy claim"):
        shoal.anonymize(shoal.open(path, schema), k=5, method="ola", ledger=ledger)


TYPED = {  # the Arrow type of a column, the cells that it draws from, and what is declared
    "whole": (pa.int16(), [1, 5, 90], {"type": "integer", "bounds": [0, 99]}),
    "share": (pa.float64(), [0.5, 0.25, -0.0, float("nan")], {"type": "float", "bounds": [0, 1]}),
    "fee": (pa.decimal128(9, 2), [Decimal("1.10"), Decimal("20.00")],
            {"type": "decimal(2)", "bounds": [0, 99]}),
    "ill": (pa.bool_(), [True, False], {"type": "boolean"}),
    "born": (pa.date32(), [date(1990, 5, 1), date(1991, 1, 31)],
             {"type": "date", "bounds": ["1990-01-01", "1999-12-31"]}),
    "town": (pa.string(), ["b", "a", "Zoë", "10", "9"],
             {"type": "text", "values": ["a", "b", "Zoë", "10", "9", "never"]}),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_random_tables_of_all_types_give_the_release_in_memory(seed, tmp_path):
    draw = random.Random(seed)
    names = draw.sample(list(TYPED), draw.randrange(1, len(TYPED)))
    columns, roles, count = {}, {}, draw.choice([1, 30, 400])
    for name in names:
        kind, cells, declared = TYPED[name]
        drawn = [draw.choice([*cells, None][: draw.choice([1, 2, 9])]) for _ in range(count)]
        columns[name] = pa.array(drawn, kind)
        roles[name] = {"role": draw.choice(["quasi", "sensitive", "insensitive"]), **declared}
    roles[names[0]]["role"] = "quasi"
    path = tmp_path / draw.choice(["in.csv", "in.parquet"])
    write_table(pa.table(columns), path)
    asked = {"method": "safe-la", "k": 2, "seed": seed, **LOOSE}
    readers = (shoal.read, shoal.open)
    releases = [shoal.anonymize(read(path, roles=roles), **asked) for read in readers]
    assert releases[0].to_arrow().equals(releases[1].to_arrow())
    for ending in ("csv", "parquet"):
        files = [tmp_path / f"{name}.{ending}" for name in ("one", "other")]
        assert releases[0].write(files[0]) == releases[1].write(files[1])
        assert files[0].read_bytes() == files[1].read_bytes()
