from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal.errors import InputError, NotAnonymous, OutputError
from shoal.privacy import KAnonymity
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.table.recoding import Recoding
from shoal.table.table import Table

PEOPLE = {
    "name": ["Ada", "Bob", "Cyd", "Dan", "Eve"],
    "age": [20, 24, 30, None, 34],
    "sex": ["F", "M", "F", "F", "F"],
    "ill": ["flu", "flu", None, "cold", "flu"],
    "note": ["x", "", None, "z", "x"],
}
ROLES = {
    "name": "identifier",
    "age": "quasi",
    "sex": "quasi",
    "ill": "sensitive",
    "note": "insensitive",
}


def people(counts=None):
    return Table.from_arrow(pa.table(PEOPLE), ROLES, counts=counts)


def released(ids, table=None, k=2, **options):
    ids = np.array(ids, dtype=np.int32)
    table = people() if table is None else table
    return Release.of_groups(table, ids, int(ids.max()) + 1, KAnonymity(k), **options)


def test_publishes_each_group_alike_and_no_identifier():
    assert released([0, 0, 1, 1, 1]).to_arrow().to_pydict() == {
        "age": ["[20, 24]", "[20, 24]", *["[30, 34] or missing"] * 3],
        "sex": ["*", "*", "F", "F", "F"],
        "ill": PEOPLE["ill"],
        "note": PEOPLE["note"],
    }


def test_suppressed_rows_are_left_out():
    release = released([-1, 0, 1, -1, 1], k=2)
    assert release.to_arrow().to_pydict() == {
        "age": ["24", "[30, 34]", "[30, 34]"],
        "sex": ["M", "F", "F"],
        "ill": ["flu", None, "flu"],
        "note": ["", None, "x"],
    }
    assert release.classes.ids.tolist() == [-1, 0, 1, -1, 1]
    assert release.classes.suppressed == 2
    assert repr(release) == "Release(by hand, k-anonymity(k=2), rows=5, classes=2, suppressed=2)"


def test_all_rows_may_be_suppressed():
    ids = np.full(5, -1, dtype=np.int32)
    release = Release.of_groups(people(), ids, 0, KAnonymity(2))
    assert release.to_arrow().num_rows == 0
    assert release.verify()
    assert len(release.classes) == 0


def test_a_table_of_no_rows_is_released_as_such():
    empty = Table.from_arrow(pa.table(PEOPLE).slice(0, 0), ROLES)
    release = Release.of_groups(empty, np.zeros(0, dtype=np.int32), 0, KAnonymity(2))
    assert release.verify()
    assert release.to_arrow().column_names == ["age", "sex", "ill", "note"]


def test_rows_suppressed_after_the_fact_need_no_suppressed_cells():
    table = people()
    recodings = {c.name: Recoding.identity(c) for c in table.quasi_columns}
    hidden = np.array([True, True, True, True, False])
    release = Release(table, recodings, KAnonymity(2), hidden)
    assert release.to_arrow().column("age").to_pylist() == [34]
    assert release.classes.ids.tolist() == [-1, -1, -1, -1, 0]
    assert not release.verify()  # one record alone


def test_groups_that_look_alike_are_one_class():
    release = released([0, 1, 2, 2, 2], Table.from_arrow(pa.table(PEOPLE), {"sex": "quasi"}))
    assert release.classes.ids.tolist() == [0, 1, 0, 0, 0]


def test_to_pandas_and_polars():
    release = released([0, 0, 1, 1, 1])
    arrow = release.to_arrow()
    assert release.to_polars().to_dicts() == arrow.to_pylist()
    frame = release.to_pandas()
    assert list(frame.columns) == ["age", "sex", "ill", "note"]
    assert frame["age"].tolist() == arrow.column("age").to_pylist()
    assert frame.index.tolist() == list(range(5))


def test_a_weighted_table_publishes_every_record():
    release = released([0, 0, 1, 1, -1], people([1, 2, 3, 1, 5]), k=3)
    assert release.to_arrow().column("ill").to_pylist() == ["flu"] * 3 + [None] * 3 + ["cold"]
    assert release.classes.sizes.tolist() == [3, 4]
    assert release.classes.suppressed == 5
    assert release.verify()


def test_identifiers_and_columns_without_a_role_never_leave(tmp_path):
    table = Table.from_arrow(pa.table(PEOPLE), {k: v for k, v in ROLES.items() if k != "note"})
    release = released([0, 0, 1, 1, 1], table)
    for ending in ("csv", "parquet"):
        release.write(tmp_path / f"out.{ending}")
        content = (tmp_path / f"out.{ending}").read_bytes()
        assert not any(name.encode() in content for name in [*PEOPLE["name"], "note", "name"])


def test_nothing_is_written_unless_the_model_holds(tmp_path):
    release = released([0, 0, 1, 1, 2])
    with pytest.raises(NotAnonymous, match=r"k=2\) does not hold: 1 of 3 classes break it"):
        release.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_unless_the_cells_are_true(tmp_path):
    release = released([0, 0, 1, 1, 1])
    age = release.recodings["age"]
    swapped = Recoding(age.column, 1 - age.codes, age.subsets, age.labels)  # two entries
    lying = Release(release.original, {**release.recodings, "age": swapped}, release.model)
    with pytest.raises(NotAnonymous, match="do not cover their original value"):
        lying.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_under_a_wrong_label(tmp_path):
    release = released([0, 0, 1, 1, 1])
    assert release.verify().truthful
    age = release.recodings["age"]
    wrong = replace(age, labels=("[20, 22]", *age.labels[1:]))
    lying = replace(release, recodings={**release.recodings, "age": wrong})
    assert not lying.verify().truthful
    with pytest.raises(NotAnonymous, match="or their text does not match"):
        lying.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_writes_by_the_ending_of_the_name(tmp_path):
    release = released([0, 0, 1, 1, 1])
    release.write(tmp_path / "out.parquet", order="original")
    assert pq.read_table(tmp_path / "out.parquet").equals(release.to_arrow())
    release.write(str(tmp_path / "OUT.TSV"))
    assert (tmp_path / "OUT.TSV").read_text().startswith("age\tsex\till\tnote\n")
    with pytest.raises(OutputError, match=r"end the name in .csv, .tsv, .parquet"):
        release.write(tmp_path / "out.xlsx")


def test_an_existing_file_is_overwritten_only_with_force(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        released([0, 0, 1, 1, 1]).write(path)
    assert path.read_text() == "mine"
    released([0, 0, 1, 1, 1]).write(path, force=True)
    assert path.read_text() != "mine"


def rows_in(path):
    return pacsv.read_csv(path).to_pylist()


def test_files_are_written_in_an_order_that_follows_from_their_rows(tmp_path):
    data = pa.table({"q": [1] * 50, "s": list(range(50))})
    written = set()
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(50)
        table = Table.from_arrow(data.take(pa.array(order)), {"q": "quasi", "s": "sensitive"})
        released([0] * 50, table).write(tmp_path / f"{seed}.csv")
        written.add((tmp_path / f"{seed}.csv").read_bytes())
    assert len(written) == 1
    assert [row["s"] for row in rows_in(tmp_path / "0.csv")] == list(range(50))


def test_the_original_order_is_kept_where_it_is_asked_for(tmp_path):
    table = Table.from_arrow(
        pa.table({"q": [1] * 5, "s": [3, 1, 4, 1, 5]}), {"q": "quasi", "s": "sensitive"}
    )
    release = released([0] * 5, table)
    release.write(tmp_path / "out.csv", order="original")
    assert [row["s"] for row in rows_in(tmp_path / "out.csv")] == [3, 1, 4, 1, 5]
    assert release.to_arrow().column("s").to_pylist() == [3, 1, 4, 1, 5]  # frames keep theirs
    with pytest.raises(InputError, match="order must be one of canonical, original"):
        release.write(tmp_path / "more.csv", order="random")


def test_a_row_stays_together_when_rows_are_sorted(tmp_path):
    release = released([0, 0, 1, 1, 1])
    release.write(tmp_path / "out.parquet")
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    plain = release.to_arrow().to_pylist()
    assert Counter(map(str, rows)) == Counter(map(str, plain))


def test_a_run_says_how_to_repeat_it():
    assert Run("mondrian", {"strict": True}, 7).seed == 7
    assert Run() == Run(method="", options={}, seed=None)


CELLS = {
    "text": st.text(st.sampled_from('a,"\n\r;é '), min_size=1, max_size=4),
    "day": st.dates(),
    "moment": st.datetimes(),
    "amount": st.decimals(-1000, 1000, places=8),
    "number": st.integers(-(2**62), 2**62),
    "share": st.floats(allow_nan=False, allow_infinity=False),
}
TYPES = {
    "text": pa.string(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "amount": pa.decimal128(12, 8),
    "number": pa.int64(),
    "share": pa.float64(),
}


@examples(25)
@given(st.lists(st.fixed_dictionaries({k: st.none() | v for k, v in CELLS.items()}), min_size=1))
def test_a_written_file_reads_back_cell_by_cell(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("release")
    rows = [row for row in rows for _ in range(2)]  # 2-anonymous as they are
    data = pa.Table.from_pylist(rows, pa.schema(TYPES))
    roles = dict.fromkeys(["text", "day", "amount"], "quasi")
    roles |= {"number": "sensitive", "moment": "insensitive", "share": "insensitive"}
    table = Table.from_arrow(data, roles)
    recodings = {c.name: Recoding.identity(c) for c in table.quasi_columns}
    release = Release(table, recodings, KAnonymity(2))
    release.write(folder / "out.csv", order="original")
    release.write(folder / "out.parquet", order="original")
    assert pq.read_table(folder / "out.parquet").to_pylist() == rows
    back = pacsv.read_csv(
        folder / "out.csv",
        parse_options=pacsv.ParseOptions(newlines_in_values=True),
        convert_options=pacsv.ConvertOptions(
            column_types=TYPES,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    assert back.to_pylist() == rows


def test_moments_of_whole_seconds_are_written_without_fractions(tmp_path):
    data = pa.table(
        {
            "when": [datetime(2024, 2, 29, 7, 5)] * 2,
            "day": [date(2024, 2, 29)] * 2,
            "cost": [Decimal("0.00000001")] * 2,
            "share": [37.0, 0.1],
        }
    )
    roles = dict.fromkeys(["when", "day", "cost"], "quasi") | {"share": "sensitive"}
    release = released([0, 0], Table.from_arrow(data, roles))
    release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == [
        "2024-02-29 07:05:00,2024-02-29,0.00000001,0.1",
        "2024-02-29 07:05:00,2024-02-29,0.00000001,37",
    ]


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_the_type_of_a_file_says_nothing_of_decimals_that_are_not_released(tmp_path, role):
    schemas = []
    for last in ("12.50", "9.125", "123456.7"):
        source = tmp_path / "in.csv"
        source.write_text(f"town,price\na,12.50\na,12.50\nb,{last}\n")
        table = shoal.read(source, roles={"town": "quasi", "price": role})
        release = shoal.anonymize(table, KAnonymity(2), "datafly", max_suppression=0.4)
        release.write(tmp_path / "out.parquet", force=True)
        schemas.append(pq.read_schema(tmp_path / "out.parquet"))
        release.write(tmp_path / "out.csv", force=True)
        assert (tmp_path / "out.csv").read_text() == "town,price\na,12.50\na,12.50\n"
    assert schemas[0] == schemas[1] == schemas[2]
    assert str(schemas[0].field("price").type) == "decimal128(38, 2)"
