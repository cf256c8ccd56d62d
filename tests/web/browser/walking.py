"""A walk through the screens, as a user does it."""

from __future__ import annotations

from playwright.sync_api import expect

TITLES = {
    "describe": "Describe · Shoal",
    "group": "Group values · Shoal",
    "protect": "Protect · Shoal",
}
STEPS = ("open", "describe", "group", "protect")
SLOW = """
import sys
from tests.web import job_tasks
from shoal.web.project import runs
runs.make_release = job_tasks.slow_release
from shoal.cli import main
main()
"""


def next_button(page):
    return page.get_by_role("button", name="Next", exact=True)


def create_button(page):
    return page.get_by_role("button", name="Create the release")


def walk(page, look=lambda step: None):
    """Go from an opened file to the Release screen; call `look` on each screen."""
    for step in STEPS:
        onward = create_button(page) if step == "protect" else next_button(page)
        expect(onward).to_be_enabled()
        if step == "group":
            expect(page.locator(".s-values")).to_be_visible()
        look(step)
        onward.click()
        if step != "protect":
            following = STEPS[STEPS.index(step) + 1]
            page.wait_for_url(f"**/{following}", wait_until="commit")
            expect(page).to_have_title(TITLES[following])
    page.wait_for_url("**/release", wait_until="commit")
    expect(page.get_by_role("heading", name="Download")).to_be_visible()
    look("release")
