"""Files one can check by hand, written into the test's own folder."""

import warnings
from pathlib import Path

import pytest

from shoal.files.formats import Format
from shoal.files.reading import read_arrow


@pytest.fixture
def rows(write):
    def read(content, name="people.csv", keep_text=None, **stated):
        """Return the file's cells, column by column."""
        path = content if isinstance(content, Path) else write(content, name)
        return read_arrow(path, Format(**stated), keep_text).to_pydict()

    return read


@pytest.fixture
def quietly():
    """The same without the notes, which other tests are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
