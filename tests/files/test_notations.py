"""Numbers with a comma, dates in another order: read where stated, and only where all are so."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal.errors import InputError
from shoal.files.formats import Format, Notation, typed
from shoal.files.reading import read_arrow


def read_as(texts, **stated):
    return typed(pa.array(texts), notation=Notation(**stated)).to_pylist()


@pytest.mark.parametrize(
    ("texts", "stated", "values"),
    [
        (["1,50", "-2,25"], {"decimal": ","}, [Decimal("1.50"), Decimal("-2.25")]),
        (["1.234,50", "7,00"], {"decimal": ","}, [Decimal("1234.50"), Decimal("7.00")]),
        (["1 234,5", "7,0"], {"decimal": ","}, [Decimal("1234.5"), Decimal("7.0")]),
        (["1,234.50", "7.00"], {"decimal": "."}, [Decimal("1234.50"), Decimal("7.00")]),
        (["1.234", "900"], {"decimal": ","}, [1234, 900]),  # thousands apart, no places
        (["9.3.2024"], {"dates": "DD.MM.YYYY"}, [date(2024, 3, 9)]),
        (["03/09/2024", None], {"dates": "MM/DD/YYYY"}, [date(2024, 3, 9), None]),
        (
            ["09.03.2024 7:05", "10.03.2024"],
            {"dates": "DD.MM.YYYY"},
            [datetime(2024, 3, 9, 7, 5), datetime(2024, 3, 10)],
        ),
    ],
)  # fmt: skip
def test_what_is_written_as_stated_is_read_so(texts, stated, values):
    assert read_as(texts, **stated) == values


@pytest.mark.parametrize(
    ("texts", "stated"),
    [
        (["1,50", "k.A."], {"decimal": ","}),  # one that is none
        (["1.50", "2,50"], {"decimal": ","}),  # 1.50 has no thousands
        (["12.34,5", "7,0"], {"decimal": ","}),  # thousands of two digits
        (["007,5", "7,0"], {"decimal": ","}),  # a code
        (["31.02.2024", "01.02.2024"], {"dates": "DD.MM.YYYY"}),  # a day that no calendar has
        (["13.12.24", "01.02.24"], {"dates": "DD.MM.YYYY"}),  # of which century
    ],
)
def test_other_texts_stay_as_they_are(texts, stated):
    assert read_as(texts, **stated) == texts


def test_nothing_is_taken_for_a_number_that_was_not_stated():
    assert read_as(["1,50", "2,50"]) == ["1,50", "2,50"]
    assert read_as(["01.02.2024"]) == ["01.02.2024"]


def test_the_plain_notation_is_read_besides_a_stated_date():
    assert read_as(["2024-03-09"], dates="DD.MM.YYYY") == [date(2024, 3, 9)]


@examples(40)
@given(st.lists(st.dates(date(1000, 1, 1)), min_size=1, max_size=9), st.sampled_from("./-"))
def test_days_come_back_in_every_order(days, sign):
    for order in ("DD MM YYYY", "MM DD YYYY", "YYYY MM DD"):
        parts = order.split()
        texts = [
            sign.join(
                {"DD": f"{d.day:02}", "MM": f"{d.month:02}", "YYYY": f"{d.year:04}"}[part]
                for part in parts
            )
            for d in days
        ]
        assert read_as(texts, dates=sign.join(parts)) == days


@examples(40)
@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=9))
def test_amounts_come_back_with_their_places(cents):
    amounts = [Decimal(c) / 100 for c in cents]
    german = [f"{a:,.2f}".translate(str.maketrans(",.", ".,")) for a in amounts]
    assert read_as(german, decimal=",") == amounts


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ({"decimal": ";"}, "decimal must be a comma or a point"),
        ({"dates": "DD.MM.YY"}, "dates must be a format such as DD.MM.YYYY"),
        ({"dates": "DD.DD.YYYY"}, "dates must be a format such as"),
        ({"dates": 5}, "dates must be a format such as"),
    ],
)
def test_what_is_no_notation_is_refused(stated, told):
    with pytest.raises(shoal.InputError, match=told):
        Format(**stated)


def test_a_schema_tells_it_of_its_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("born;paid;note\n01.02.1990;1.234,50;1,5\n03.04.1991;7,00;2,5\n")
    schema = {
        "file": {"decimal": ",", "dates": "DD.MM.YYYY"},
        "columns": {"born": "quasi", "paid": "sensitive", "note": "insensitive"},
    }
    table = shoal.read(path, schema)
    assert table["born"].values.to_pylist() == [date(1990, 2, 1), date(1991, 4, 3)]
    assert table["paid"].values.to_pylist() == [Decimal("7.00"), Decimal("1234.50")]
    assert table.to_arrow().column("note").to_pylist() == ["1,5", "2,5"]  # carried: left alone
    assert shoal.read(path, schema, decimal=".")["paid"].values.to_pylist() == ["1.234,50", "7,00"]


def test_numbers_of_json_are_plain_whatever_is_stated(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": 1.234, "on": "01.02.1990"}\n{"x": 2.345, "on": "02.02.1990"}\n')
    found = read_arrow(path, Format(decimal=",", dates="DD.MM.YYYY"))
    assert found.column("x").to_pylist() == [Decimal("1.234"), Decimal("2.345")]
    assert found.column("on")[1].as_py() - found.column("on")[0].as_py() == timedelta(days=1)


def test_a_notation_of_dates_that_no_column_is_written_in_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("born,town\n31.12.1950,Bonn\n1.2.1960,Lyon\n")
    roles = {"born": "quasi", "town": "quasi"}
    told = r"dates: no column is written as MM/DD/YYYY in all rows \(checked born, town\)"
    with pytest.raises(InputError, match=told) as caught:
        shoal.read(path, roles=roles, dates="MM/DD/YYYY")
    assert "1950" not in str(caught.value)
    assert shoal.read(path, roles=roles, dates="DD.MM.YYYY")["born"].kind == "numeric"
    path.write_text("born,town\n31.12.1950,Bonn\nsoon,Lyon\n")
    with pytest.raises(InputError, match=r"written as DD\.MM\.YYYY in all rows"):
        shoal.read(path, roles=roles, dates="DD.MM.YYYY")
    read = shoal.read(path, roles=roles, dates="DD.MM.YYYY", missing=["soon"])
    assert read["born"].kind == "numeric"


def test_dates_as_stated_are_found_in_carried_columns_and_in_json_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("born,age\n31.12.1950,1\n")
    roles = {"born": "insensitive", "age": "quasi"}
    assert len(shoal.read(path, roles=roles, dates="DD.MM.YYYY")) == 1
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"born": "31.12.1950"}\n')
    assert len(shoal.read(lines, roles={"born": "quasi"}, dates="DD.MM.YYYY")) == 1
    with pytest.raises(InputError, match="no column is written as DD/MM/YYYY"):
        shoal.read(lines, roles={"born": "quasi"}, dates="DD/MM/YYYY")
