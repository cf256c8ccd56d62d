"""What `shoal.dp` offers is there, and loads nothing heavy before it is used."""

import subprocess
import sys

import pytest

from shoal import dp


@pytest.mark.parametrize("name", dp.__all__)
def test_every_name_is_found(name):
    assert getattr(dp, name).__name__ == name
    assert name in dir(dp)


def test_a_name_that_is_not_there_is_said_so():
    with pytest.raises(AttributeError, match=r"'shoal\.dp' has no attribute 'nothing'"):
        _ = dp.nothing


def test_the_arithmetic_needs_no_heavy_library():
    program = (
        "import sys, shoal.dp; shoal.dp.DPUnderSampling.of(75, 0.7, 0.1);"
        "print([n for n in ('numba', 'scipy', 'sklearn', 'opendp', 'duckdb') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert shown.stdout.decode().strip() == "[]"
