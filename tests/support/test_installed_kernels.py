"""Kernels that a wheel contains are used if they fit; anything else is compiled as without them."""

import errno
import os
import runpy
import shutil

import numba
import pytest

from shoal.support import compiling

KERNEL = """
from shoal.support.compiling import njit

@njit(cache=True)
def half(value):
    if value < 0:
        raise ValueError("negative")
    return value // 2

@njit(cache=True)
def twice(value):
    return half(4 * value)

result = twice(21), sum(twice.stats.cache_misses.values())
"""


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Return a function that runs the kernel as a new process does, and the folder of its code."""
    folder = tmp_path / "store"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(compiling, "_SOURCE", tmp_path / "shoal")
    monkeypatch.setattr(compiling, "_INSTALLED", folder)
    monkeypatch.setattr(compiling, "_kernels", lambda: "digest")
    monkeypatch.setattr(compiling, "_read_only", set())
    source = tmp_path / "shoal" / "kernel.py"
    source.parent.mkdir()
    source.write_text(KERNEL)

    def run():
        for cached in (compiling.installed_kernels, compiling._portable_stamp):
            cached.cache_clear()
        return runpy.run_path(str(source))["result"]

    with monkeypatch.context() as patched:
        patched.setattr(compiling, "_collecting", [folder])
        assert run() == (42, 1)
    compiling._warn_once.cache_clear()
    yield run, folder
    for cached in (
        compiling.installed_kernels, compiling._portable_stamp, compiling._warn_once,
    ):  # fmt: skip
        cached.cache_clear()


def kernel_of(folder):
    (path,) = folder.glob("*.kernel")
    return path


def test_an_installed_kernel_is_not_compiled_and_not_copied(store, tmp_path):
    run, folder = store
    assert kernel_of(folder).is_file()
    assert run() == (42, 0)
    assert list(tmp_path.rglob("*.nbc")) == []


def test_a_kernel_in_the_cache_of_the_user_comes_first(store, tmp_path):
    run, folder = store
    moved = shutil.move(folder, tmp_path / "elsewhere")
    assert run() == (42, 1)
    shutil.move(moved, folder)
    kernel_of(folder).write_bytes(b"")
    assert run() == (42, 0)


def test_an_installed_kernel_contains_no_path(store, tmp_path):
    content = kernel_of(store[1]).read_bytes()
    assert b"shoal/kernel.py" in content  # where the error is raised
    assert os.fsencode(tmp_path) not in content
    assert b"half" in content


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:40],
        lambda content: content.replace(b"kernel", b"kernal"),
        lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
    ],
    ids=["empty", "shorter", "head", "text", "bit"],
)
def test_a_damaged_kernel_is_compiled(store, damage):
    run, folder = store
    path = kernel_of(folder)
    path.write_bytes(damage(path.read_bytes()))
    assert run() == (42, 1)
    assert run() == (42, 0)  # from the cache of the user


def test_a_kernel_of_another_name_or_signature_is_not_taken(store):
    """Even a file with a right checksum is used only for the kernel that it was stored for."""
    run, folder = store
    store_of = compiling.KernelStore(folder, compiling._portable_stamp())
    path = kernel_of(folder)

    def other(value):
        return value

    wrong = store_of._path(f"{__name__}.{other.__qualname__}", (numba.int64,))
    path.rename(wrong)
    assert store_of.load(other, (numba.int64,), None) is None
    assert run() == (42, 1)


@pytest.mark.parametrize("part", ["_kernels", "version", "platform", "sys"])
def test_kernels_of_other_sources_versions_or_platforms_are_not_taken(store, monkeypatch, part):
    run, _ = store
    if part == "_kernels":
        monkeypatch.setattr(compiling, "_kernels", lambda: "another digest")
    elif part == "version":
        monkeypatch.setattr(compiling, "VERSIONS", "others")
    elif part == "platform":
        monkeypatch.setattr(compiling.platform, "machine", lambda: "another")
    else:
        monkeypatch.setattr(compiling.sysconfig, "get_config_var", lambda name: "another")
    assert run() == (42, 1)


def test_kernels_with_checks_of_bounds_are_compiled(store, monkeypatch):
    run, _ = store
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert run() == (42, 1)


def test_no_warning_is_needed_where_all_kernels_are_installed(store, monkeypatch):
    run, folder = store

    def refuse(*_, **__):
        raise OSError(errno.EROFS, "read-only")

    monkeypatch.setattr(numba.core.caching.tempfile, "TemporaryFile", refuse)
    assert run() == (42, 0)  # warnings are errors
    assert not compiling.are_kept()  # what is not installed would be compiled in every run
    kernel_of(folder).unlink()
    with pytest.warns(compiling.KernelsNotKept):
        assert run() == (42, 1)


def test_kernels_for_one_cpu_are_not_collected(tmp_path):
    with pytest.raises(RuntimeError, match="NUMBA_CPU_NAME=generic"):
        compiling.collect_kernels(tmp_path)
    assert compiling._collecting == []
