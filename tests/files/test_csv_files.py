import pytest

from shoal.errors import InputError


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_out(rows, sign):
    assert rows(f"age{sign}zip\n31{sign}x\n32{sign}y\n") == {"age": [31, 32], "zip": ["x", "y"]}


@pytest.mark.parametrize("quote", ['"', "'"])
def test_quoted_fields_may_hold_the_delimiter_in_the_header_and_below(rows, quote):
    text = "~job, town~,~age~\n~baker, Oslo~,3\n~smith, Rome~,4\n".replace("~", quote)
    assert rows(text) == {"job, town": ["baker, Oslo", "smith, Rome"], "age": [3, 4]}


def test_single_quotes_are_found_where_only_the_rows_have_them(rows):
    assert rows("job,age\n'baker, Oslo',3\n") == {"job": ["baker, Oslo"], "age": [3]}


def test_an_apostrophe_is_no_quote(rows):
    assert rows("name,age\nO'Hara,3\nd'Arc,4\n")["name"] == ["O'Hara", "d'Arc"]
    assert rows("name,age\n'tHooft,3\nAnn,4\n")["name"] == ["'tHooft", "Ann"]


def test_a_doubled_quote_is_one(rows):
    assert rows('name,age\n"the ""old"" one",3\n')["name"] == ['the "old" one']


def test_a_quoted_field_may_hold_a_line_break(rows):
    assert rows('name,age\n"two\nlines",3\nx,4\n')["name"] == ["two\nlines", "x"]


def test_a_header_of_other_delimiters_in_quotes_does_not_mislead(rows):
    assert list(rows('"a;b;c","d"\n1,2\n')) == ["a;b;c", "d"]


def test_decimal_commas_do_not_mislead_in_a_semicolon_file(rows):
    assert rows("height;weight\n1,80;72,5\n1,65;60\n") == {
        "height": ["1,80", "1,65"],
        "weight": ["72,5", "60"],
    }


def test_a_single_column_needs_no_delimiter(rows):
    assert rows("town\nOslo\nRome\n") == {"town": ["Oslo", "Rome"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(rows, end):
    assert rows(end.join(["a,b", "1,x", "2,y", ""])) == {"a": [1, 2], "b": ["x", "y"]}


def test_line_ends_may_be_mixed(rows):
    assert rows("a,b\r\n1,x\n2,y\r3,z") == {"a": [1, 2, 3], "b": ["x", "y", "z"]}


def test_the_last_line_may_lack_its_end(rows):
    assert rows("a,b\n1,x") == {"a": [1], "b": ["x"]}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_are_no_rows_wherever_they_stand(rows, end):
    text = end.join(["", "", "a,b", "1,x", "", "2,y", "", ""])
    assert rows(text) == {"a": [1, 2], "b": ["x", "y"]}


def test_an_empty_line_of_a_single_column_is_a_missing_value(rows):
    assert rows("town\nOslo\n\nRome\n") == {"town": ["Oslo", None, "Rome"]}


def test_empty_fields_are_missing_quoted_or_not(rows):
    assert rows('a,b\n"",x\n,\n3,z\n') == {"a": [None, None, 3], "b": ["x", None, "z"]}


def test_texts_that_mean_missing_are_taken_out_before_types_are_inferred(rows):
    read = rows("a,b\n?,x\n3,NA\n-9,y\n", missing=("?", "NA", -9))
    assert read == {"a": [None, 3, None], "b": ["x", None, "y"]}


@pytest.mark.parametrize("text", [",", 'a"b', "a\nb"])
def test_a_text_that_no_field_can_hold_cannot_mean_missing(rows, text):
    with pytest.raises(InputError, match="must not contain the delimiter"):
        rows("a,b\n1,2\n", missing=(text,))


@pytest.mark.parametrize("missing", ["NA", [True], 5, {"a": 1}])
def test_missing_is_a_list_of_texts(rows, missing):
    with pytest.raises(InputError, match="missing must be a list"):
        rows("a,b\n1,2\n", missing=missing)


def test_what_is_stated_wins(rows):
    assert rows("a,b;c\n1,2;3\n") == {"a": [1], "b;c": ["2;3"]}
    assert rows("a,b;c\n1,2;3\n", delimiter=";") == {"a,b": ["1,2"], "c": [3]}
    assert rows("'a',b\n'1',2\n", quote='"') == {"'a'": ["'1'"], "b": [2]}
    assert rows('a,b\n"1,2\n', quote="") == {"a": ['"1'], "b": [2]}
    assert rows("a\tb\n1\t2\n", delimiter=r"\t") == {"a": [1], "b": [2]}


def test_spaces_around_names_and_cells_stay_unless_they_are_trimmed(rows):
    text = 'age, job\n31, a baker \n 32, ? \n33,   \n34, "x, y"\n'
    assert rows(text)[" job"][0] == " a baker "
    assert rows(text, trim=False) == rows(text)
    found = rows(text, trim=True, missing=("?",))
    assert found == {"age": [31, 32, 33, 34], "job": ["a baker", None, None, "x, y"]}


def test_other_blank_characters_are_not_trimmed(rows):
    assert rows("a;b\n\tx ;\u00a0y\n", trim=True) == {"a": ["x"], "b": ["\u00a0y"]}


def test_a_first_line_that_looks_like_data_does_so_with_spaces_too(rows):
    with pytest.raises(InputError, match="the first row looks like data"):
        rows("Oslo , 31\n Oslo, 32\n Rome, 33\n", trim=True)


def test_trim_is_true_or_false(rows):
    with pytest.raises(InputError, match="trim must be true or false"):
        rows("a,b\n1,2\n", trim="both")


def test_a_file_without_a_header_takes_stated_names(rows):
    assert rows("1,x\n2,y\n", names=("a", "b")) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("option", "sign"),
    [
        *(("delimiter", sign) for sign in ("", ",,", "\n", "\0", "é", 5)),
        *(("quote", sign) for sign in ('""', "\r", 1)),
    ],
)
def test_delimiter_and_quote_are_single_plain_characters(rows, option, sign):
    with pytest.raises(InputError, match=f"{option} must be a single plain character"):
        rows("a,b\n1,2\n", **{option: sign})


def test_delimiter_and_quote_differ(rows):
    with pytest.raises(InputError, match="must not be the same"):
        rows("a,b\n1,2\n", delimiter="'", quote="'")
    assert rows("a'b\n1'2\n", delimiter="'") == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n3,secret,5\n", "line 3 has 3 fields but the header has 2"),
        ("a,b\n1,2\nsecret\n", "line 3 has 1 fields but the header has 2"),
        ('a,b\n1,"secret\n3,4\n', "line 2 opens a quote that is not closed"),
        ('a,b\n1,"secret"x\n3,4\n', "line 2 opens a quote that is not closed"),
        ("a,A\nsecret,2\n", "two column names differ only in case"),
        ("a,\nsecret,2\n", "column 2 has no name"),
        ("a,b,\nsecret,2,\n", "every line ends in ','"),
        ("a,b\n", "has a header but no rows"),
        ("\n\n", "the file is empty"),
        ("", "the file is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_without_its_text(rows, text, told):
    with pytest.raises(InputError) as caught:
        rows(text)
    assert told in str(caught.value)
    assert "people.csv: " in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_long_header_is_read_whole(rows):
    names = [f"a_rather_long_name_of_a_column_{i}" for i in range(12_000)]
    read = rows(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    assert list(read) == names
