import pandas as pd
import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.table.frames import check_unique, from_frame, to_pandas


def test_an_arrow_table_is_itself():
    table = pa.table({"a": [1]})
    assert from_frame(table) is table


def test_only_an_index_with_a_name_is_a_column():
    frame = pd.DataFrame({"__index_level_of_pain": [1, 2]}, index=[7, 7])
    assert from_frame(frame).column_names == ["__index_level_of_pain"]
    frame.index.name = "town"
    assert from_frame(frame).column_names == ["__index_level_of_pain", "town"]


def test_a_column_of_mixed_types_is_named():
    with pytest.raises(InputError, match="column 'odd': mixes types") as caught:
        from_frame(pd.DataFrame({"age": [1, 2], "odd": [1, "secret"]}))
    assert "secret" not in str(caught.value)


def test_names_must_differ():
    with pytest.raises(InputError, match="column 'a' occurs more than once"):
        check_unique(["b", "a", "c", "a"])


def test_what_pandas_cannot_hold_is_refused_without_being_quoted():
    with pytest.raises(InputError, match="values that pandas cannot represent") as caught:
        to_pandas(pa.table({"a": pa.array([987], pa.time64("ns"))}))
    assert "987" not in str(caught.value)
    assert caught.value.__suppress_context__
