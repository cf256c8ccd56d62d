"""From a file to a release and its report in a real browser; every screen is checked."""

from __future__ import annotations

import csv
import json
from collections import Counter

import pytest
from playwright.sync_api import expect
from tests.web.browser.accessibility import faults, violations
from tests.web.browser.walking import create_button, next_button, walk

from shoal.datasets.hospital import write_patients

TABS = ["Alternatives", "Side by side", "Risk in words", "Levels", "Usefulness", "Evidence"]


@pytest.fixture(scope="session")
def patients(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "patients.csv"
    write_patients(path, 1_000, 0)
    return path


def download(page, name):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).click()
    return waiting.value


def test_the_whole_flow_on_patients(serve, visit, context, patients, picture, tmp_path):
    server = serve()
    page = visit(server)
    picture(page, "start")
    found, actions = {}, []
    found["start"] = faults(page)
    page.get_by_label("Choose a file", exact=False).first.set_input_files(patients)

    def look(step):
        actions.append(step)
        picture(page, step)
        found[step] = faults(page)

    walk(page, look)
    for name in TABS:
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
        found[name] = violations(page)
    assert {step: each for step, each in found.items() if each} == {}

    released, report = tmp_path / "released.csv", tmp_path / "report.html"
    download(page, "Released table").save_as(released)
    download(page, "Report (html)").save_as(report)
    with released.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(actions) + 3 <= 10  # with the choice of the file and both downloads
    assert {"patient_id", "name"}.isdisjoint(rows[0])
    groups = Counter(tuple(v for k, v in row.items() if k != "diagnosis") for row in rows)
    assert min(groups.values()) >= 5
    assert "k-anonymity" in report.read_text(encoding="utf-8")
    data = download(page, "Report as data")
    assert json.loads(data.path().read_text(encoding="utf-8"))

    page.reload()
    expect(page.get_by_role("heading", name="Download")).to_be_visible()
    tab = context.new_page()
    tab.goto(f"{server.origin}/release")
    expect(tab.get_by_role("heading", name="Download")).to_be_visible()
    assert {url.split("/")[2] for url in page.asked if url.startswith("http")} == {server.host}
    assert page.problems == []
    assert server.stop() == ("Shoal has stopped\n", "")
    expect(page.get_by_role("alert")).to_have_text(
        "Shoal has stopped. This page no longer shows your data; you can close it."
    )
    assert list(server.temporary.iterdir()) == list(server.here.iterdir()) == []


def press_until(page, key, button):
    """Press a key until a button has the focus."""
    button.wait_for()
    for _ in range(60):
        page.keyboard.press(key)
        if button.evaluate("(element) => element === document.activeElement"):
            return
    pytest.fail("the keyboard does not reach the button")


def test_the_keyboard_alone_reaches_the_release(serve, visit, patients):
    page = visit(serve(patients))
    for title in ("Describe", "Group values", "Protect"):
        expect(next_button(page)).to_be_enabled()
        press_until(page, "Shift+Tab", next_button(page))
        page.keyboard.press("Enter")
        expect(page).to_have_title(f"{title} · Shoal")
    expect(create_button(page)).to_be_enabled()
    press_until(page, "Shift+Tab", create_button(page))
    page.keyboard.press("Enter")
    table = page.get_by_role("button", name="Released table")
    press_until(page, "Tab", table)
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    assert waiting.value.suggested_filename.endswith(".csv")
