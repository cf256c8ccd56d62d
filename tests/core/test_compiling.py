"""Kernels are compiled no oftener than needed; what is stored badly is compiled anew."""

import os
import pickle
import runpy

import numba
import numpy as np
import pytest

from shoal.core import compiling

KERNEL = """
from {home} import njit

@njit(cache=True)
def twice(value):
    return 2 * value

result = twice(21), sum(twice.stats.cache_misses.values())
"""
GONE = b"cshoal.module_that_moved\nPoints\n."  # a pickle of a class that is no more


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))

    def run(home="shoal.core.compiling"):
        """Load the kernel from its file, as a new process does; returns what it says, compiled."""
        (tmp_path / "kernel.py").write_text(KERNEL.format(home=home))
        os.utime(tmp_path / "kernel.py", (1, 1))  # the same source to numba, run after run
        return runpy.run_path(str(tmp_path / "kernel.py"))["result"]

    return run


def stored(folder, ending):
    [path] = (folder / "kernels").rglob(f"*.{ending}")
    return path


def test_a_kernel_is_compiled_once(run):
    assert run() == (42, 1)
    assert run() == (42, 0)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_what_cannot_be_read_is_compiled_anew(run, tmp_path, ending):
    run()
    path = stored(tmp_path, ending)
    head = b""
    if ending == "nbi":  # the version stands before the index
        with path.open("rb") as file:
            head = pickle.dumps(pickle.load(file))
    path.write_bytes(head + GONE)
    assert run() == (42, 1)
    assert run() == (42, 0)


def test_numba_by_itself_would_fail(run, tmp_path):
    assert run("numba") == (42, 1)
    stored(tmp_path, "nbi").write_bytes(pickle.dumps(numba.__version__) + GONE)
    with pytest.raises(ModuleNotFoundError):
        run("numba")


def test_kernels_of_another_version_are_compiled_anew(run, monkeypatch):
    assert run() == (42, 1)
    monkeypatch.setattr(compiling, "__version__", "another")
    assert run() == (42, 1)
    assert run() == (42, 0)


@compiling.njit(error_model="numpy")
def less_one(value):
    return value - 1


@compiling.njit(error_model="numpy")
def add_up(places, words, shares):
    constants = less_one(7) + less_one(value=-3)
    return constants + less_one(places[0]), less_one(words[0]), less_one(shares[0])


def test_a_kernel_called_by_another_is_compiled_once_for_all_signed_numbers():
    for dtype in (np.int8, np.int32, np.int64):
        found = add_up(np.array([4], dtype), np.array([2**63], np.uint64), np.array([0.5]))
        assert found == (6 - 4 + 3, 2**63 - 1, -0.5)
    taken = {arguments for (arguments,) in less_one.signatures}
    assert taken == {numba.int64, numba.uint64, numba.float64}


def test_a_changed_kernel_file_makes_every_store_stale(run, monkeypatch):
    assert run() == (42, 1)
    monkeypatch.setattr(compiling, "_kernels", lambda: "another digest")
    assert run() == (42, 1)
    assert run() == (42, 0)
