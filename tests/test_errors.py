"""Errors are also the built-in kind that people catch."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal import errors

TABLE = shoal.Table.from_arrow(pa.table({"age": [1, 2]}), {"age": "quasi"})


def test_a_wrong_option_is_a_value_error():
    with pytest.raises(ValueError, match="k must be"):
        shoal.KAnonymity(0)


def test_an_unknown_column_is_a_key_error_with_a_plain_message():
    with pytest.raises(KeyError) as caught:
        _ = TABLE["sex"]
    assert isinstance(caught.value, shoal.InputError)
    assert str(caught.value) == "no column 'sex' with a role; there are age"


def test_an_unwritable_file_is_an_os_error(tmp_path):
    release = shoal.anonymize(TABLE, k=2)
    with pytest.raises(OSError, match="its folder does not exist"):
        release.write(tmp_path / "none" / "x.csv")


def test_a_missing_extra_is_an_import_error():
    with pytest.raises(ImportError, match="shoal-privacy"):
        raise shoal.MissingExtra("torch", "robust")


def test_all_of_them_are_ours():
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    assert len(kinds) > 8
    assert all(issubclass(kind, shoal.ShoalError) for kind in kinds)
