"""No number crashes a method, and every kernel stays inside its arrays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.examples import is_deep
from tests.odd_numbers import ODD, models_of, release_safely

import shoal

# the tables whose positions once reached the kernels as no numbers at all, or as equal ones
QUICKLY = ["a range that overflows", "the greatest int64"]


@pytest.mark.parametrize("method", shoal.METHODS)
def test_every_method_releases_odd_numbers_safely(method, tmp_path):
    for name, table in ODD.items():
        models = models_of(method) if is_deep() or name in QUICKLY else models_of(method)[:1]
        assert release_safely(method, table, models, tmp_path) == len(models)


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinite_numbers_are_refused_without_showing_them(value):
    with pytest.raises(shoal.InputError, match="'a': 1 distinct value is infinite; fix"):
        shoal.Column.encode("a", [1.0, value])


def checked(tables, **environment):
    """Run the methods in a process of its own; return its status and what it says."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.odd_numbers", *tables],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )
    return run.returncode, run.stderr


@pytest.mark.slow
def test_no_kernel_leaves_its_arrays():
    # interpreted kernels check every index, and start sooner than compiled ones with checks
    assert checked(QUICKLY, NUMBA_DISABLE_JIT="1") == (0, "")


@pytest.mark.slow
@pytest.mark.skipif(not is_deep(), reason="compiles all kernels again")
def test_no_compiled_kernel_leaves_its_arrays(tmp_path):
    own = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert checked(list(ODD), **own) == (0, "")
