"""Texts that mean a missing value in one column and nothing of the kind in another."""

import json

import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError

ROLES = {"age": {"role": "quasi", "missing": ["999"]}, "code": "quasi"}


def cells(table, name):
    return table[name].to_arrow().to_pylist()


def test_a_code_of_one_column_is_a_value_of_another(write):
    table = shoal.read(write("age,code\n31,999\n999,7\n"), roles=ROLES)
    assert (cells(table, "age"), cells(table, "code")) == ([31, None], [999, 7])


def test_numbers_beside_a_code_of_text_are_numbers(write):
    schema = write("columns:\n  age: {role: quasi, missing: ['?', 0x]}\n", "s.yaml")
    table = shoal.read(write("age\n31\n?\n0x\n"), schema)
    assert cells(table, "age") == [31, None, None]


def test_a_declared_type_does_not_refuse_the_code(write):
    spec = {"role": "quasi", "type": "integer", "missing": ["?"]}
    assert cells(shoal.read(write("age\n31\n?\n"), roles={"age": spec}), "age") == [31, None]
    frame = pa.table({"age": ["31", "?"]})
    assert cells(shoal.read(frame, roles={"age": spec}), "age") == [31, None]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([31, 999], pa.int64()),
        pa.array([31.0, 999.0], pa.float64()),
        pa.array(["31", "999"], pa.string()),
        pa.array(["31", "999"]).dictionary_encode(),
    ],
)
def test_frames_know_codes_of_their_columns(values, tmp_path):
    import pyarrow.parquet as pq

    data = pa.table({"age": values, "code": values})
    pq.write_table(data, tmp_path / "a.parquet")
    for source in (data, tmp_path / "a.parquet"):
        table = shoal.read(source, roles=ROLES)
        assert [cell is None for cell in cells(table, "age")] == [False, True]
        assert None not in cells(table, "code")


def test_json_lines_know_codes_of_their_columns(write):
    lines = "".join(json.dumps({"age": age, "code": age}) + "\n" for age in (31, 999))
    table = shoal.read(write(lines, "a.jsonl"), roles=ROLES)
    assert (cells(table, "age"), cells(table, "code")) == ([31, None], [31, 999])


def test_ordered_categories_keep_their_order_beside_a_code():
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), ["low", "high", "?"])
    spec = {"role": "quasi", "missing": ["?"]}
    table = shoal.read(pa.table({"a": column.cast(kind)}), roles={"a": spec})
    assert table["a"].labels == ("low", "high", None)


def test_codes_that_are_no_list_are_refused():
    with pytest.raises(InputError, match="column 'age': missing must be a list of texts"):
        shoal.read(pa.table({"age": [1]}), roles={"age": {"role": "quasi", "missing": "999"}})
