"""`shoal warm` compiles all kernels, and the note about compilation appears once."""

import json
import sys
from pathlib import Path

import numba
import pytest

from shoal.cli import warm
from shoal.cli import warm as kernel_tour
from shoal.cli.shared import console
from shoal.comparison import runner
from shoal.comparison.runner import Outcome
from shoal.support import compiling


@pytest.fixture
def tasks(monkeypatch):
    """The tasks that were given to other processes, which have compiled two kernels each."""
    given = {}

    def run(tasks, work, **options):
        given.update(tasks)
        assert work is kernel_tour.make_stops
        assert options["processes"] == 2
        for task in tasks.values():
            if task["store"]:
                folder = Path(task["store"])
                folder.mkdir(exist_ok=True)
                (folder / f"{len(list(folder.iterdir()))}.kernel").touch()
        return {name: Outcome({"compiled": 2, "seconds": 1.0, "kept": True}) for name in tasks}

    monkeypatch.setattr(runner, "run_tasks", run)
    monkeypatch.setattr(compiling, "is_first_compilation", lambda: True)
    monkeypatch.setattr(warm, "has_installed_kernels", lambda: False)
    return given


def test_every_stop_is_made_by_one_process(shoal, tasks):
    found = shoal("warm")
    assert (found.status, found.err) == (0, "")
    assert f"{2 * len(tasks)} kernels compiled in " in found.out
    stops = [stop for task in tasks.values() for stop in task["stops"]]
    assert sorted(stops) == sorted(kernel_tour.STOPS)
    assert {task["store"] for task in tasks.values()} == {None}


def test_a_store_is_a_new_folder_and_is_made_for_every_cpu(shoal, tasks, folder, monkeypatch):
    settings = []
    run = runner.run_tasks

    def see(*arguments, **options):
        settings.append({name: warm.os.environ.get(name) for name in warm._ANY_CPU})
        return run(*arguments, **options)

    monkeypatch.setattr(runner, "run_tasks", see)
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx2")
    found = shoal("warm", "--store", "kernels")
    assert (found.status, found.err) == (0, "")
    assert f"{len(tasks)} kernels compiled in " in found.out
    assert "stored in kernels" in found.out
    assert len(list((folder / "kernels").iterdir())) == len(tasks)
    assert settings == [
        {
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CPU_FEATURES": None,
            "NUMBA_DISABLE_INTEL_SVML": "1",
        }
    ]
    assert warm.os.environ["NUMBA_CPU_FEATURES"] == "+avx2"
    assert "NUMBA_CPU_NAME" not in warm.os.environ
    again = shoal("warm", "--store", "kernels")
    assert (again.status, again.out) == (2, "")
    assert "kernels exists" in again.err


def test_there_is_nothing_to_do_where_kernels_are_installed(shoal, tasks, monkeypatch):
    monkeypatch.setattr(warm, "has_installed_kernels", lambda: True)
    found = shoal("warm")
    assert (found.status, found.out) == (0, "Shoal was installed with compiled kernels\n")
    assert json.loads(shoal("warm", "--json").out) == {"compiled": 0, "installed": True}
    assert tasks == {}


def test_a_process_that_fails_is_named(shoal, tasks, monkeypatch, folder):
    def fail(tasks, *_, **__):
        return {name: Outcome(None, "the process was killed by SIGKILL") for name in tasks}

    monkeypatch.setattr(runner, "run_tasks", fail)
    found = shoal("warm", "--store", "kernels")
    assert (found.status, found.out) == (2, "")
    assert "are not compiled: the process was killed by SIGKILL" in found.err
    assert not (folder / "kernels").exists()


def test_a_process_says_what_it_compiled(monkeypatch):
    def stop():
        assert compiling.njit()(lambda value: value + 1)(1) == 2

    monkeypatch.setitem(kernel_tour.STOPS, "one", stop)
    done = kernel_tour.make_stops({"stops": ["one"], "store": None})
    assert done["compiled"] == 1
    assert done["seconds"] > 0


def test_the_note_about_compilation_appears_once_for_all_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.undo()  # the note is real here
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "are_kept", lambda: True)

    def command():
        kernel = compiling.njit()(lambda value: value + 1)
        with console.announce_compilation():
            kernel(1)
            kernel(1.0)
        return capsys.readouterr().err

    assert command().count("note: ") == 1
    assert command() == ""
    monkeypatch.setattr(compiling, "_kernels", lambda: "changed")
    assert "`shoal warm` compiles all of them now" in " ".join(command().split())
    assert command() == ""


def test_installed_kernels_need_no_note(monkeypatch):
    assert "shoal.methods.partition.mondrian" in sys.modules
    monkeypatch.setattr(compiling, "installed_kernels", lambda: compiling.KernelStore(Path(), ""))
    assert console.is_compiled("mondrian")
