"""What a hostile reader found in releases about people, on the smallest tables that show it."""

import json

import pyarrow as pa
import pytest

import shoal
from shoal import FreeformAnonymity, KAnonymity, KConcealment, KKAnonymity


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
@pytest.mark.parametrize("hidden", ["0.77", "99.77"])
def test_a_report_names_no_decimal_that_only_suppressed_rows_have(tmp_path, role, hidden):
    rows = [f"p{i},{30 + i % 2},{('11.50', '12.5')[i % 2]}" for i in range(40)]
    source = tmp_path / "in.csv"
    source.write_text("\n".join(["pid,age,pay", *rows, f"z,90,{hidden}"]) + "\n")
    table = shoal.read(source, roles={"age": "quasi", "pay": role}, person="pid")
    release = shoal.anonymize(table, KAnonymity(5), "ola", max_suppression=0.2)
    assert release.suppressed.sum() == 1
    release.report(tmp_path / "report.json")
    text = (tmp_path / "report.json").read_text()
    assert hidden not in text
    labels = {
        group["label"]
        for found in json.loads(text)["distributions"]
        if found["column"] == "pay"
        for group in found["groups"]
    }
    assert labels <= {"11.50", "12.5", "[11.50, 12.5]", "11.50 to 12.5"}


@pytest.mark.parametrize("model", [FreeformAnonymity(2), KConcealment(2), KKAnonymity(2)], ids=str)
@pytest.mark.parametrize("method", ["doka-greedy", "doka-sort-greedy", "doka-hungarian"])
def test_households_that_people_link_get_boxes_too(method, model):
    data = pa.table({"pid": [0, 3, 4, 3, 0], "q": [0, 1, 3, 3, 3], "home": [2, 3, 2, 4, 0]})
    table = shoal.Table.from_arrow(data, {"q": "quasi"}, person="pid", household="home")
    assert shoal.anonymize(table, model, method, seed=0).verify()


def test_minus_zero_beside_an_exponent_is_written(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("pid,q,s\na,1,1.50\nb,1,1e3\nc,1,-0.0\n")
    table = shoal.read(source, roles={"q": "quasi", "s": "sensitive"}, person="pid")
    for name in ("out.csv", "out.parquet"):
        assert shoal.anonymize(table, KAnonymity(2)).write(tmp_path / name).holds
