"""What goes into a parcel comes out of it: equal, immutable, at round addresses."""

import tempfile

import numpy as np
import pytest

import shoal
from shoal.comparison.runner import pack, unpack


def handed_over(thing):
    with tempfile.TemporaryFile() as file:
        pack(thing, file)
        return unpack(file.fileno())


@pytest.mark.parametrize("lengths", [(), (0,), (1, 0, 7), (64, 63, 65, 1000)])
def test_arrays_come_out_as_they_went_in(lengths):
    arrays = [np.arange(length, dtype=np.int32) for length in lengths]
    for sent, got in zip(arrays, handed_over(arrays), strict=True):
        np.testing.assert_array_equal(sent, got)
        assert not got.flags.writeable
        assert not len(got) or got.ctypes.data % 64 == 0


def test_a_table_comes_out_as_it_went_in():
    table = shoal.datasets.patients(50, seed=1)
    copy = handed_over(table)
    assert copy.to_arrow().equals(table.to_arrow())
    assert [c.role for c in copy] == [c.role for c in table]
    first = copy[table.quasi[0]]
    assert not first.codes.flags.writeable
    assert first.hierarchy is None or not first.hierarchy.levels[1].groups.flags.writeable
