"""The clock of work stands still while kernels are compiled."""

import time

import pytest

import shoal
from shoal.support import compiling, progress
from shoal.support.progress import working_time


def test_the_time_of_a_compilation_is_left_out(monkeypatch):
    monkeypatch.setattr(progress, "_left_out", 0.0)
    progress.leave_out(100.0)
    assert working_time() == pytest.approx(time.perf_counter() - 100.0, abs=1.0)


def test_every_compilation_is_timed_once_with_its_parts(monkeypatch):
    left_out = []
    monkeypatch.setattr(progress, "_left_out", 0.0)
    inner = compiling.njit()(lambda value: value + 1)
    outer = compiling.njit()(lambda value: inner(value) + 1)
    compiling.time_compilation(left_out.append)
    assert outer(1) == 3
    assert outer(2) == 4
    assert len(left_out) == 1
    assert progress._left_out == pytest.approx(left_out[0], rel=0.5)


def test_the_times_of_a_run_do_not_include_compilation(monkeypatch):
    """A search whose compilation takes a minute."""
    search, now = shoal.Mondrian.search, time.perf_counter

    def compile_first(method, table, model):
        monkeypatch.setattr(progress.time, "perf_counter", lambda: now() + 60.0)
        progress.leave_out(60.0)
        return search(method, table, model)

    monkeypatch.setattr(progress, "_left_out", 0.0)
    monkeypatch.setattr(shoal.Mondrian, "search", compile_first)
    release = shoal.anonymize(shoal.datasets.load("health-record"), k=2, method="mondrian")
    assert 0 <= release.run.seconds["search"] < 60
