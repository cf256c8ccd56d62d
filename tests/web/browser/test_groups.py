"""Values are grouped by keyboard alone, at once, and the screen is accessible."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.web.browser.accessibility import faults

from shoal.web.text import group as text


@pytest.fixture
def towns(tmp_path):
    """A file with a hundred towns, one of which would be markup."""
    path = tmp_path / "towns.csv"
    names = [f"Town {n:02}" for n in range(99)] + ["<img src=x onerror=alert(1)>"]
    rows = [f"P{n},{names[n % 100]},{20 + n % 50},flu" for n in range(400)]
    path.write_text("\n".join(["patient_id,city,age,diagnosis", *rows]) + "\n", encoding="utf-8")
    return path


def test_values_are_grouped_and_ungrouped_by_keyboard(serve, visit, towns):
    server = serve(towns)
    page = visit(server)
    expect(page.get_by_role("button", name="Step 3 of 5")).not_to_have_attribute(
        "aria-disabled", "true"
    )
    page.get_by_role("button", name="Step 3 of 5").click()
    page.get_by_role("button", name="city").click()
    status = page.get_by_text("100 values not grouped yet").first
    expect(status).to_be_visible()
    for town in ("Town 03", "Town 04"):
        page.get_by_role("checkbox", name=f"Tick {town}").focus()
        page.keyboard.press("Space")
    expect(page.get_by_text("2 values ticked")).to_be_visible()
    page.get_by_label(text.NAME).focus()
    page.keyboard.type("North")
    page.keyboard.press("Enter")
    expect(page.get_by_text("98 values not grouped yet").first).to_be_visible()
    label = page.get_by_role("button", name="North, level 1: rename this group").first
    expect(label).to_be_visible()
    label.focus()
    page.keyboard.press("Control+z")
    expect(status).to_be_visible()
    assert page.dialogs == []
    assert faults(page) == []
