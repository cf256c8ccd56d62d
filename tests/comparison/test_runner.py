"""Tasks run in processes of their own; whatever one does, the others go on."""

import os
import select
import subprocess
import sys

import numpy as np
import pytest
from tests.comparison import tasks

from shoal.comparison import runner
from shoal.comparison.runner import Outcome, run_tasks
from shoal.errors import InputError, OutputError
from shoal.support.progress import listening

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes():
    ballast = np.ones(30_000_000)  # 240 MB that a worker must not be charged with
    kinds = ["raise", "refuse", "exit", "kill", "not plain", "work"]
    found = run_tasks({kind: kind for kind in kinds}, tasks.act, processes=2)
    assert ballast[0]
    return found


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("refuse", "there is no way"),
        ("exit", "the process exited with status 3"),
        ("kill", "the process was killed by SIGKILL, possibly out of memory"),
    ],
)
def test_a_task_that_fails_says_why(outcomes, kind, reason):
    assert outcomes[kind] == Outcome(None, reason)


def test_an_error_nobody_planned_is_told_by_kind_and_place_only(outcomes):
    assert outcomes["raise"].reason.startswith("failed with ValueError in tasks.py:")
    assert outcomes["not plain"].reason.startswith("failed with TypeError in ")
    assert tasks.SECRET not in str(outcomes)


def test_the_others_go_on_and_what_they_print_is_lost(outcomes):
    assert list(outcomes["work"].result) == ["threads", "peak"]


def test_cores_are_shared_out(outcomes):
    assert int(outcomes["work"].result["threads"]) == max(runner._cores() // 2, 1)


def test_a_worker_s_memory_is_its_own(outcomes):
    assert 10 < outcomes["work"].result["peak"] < 230


def test_a_task_that_takes_too_long_is_ended(tmp_path):
    task = {"slow": tmp_path / "long"}
    assert run_tasks(task, tasks.linger, time_limit=0.3) == {
        "slow": Outcome(None, "stopped after the time limit of 0.3 seconds")
    }


def test_progress_is_reported_up_to_the_end():
    seen = []
    with listening(seen.append):
        run_tasks({"a": 1, "b": 2}, tasks.double, processes=2)
    assert [seen[0].done, seen[-1].done] == [0, 2]
    assert {(event.stage, event.total) for event in seen} == {("runs", 2)}


def test_what_is_finished_is_not_done_again_and_what_failed_is(tmp_path):
    marks = {"good": tmp_path / "good", "bad": tmp_path / "bad"}
    kept = tmp_path / "deep" / "runs"
    for _ in range(2):
        found = run_tasks(marks, tasks.tally, folder=kept)
        assert found["good"] == Outcome({"path": str(marks["good"])})
    assert {name: path.read_text() for name, path in marks.items()} == {"good": "x", "bad": "xx"}
    assert [path.name for path in kept.iterdir()] == ["good.json"]


def test_a_torn_file_is_made_anew(tmp_path):
    (tmp_path / "a.json").write_text('{"twice": ')
    assert run_tasks({"a": 4}, tasks.double, folder=tmp_path)["a"].result == {"twice": 8}
    assert run_tasks({"a": 5}, tasks.double, folder=tmp_path)["a"].result == {"twice": 8}


def test_an_interrupt_ends_the_workers_and_leaves_what_is_finished(tmp_path):
    pids = {name: tmp_path / name for name in ("quick", "long")}

    def impatient(event):
        if event.done == 1 and pids["long"].exists() and pids["long"].read_text():
            raise KeyboardInterrupt

    with listening(impatient), pytest.raises(KeyboardInterrupt):
        run_tasks(pids, tasks.linger, processes=2, folder=tmp_path / "runs")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["quick.json"]
    assert not alive(int(pids["long"].read_text()))


def test_a_worker_ends_with_its_parent(tmp_path):
    os.mkfifo(tmp_path / "long")
    pipe = os.open(tmp_path / "long", os.O_RDONLY | os.O_NONBLOCK)
    program = (
        "from shoal.comparison import run_tasks; from tests.comparison import tasks; "
        f"run_tasks({{'a': {str(tmp_path / 'long')!r}}}, tasks.linger)"
    )
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}
    ) as parent:
        assert hear(pipe).isdigit()
        parent.kill()
    assert hear(pipe) == b""
    os.close(pipe)


def hear(pipe, seconds=60):
    """Return what a worker writes next, nothing once it has ended."""
    assert select.select([pipe], [], [], seconds)[0], "not a word"
    return os.read(pipe, 99)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def from_the_script(task):
    return {}


from_the_script.__module__ = "__main__"


@pytest.mark.parametrize("work", [lambda task: {}, from_the_script])
def test_work_that_no_other_process_can_import_is_refused(work):
    with pytest.raises(InputError, match="define it at the top level of"):
        run_tasks({"a": 1}, work)


@pytest.mark.parametrize("options", [{"processes": 0}, {"processes": True}, {"time_limit": 0}])
def test_wrong_options_are_refused(options):
    with pytest.raises(InputError, match="must be"):
        run_tasks({"a": 1}, tasks.double, **options)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be created"):
        run_tasks({"a": 1}, tasks.double, folder=tmp_path / "file" / "runs")
