"""Bands of ages and amounts, and the order that a schema gives them."""

import math

import pyarrow as pa
import pytest

import shoal
from shoal.files.schema import load_yaml
from shoal.inspection import describe, suggest_schema
from shoal.inspection.schemas import band, order_bands


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("20 to 29 Years", (20, 29)),
        ("[0-10)", (0, 10)),
        ("20-29", (20, 29)),
        ("20\N{EN DASH}29", (20, 29)),
        ("<18", (-math.inf, 18)),
        ("Under 5", (-math.inf, 5)),
        ("Less than $10,000", (-math.inf, 10_000)),
        ("65+", (65, math.inf)),
        ("85 and over", (85, math.inf)),
        ("75 years or older", (75, math.inf)),
        ("$10,000 - $19,999", (10_000, 19_999)),
        ("10-20k", (10_000, 20_000)),
        (">50K", (50_000, math.inf)),
        ("(20, 30]", (20, 30)),
        ("7", (7, 7)),
        ("red", None),
        ("12345-6789", None),  # a code: the second number is the smaller
        ("2016-04", None),
        ("2016-04-29", None),
        ("", None),
    ],
)
def test_a_band_has_two_ends(text, ends):
    assert band(text) == ends


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        (["65+", "<18", "18-64"], ["<18", "18-64", "65+"]),
        (["100-199", "20-99", "5-19"], ["5-19", "20-99", "100-199"]),  # not as text is sorted
        (["3+", "0", "2", "1"], ["0", "1", "2", "3+"]),
        (["0-10", "10-20"], ["0-10", "10-20"]),
        (["0-10", "5-20"], None),
        (["1", "2"], None),  # numbers
        (["20-29", "old"], None),
        (["20-29"], None),
    ],
)
def test_bands_that_do_not_overlap_have_an_order(labels, ordered):
    assert order_bands(labels) == ordered


def test_the_schema_lists_bands_in_order_and_ranges_follow_it():
    bands = ["Under 5", "5 to 19 Years", "20 to 99 Years", "100 Years and over"]
    data = pa.table({"age": [*reversed(bands), "?"] * 6})
    found = describe(data)
    column = load_yaml(suggest_schema(found))["columns"]["age"]
    assert (column["kind"], column["values"], column["missing"]) == ("ordinal", bands, ["?"])
    table = shoal.read(data, {"columns": {"age": column}})
    assert table["age"].labels == (*bands, None)
    release = shoal.anonymize(table, shoal.KAnonymity(6), "flash")
    assert release.verify().holds
    ranged = shoal.read(pa.table({"age": bands * 6}), {"columns": {"age": column}})
    published = shoal.anonymize(ranged, shoal.KAnonymity(12), "mondrian").to_arrow()["age"]
    assert set(published.to_pylist()) == {f"[{bands[0]}, {bands[1]}]", f"[{bands[2]}, {bands[3]}]"}


def test_the_screen_shows_no_bands():
    found = describe(pa.table({"age": ["0-9", "10-19", "20-29", "30+"] * 6}))
    shown = suggest_schema(found, list_values=False)
    assert "0-9" not in shown
    assert load_yaml(shown)["columns"]["age"] == {"role": "quasi", "type": "category"}
    assert "# kind: ordinal; values: [?]" in shown
