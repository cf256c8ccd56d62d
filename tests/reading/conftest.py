"""Files one can check by hand, written into the test's own folder."""

import warnings
from pathlib import Path

import pytest

from shoal.reading import Format, read_arrow


@pytest.fixture
def write(tmp_path):
    def make(content, name="people.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


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
