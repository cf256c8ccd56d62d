"""What a release is asked in its tabs: the answers are accessible, and show cells only as text."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect
from tests.web.browser.accessibility import faults
from tests.web.browser.conftest import NARROW
from tests.web.browser.walking import create_button, next_button

POINT = """
(index) => {
  const chart = getElement(Number(document.querySelector(".s-lattice").id.slice(1))).chart;
  chart.resize(); // at once, after the width of the window has changed
  const series = chart.getModel().getSeriesByIndex(index).getData();
  const place = ["x", "y"].map((name) => series.get(name, 0));
  const [x, y] = chart.convertToPixel({ seriesIndex: index }, place);
  return { x, y };
}
"""
MARK = '<img src=x onerror="window.hacked=1">'
LONG = "DIAGNOSIS_OF_THE_PERSON_AS_REPORTED_BY_THE_HOSPITAL"
STUDIES = {  # the button, and what its answer shows
    "Risk in words": ("Answer the questions", "What is assumed"),
    "Levels": ("Show all combinations", "Combinations as a table"),
    "Usefulness": ("Measure usefulness", "Learned from the release"),
}

SCREENS = {  # what each shows once it is drawn
    "open": "How the file is read",
    "describe": "The first rows",
    "group": "What the groups do to the table",
    "protect": LONG,
    "release": "What it promises",
}


@pytest.fixture
def people(tmp_path):
    """People whose towns and diagnoses would be markup."""
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["age", f"town {MARK}", LONG])
        for i in range(120):
            out.writerow([20 + i % 40, f"{MARK} {i % 4}", f"{MARK} {i % 3}"])
    return path


def test_answers_are_accessible_at_both_widths_and_run_nothing(serve, visit, people):
    server = serve(people)
    page = visit(server)
    expect(next_button(page)).to_be_enabled()
    page.goto(f"{server.origin}/protect")
    create_button(page).click()
    expect(page.get_by_role("heading", name="Download")).to_be_visible()
    found = {}
    for tab, (button, answer) in STUDIES.items():
        page.get_by_role("tab", name=tab).click()
        page.get_by_role("button", name=button).click()
        expect(page.get_by_text(answer).first).to_be_visible()
        found[tab] = faults(page)
        if tab == "Levels":
            first = page.evaluate(POINT, 0)  # no level is raised
            page.locator(".s-lattice").click(position=first)
            expect(page.locator(".s-node")).to_contain_text("does not keep the guarantee")
            expect(page.locator(".s-node")).to_contain_text("as it is")
    assert {tab: each for tab, each in found.items() if each} == {}
    page.set_viewport_size(NARROW)
    wide = {}
    for step, shown in SCREENS.items():
        page.goto(f"{server.origin}/{step}")
        expect(page.get_by_text(shown).first).to_be_visible()
        wide[step] = page.evaluate("document.documentElement.scrollWidth") - NARROW["width"]
    assert {step: pixels for step, pixels in wide.items() if pixels > 0} == {}
    assert page.evaluate("window.hacked") is None
    assert page.dialogs == page.problems == []
    assert server.read_errors() == ""
