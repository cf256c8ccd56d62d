"""A real browser: Debian's chromium, driven by Playwright, and a server for each test.

Without chromium these tests are skipped, and the summary says so in capitals.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.web.servers import Server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SECONDS = 60  # to wait for something on a page
PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
WIDE, NARROW = {"width": 1366, "height": 900}, {"width": 390, "height": 844}


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")  # while it is open, no other event loop can run in this thread
def chromium():
    api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("NO BROWSER: install chromium (apt-get install chromium)")
    api.expect.set_options(timeout=SECONDS * 1000)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def serve(tmp_path_factory):
    """Start servers; at the end, check that none wrote to its errors or working folder."""
    started = []

    def serve(*arguments, folder=None, **options):
        place = folder or tmp_path_factory.mktemp("server")
        server = Server(place, arguments, **options)
        started.append(server)
        return server

    yield serve
    for server in started:
        server.close()


@pytest.fixture
def context(chromium):
    made = chromium.new_context(viewport=WIDE, color_scheme="light", accept_downloads=True)
    made.set_default_timeout(SECONDS * 1000)
    yield made
    made.close()


@pytest.fixture
def visit(context):
    """Open a server's address; the page must run no script of a table and ask no other host."""

    def visit(server):
        page = context.new_page()
        page.asked, page.problems, page.dialogs = [], [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda m: m.type == "error" and page.problems.append(m.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("dialog", lambda dialog: (page.dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(server.address)
        page.locator("#content").wait_for()
        return page

    return visit


@pytest.fixture
def picture(request):
    """Keep a screenshot for the documentation, with SHOAL_PICTURES=1."""

    def take(page, name, **options):
        if os.environ.get("SHOAL_PICTURES"):
            page.screenshot(path=PICTURES / f"web-{name}.png", animations="disabled", **options)

    return take
