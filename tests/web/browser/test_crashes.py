"""Jobs, crashes and logs: cancel, reload, kills; nothing is left and no cell is logged."""

from __future__ import annotations

import os
import signal

import pytest
from playwright.sync_api import expect
from tests.web.browser.walking import SLOW, create_button, next_button
from tests.web.job_tasks import CANARY
from tests.web.test_jobs import is_alive, wait_until

FAILING = f"""
from shoal.web.project import opening, runs, project

def fail(*_):
    raise ValueError("{CANARY}")

runs.prepare = fail  # while the button Create is handled
from shoal.cli import main
main()
"""


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{CANARY}-{i},{20 + i % 40},{'fm'[i % 2]},{CANARY} {i % 3}\n" for i in range(200)]
    path.write_text("name,age,sex,diagnosis\n" + "".join(rows))
    return path


def go_to_protect(server, page):
    expect(next_button(page)).to_be_enabled()
    page.goto(f"{server.origin}/protect")
    expect(create_button(page)).to_be_enabled()


def test_a_running_job_shows_progress_survives_a_reload_and_is_cancelled(serve, visit, people):
    server = serve(people, program=("-c", SLOW))
    page = visit(server)
    go_to_protect(server, page)
    create_button(page).click()
    cancel = page.get_by_role("button", name="Cancel").first
    expect(cancel).to_be_visible()
    page.reload()
    expect(cancel).to_be_visible()
    assert wait_until(server.releasing)
    (worker,) = server.releasing()
    cancel.click()
    expect(page.get_by_text("Cancelled. Nothing was released.")).to_be_visible()
    assert wait_until(lambda: not is_alive(worker))
    expect(create_button(page)).to_be_enabled()


def test_a_killed_worker_is_reported_and_a_killed_server_leaves_nothing(serve, visit, people):
    server = serve(people, program=("-c", SLOW))
    page = visit(server)
    go_to_protect(server, page)
    create_button(page).click()
    assert wait_until(server.releasing)
    (worker,) = server.releasing()
    os.kill(worker, signal.SIGKILL)
    expect(page.get_by_text("killed by SIGKILL").first).to_be_visible()
    create_button(page).click()
    expect(page.get_by_role("button", name="Cancel").first).to_be_visible()
    workers = server.workers()
    server.process.kill()
    server.process.wait()
    assert wait_until(lambda: not any(is_alive(worker) for worker in workers))
    expect(page.get_by_role("alert")).to_contain_text("Shoal has stopped.")
    (left,) = server.temporary.iterdir()
    serve(folder=server.folder)
    assert left not in list(server.temporary.iterdir())
    assert CANARY not in server.read_errors()


def test_no_cell_is_logged_also_when_the_app_fails(serve, visit, people, tmp_path):
    server = serve(people, program=("-c", FAILING))
    page = visit(server)
    go_to_protect(server, page)
    create_button(page).click()
    assert wait_until(lambda: "ValueError" in server.read_errors())
    broken = tmp_path / "broken.csv"
    broken.write_text(f'name,age\n{CANARY},1\n{CANARY},2,3\n"{CANARY}\n')
    page.goto(f"{server.origin}/open")
    page.get_by_role("button", name="another", exact=False).click()
    page.get_by_label("Choose a file", exact=False).first.set_input_files(broken)
    expect(page.locator(".s-notice.s-bad").first).to_be_visible()
    out, errors = server.stop()
    assert out == "Shoal has stopped\n"
    assert CANARY not in errors
    assert all(line.startswith("shoal web: ValueError at shoal.") for line in errors.splitlines())


def test_it_stops_while_a_page_is_open_and_a_job_runs(serve, visit, people):
    server = serve(people, program=("-c", SLOW))
    page = visit(server)
    go_to_protect(server, page)
    create_button(page).click()
    expect(page.get_by_role("button", name="Cancel").first).to_be_visible()
    workers = server.workers()
    assert server.stop() == ("Shoal has stopped\n", "")
    assert wait_until(lambda: not any(is_alive(worker) for worker in workers))
    assert list(server.temporary.iterdir()) == []
