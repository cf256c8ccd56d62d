"""Kernels are compiled as rarely as possible; where none can be stored, they still run."""

import errno
import os
import pickle
import runpy
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest

from shoal._compat.numba import _Files as KernelFiles
from shoal.support import compiling

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

    def run(home="shoal.support.compiling", source=KERNEL):
        """Load the kernel from its file, as a new process does; returns what it says, compiled."""
        (tmp_path / "kernel.py").write_text(source.format(home=home))
        os.utime(tmp_path / "kernel.py", (1, 1))  # the same source to numba, run after run
        return runpy.run_path(str(tmp_path / "kernel.py"))["result"]

    compiling._warn_once.cache_clear()
    monkeypatch.setattr(compiling, "_read_only", set())
    yield run
    compiling._warn_once.cache_clear()


def stored(folder, ending):
    [path] = (folder / "kernels").rglob(f"*.{ending}")
    return path


def test_a_kernel_is_compiled_once(run):
    assert run() == (42, 1)
    assert run() == (42, 0)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_what_cannot_be_read_is_compiled_again(run, tmp_path, ending):
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


def test_kernels_of_another_version_are_compiled_again(run, monkeypatch):
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
    compilations = []
    for dtype in (np.int8, np.int32, np.int64):
        with compiling.listen_to_compilation(lambda: compilations.append(1)):
            found = add_up(np.array([4], dtype), np.array([2**63], np.uint64), np.array([0.5]))
        assert found == (6 - 4 + 3, 2**63 - 1, -0.5)
    assert len(compilations) == 3 + 3  # the caller by dtype; the other for int64, uint64, float64


def test_a_changed_kernel_file_makes_every_store_stale(run, monkeypatch):
    assert run() == (42, 1)
    monkeypatch.setattr(compiling, "_kernels", lambda: "another digest")
    assert run() == (42, 1)
    assert run() == (42, 0)


TWO_KERNELS = KERNEL.replace(
    "result = ", "thrice = njit(cache=True)(lambda value: 3 * value)\nresult = "
)


def refuse(number):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


def test_kernels_run_where_no_folder_can_be_written_to(run, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.core.caching.tempfile, "TemporaryFile", refuse(errno.EROFS))
    with pytest.warns(compiling.KernelsNotKept, match="set NUMBA_CACHE_DIR") as caught:
        assert run(source=TWO_KERNELS) == (42, 1)
    assert len(caught) == 1  # for two kernels
    assert not compiling.are_kept()
    assert list(tmp_path.rglob("*.nb?")) == []


@pytest.mark.parametrize("beside", [True, False])
def test_kernels_that_are_stored_are_loaded_from_a_folder_that_is_read_only(
    run, tmp_path, monkeypatch, beside
):
    if beside:
        monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert run() == (42, 1)
    monkeypatch.setattr(numba.core.caching.tempfile, "TemporaryFile", refuse(errno.EROFS))
    assert run() == (42, 0)
    assert len(list((tmp_path / ("__pycache__" if beside else "kernels")).rglob("*.nbc"))) == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("step", ["_save_data", "_save_index"])
def test_kernels_run_where_the_disk_is_full(run, monkeypatch, number, step):
    with monkeypatch.context() as patched:
        patched.setattr(KernelFiles, step, refuse(number))
        with pytest.warns(compiling.KernelsNotKept):
            assert run() == (42, 1)
    assert run() == (42, 1)
    assert run() == (42, 0)


def test_kernels_run_where_their_folder_is_removed_meanwhile(run, tmp_path, monkeypatch):
    load = KernelFiles.load

    def remove_first(files, key):
        shutil.rmtree(tmp_path / "kernels")
        return load(files, key)

    with monkeypatch.context() as patched:
        patched.setattr(KernelFiles, "load", remove_first)
        assert run() == (42, 1)  # numba makes the folder again
    assert run() == (42, 0)


@pytest.mark.parametrize("damage", [b"", b"\x80", b"not a pickle", GONE])
def test_a_damaged_index_counts_as_empty(run, tmp_path, damage):
    run()
    stored(tmp_path, "nbi").write_bytes(damage)
    assert run() == (42, 1)
    assert run() == (42, 0)


def test_a_save_that_fails_halfway_never_revives_older_code(run, tmp_path, monkeypatch):
    """The index must not name the file of another source, which would be run in its place."""
    run(source=KERNEL.replace("2 * value", "77 * value"))
    with monkeypatch.context() as patched:
        patched.setattr(KernelFiles, "_save_data", refuse(errno.ENOSPC))
        with pytest.warns(compiling.KernelsNotKept):
            assert run() == (42, 1)
    assert run() == (42, 1)
    stored(tmp_path, "nbc")  # one file: that of the older source is removed


def test_no_folder_is_made_in_place_of_an_unknown_home(run, tmp_path, monkeypatch):
    """Without a home folder, numba by itself makes one named ~ in the current folder."""

    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.setenv("HOME", "~")
    (tmp_path / "__pycache__").touch()  # no folder beside the source either
    with pytest.warns(compiling.KernelsNotKept):
        assert run() == (42, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["__pycache__", "kernel.py"]


def test_a_kernel_that_is_not_to_be_kept_needs_no_folder(run, monkeypatch):
    monkeypatch.setattr(numba.core.caching.tempfile, "TemporaryFile", refuse(errno.EROFS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(source=KERNEL.replace("cache=True", "cache=False")) == (42, 1)
    assert compiling.are_kept()


def test_kernels_run_without_compiling(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    wrapped = compiling.njit(cache=True)(lambda value: value * np.uint64(3))
    assert wrapped(np.uint64(2**63)) == 2**63  # modulo 2^64, without a warning
    assert compiling.intrinsic(len)(None) is len


def test_bits_are_found_alike_without_compiling():
    from shoal.methods.partition import _cuts

    @compiling.njit()
    def both(word):
        return _cuts.lowest_bit(word), _cuts.zeros_above(word)

    for word in (1, 12, 2**63, 2**64 - 1):
        plain = _cuts.count_lowest(word), _cuts.count_above(word)
        assert both(np.uint64(word)) == plain


def test_an_environment_that_numba_refuses_is_named():
    run = subprocess.run(
        [sys.executable, "-c", "import shoal.support.compiling"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_NUM_THREADS": "0"},
    )
    last = run.stderr.splitlines()[-1]
    assert last.startswith("shoal.errors.InputError: numba does not load")
    assert last.endswith("NUMBA_NUM_THREADS")
