"""The page as a PDF, printed by a browser: A4, with its language and tagged headings."""

import re
import shutil
import subprocess

import pytest
from tests.evidence.packs import crowd_control, crowd_release, packed

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.mark.skipif(BROWSER is None, reason="NO BROWSER: install chromium")
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_browser_prints_the_page_on_a4(language, tmp_path):
    folder = packed(tmp_path, made=crowd_release(), control=crowd_control(), language=language)
    target = tmp_path / "evidence.pdf"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    page = (folder / "index.html").as_uri()
    subprocess.run(
        [BROWSER, *options, profile, f"--print-to-pdf={target}", page],
        check=True, capture_output=True, timeout=240,
    )  # fmt: skip
    data = target.read_bytes()
    assert data.startswith(b"%PDF-")
    boxes = [tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([^\]]*)\]", data)]
    assert len(boxes) >= 5
    assert {(round(right), round(top)) for _, _, right, top in boxes} == {(595, 842)}  # A4
    assert b"/StructTreeRoot" in data  # headings and tables are tagged
    assert f"/Lang ({language})".encode() in data
