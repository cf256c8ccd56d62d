"""Jobs: progress, cancellation, crashes; nothing of a task stays behind and no cell comes up."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.web import job_tasks as tasks

from shoal.errors import InputError
from shoal.web import jobs, worker
from shoal.web.text.common import STAGES

pytestmark = pytest.mark.slow
SERVER = """
import asyncio, sys
from shoal.web import jobs, worker
from tests.web import job_tasks

async def main():
    await jobs.start(job_tasks.wait_forever, sys.argv[1]).wait()

asyncio.run(main())
"""


def run(task, *arguments, then=None):
    """Run a job to its end; return it and what `on_change` saw."""
    seen = []

    async def main():
        def changed():
            seen.append((job.state, job.fraction, job.text))
            if then is not None:
                then(job)

        job = jobs.start(task, *arguments, on_change=changed)
        return await asyncio.wait_for(job.wait(), 120)

    return asyncio.run(main()), seen


def is_alive(pid):
    """Whether a process runs; a dead one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end between open and read
        return False


def wait_until(condition, seconds=120):  # a busy machine
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_a_job_returns_the_result_of_its_task():
    job, seen = run(tasks.add, 2, 3)
    assert (job.state, job.result, job.fraction, job.error) == ("done", 5, 1.0, "")
    assert seen[-1][0] == "done"
    assert jobs.running() == []


def test_progress_is_passed_on_in_its_order():
    _, seen = run(tasks.count, 4, 3.0)
    fractions = [fraction for _, fraction, _ in seen if fraction is not None]
    assert fractions == sorted(fractions)
    assert {text for *_, text in seen} >= {"step 0", "step 3"}


def test_progress_is_passed_on_at_most_five_times_a_second():
    job, seen = run(tasks.chatter)  # which reports 20,000 times
    assert len({fraction for _, fraction, _ in seen}) <= job.seconds / 0.2 + 3


def test_progress_of_the_library_is_passed_on():
    _, seen = run(tasks.stages)
    assert {(fraction, text) for state, fraction, text in seen if state == "running"} >= {
        (0.25, STAGES["search"]),
        (0.5, STAGES["search"]),
    }


@pytest.mark.parametrize(
    ("task", "arguments", "sentence"),
    [
        (tasks.refuse, (), "k must be 2 or more."),
        (tasks.exhaust, (), "There is not enough memory for this. Close other programs"),
        (tasks.fail, (tasks.CANARY,), "Shoal has an internal error: ValueError. Please report"),
        (tasks.unpicklable, (), "Shoal has an internal error: "),
        (tasks.kill_itself, (), "The work failed: the process was killed by SIGKILL, possibly"),
    ],
)
def test_a_failure_is_a_sentence_without_a_cell(task, arguments, sentence, capfd):
    job, _ = run(task, *arguments)
    assert job.state == "failed"
    assert job.error.startswith(sentence)
    assert tasks.CANARY not in job.error + "".join(capfd.readouterr())


def test_what_a_task_prints_goes_nowhere(capfd):
    job, _ = run(tasks.print_and_return, tasks.CANARY)
    assert (job.state, job.result) == ("done", b"")
    assert capfd.readouterr() == ("", "")


def test_a_task_that_reports_is_cancelled_at_once():
    job, _ = run(tasks.wait_forever, then=lambda job: job.text and job.cancel())
    assert (job.state, job.error) == ("cancelled", "")


def test_a_deaf_task_is_cancelled_all_the_same():
    def cancel(job):
        if job.text:
            job.cancel()

    job, _ = run(tasks.be_deaf, then=cancel)
    assert job.state == "cancelled"
    assert not is_alive(job._process.pid)


def test_a_cancelled_job_leaves_no_process(tmp_path):
    pids = tmp_path / "pids"
    run(tasks.wait_forever, str(pids), then=lambda job: job.text and job.cancel())
    assert wait_until(lambda: not is_alive(pids.read_text().split()[0]))


def test_a_killed_server_leaves_no_process(tmp_path):
    pids = tmp_path / "pids"
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, pids],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert wait_until(lambda: pids.exists() and pids.read_text().endswith("\n"))
    worker, grandchild = pids.read_text().split()
    assert is_alive(worker)
    assert is_alive(grandchild)
    server.send_signal(signal.SIGKILL)
    server.wait()
    assert wait_until(lambda: not is_alive(worker) and not is_alive(grandchild))


@pytest.fixture
def workspace(tmp_path):
    jobs.use_workspace(tmp_path)
    yield tmp_path
    jobs.use_workspace(None)


def test_a_killed_worker_leaves_no_partial_output(workspace):
    (workspace / "run").mkdir()
    job, _ = run(tasks.write_and_be_killed, str(workspace / "run"))
    assert job.state == "failed"
    assert [path for path in workspace.rglob("*") if path.is_file()] == []


def test_temporary_files_of_a_job_are_private_and_removed(workspace):
    job, _ = run(tasks.temporary_folder)
    path, mode = job.result
    assert path.startswith(str(workspace))
    assert mode == "0o600"
    assert list(workspace.iterdir()) == []


@pytest.fixture
def spare(workspace):
    """Returns the process that waits for the next job, which is kept during the test."""
    jobs.keep_spare()
    yield lambda: jobs._spare.process
    jobs.keep_spare(kept=False)


def test_a_waiting_process_takes_the_next_job_with_its_imports_done(spare, workspace):
    waiting = spare()
    job, _ = run(tasks.imported)
    assert job._process is waiting
    assert set(worker._NEEDED) <= set(job.result)
    assert spare().pid != waiting.pid  # another one waits
    jobs.keep_spare(kept=False)
    assert list(workspace.iterdir()) == []


def test_a_waiting_process_that_was_killed_is_replaced(spare):
    waiting = spare()
    waiting.kill()
    waiting.wait()
    job, _ = run(tasks.add, 2, 3)
    assert (job.result, job._process is waiting) == (5, False)


def test_a_waiting_process_ends_with_the_server(spare):
    waiting = spare()
    waiting.stdin.close()
    assert waiting.wait(120) == 1


def test_a_task_of_the_running_script_is_refused():
    def task(report):
        """Belongs to no module that another process could import."""

    task.__module__ = "__main__"

    async def main():
        jobs.start(task)

    with pytest.raises(InputError, match="top level of an importable module"):
        asyncio.run(main())


def test_all_jobs_can_be_stopped():
    async def main():
        job = jobs.start(tasks.be_deaf)
        jobs.stop_all()
        return await asyncio.wait_for(job.wait(), 120)

    assert asyncio.run(main()).state == "failed"
    assert jobs.running() == []


@pytest.mark.skipif(not hasattr(os, "nice"), reason="no priorities")
def test_a_job_gives_way_to_the_server():
    job, _ = run(tasks.niceness)
    assert job.result == min(os.nice(0) + 10, 19)
