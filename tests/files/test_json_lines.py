import codecs
import gzip
from datetime import date

import pytest

from shoal.errors import InputError

NAME = "people.jsonl"


def test_strings_of_digits_stay_text_and_numbers_are_numbers(rows):
    read = rows('{"zip": "01234", "code": "5", "age": 31}\n{"zip": "9", "age": 32}\n', NAME)
    assert read == {"zip": ["01234", "9"], "code": ["5", None], "age": [31, 32]}


def test_big_integers_stay_exact(rows):
    read = rows('{"id": 123456789012345678901234567890}\n{"id": 18446744073709551615}\n', NAME)
    assert [int(n) for n in read["id"]] == [123456789012345678901234567890, 2**64 - 1]


def test_a_missing_key_and_null_are_missing_values(rows):
    assert rows('{"a": 1}\n{"b": "x"}\n{"a": null, "b": null}\n', NAME) == {
        "a": [1, None, None],
        "b": [None, "x", None],
    }


def test_columns_come_in_the_order_of_the_first_object(rows):
    assert list(rows('{"z": 1, "a": 2}\n{"c": 1, "b": 2, "a": 3}\n', NAME)) == ["z", "a", "b", "c"]


def test_nested_values_stay_as_written(rows):
    read = rows('{"a": {"x": [1, 2]}, "b": [1]}\n{"a": null, "b": []}\n', NAME)
    assert read == {"a": ['{"x":[1,2]}', None], "b": ["[1]", "[]"]}


def test_booleans_stay_booleans_unless_mixed_with_others(rows):
    assert rows('{"a": true}\n{"a": false}\n{}\n', NAME)["a"] == [True, False, None]
    assert rows('{"a": true}\n{"a": "x"}\n', NAME)["a"] == ["true", "x"]
    assert rows('{"a": 5}\n{"a": "x"}\n', NAME)["a"] == ["5", "x"]


def test_dates_in_strings_are_dates(rows):
    assert rows('{"born": "2024-02-29"}\n', NAME)["born"] == [date(2024, 2, 29)]


def test_names_with_odd_signs_are_names(rows):
    read = rows('{"a/b": 1, "c~d": 2, "e.f": 3, "g\\"h": 4, "$x": 5, "0": 6}\n', NAME)
    assert read == {"a/b": [1], "c~d": [2], "e.f": [3], 'g"h': [4], "$x": [5], "0": [6]}


def test_stated_texts_mean_missing_here_too(rows):
    assert rows('{"a": "NA"}\n{"a": "x"}\n', NAME, missing=("NA",))["a"] == [None, "x"]


def test_carried_text_is_left_alone(rows):
    read = rows('{"a": "2024-01-01", "b": "2024-01-01"}\n', NAME, keep_text={"a"})
    assert read == {"a": ["2024-01-01"], "b": [date(2024, 1, 1)]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_line_ends_and_blank_lines_do_not_matter(rows, end):
    assert rows(end.join(['{"a": 1}', '{"a": 2}', ""]), NAME) == {"a": [1, 2]}


def test_a_mark_other_encodings_and_gzip_are_read(rows):
    text = '{"a": "Zoë"}\n'
    assert rows(codecs.BOM_UTF8 + text.encode(), NAME) == {"a": ["Zoë"]}
    assert rows(gzip.compress(text.encode()), "people.jsonl.gz") == {"a": ["Zoë"]}
    assert rows(text.encode("latin-1"), NAME, encoding="latin-1") == {"a": ["Zoë"]}
    with pytest.warns(UserWarning, match="utf-16"):
        assert rows(text.encode("utf-16"), NAME) == {"a": ["Zoë"]}


@pytest.mark.parametrize("line", ["[1, 2]", "5", '"secret"', "null", '{"a": secret}', '{"a": 1'])
def test_a_line_that_is_no_object_is_refused_by_its_number(rows, line):
    with pytest.raises(InputError) as caught:
        rows(f'{{"a": 1}}\n\n{line}\n{{"a": 2}}\n', NAME)
    assert "people.jsonl: line 3 is not one JSON object" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"a": 1}]', "line 1 is not one JSON object"),
        ('{\n"a": 1\n}\n', "line 1 is not one JSON object"),
        ('{"a": 1} {"a": 2}\n', "line 1 is not one JSON object"),
        ("{}\n{}\n", "no records"),
        ("\n \n", "no records"),
        ('{"": 1}\n', "column 1 has no name"),
        ('{"a": 1, "a": 2}\n', "column 'a' occurs more than once"),
        ('{"a": 1}\n{"A": 2}\n', "two column names differ only in case"),
    ],
)
def test_what_is_wrong_is_said(rows, text, told):
    with pytest.raises(InputError, match=r"people\.jsonl: ") as caught:
        rows(text, NAME)
    assert told in str(caught.value)
