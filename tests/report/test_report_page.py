"""The page of a report: one whole file, safe to open, readable on screen and on paper."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest
from tests.report.report_tables import RELEASES, release

import shoal
from shoal import FreeformAnonymity, KAnonymity, LDiversity
from shoal.report import contents
from shoal.report.page import count, figure, matrix, page, percent

HOSTILE = "<script>alert('x')</script>"
ODD = ['"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "a & b", "schön ☃", "x" * 300]
EMPTY = {"meta", "link", "br", "img", "input", "hr"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Parsed(HTMLParser):
    """What stands in a page: its text, its tags, and whether these are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.text, self.tags, self.open = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def named(self, tag):
        return [attributes for found, attributes in self.tags if found == tag]


def hostile_release():
    """Column names, values, labels and a title that would break out of a careless page."""
    letters = [HOSTILE, *ODD]
    cells = {name: [letters[i % len(letters)] for i in range(60)] for name in letters}
    spec = dict.fromkeys(letters[:-1], "quasi") | {letters[-1]: "sensitive"}
    spec[HOSTILE] = {"role": "quasi", "hierarchy": {"tree": {"<b>most</b>": letters}}}
    table = shoal.Table.from_arrow(pa.table(cells), spec)
    return shoal.anonymize(table, KAnonymity(5) & LDiversity(1 + 1, letters[-1]), "mondrian")


@pytest.fixture(scope="module")
def patients():
    table = shoal.datasets.patients(300, seed=4)
    return page(contents(shoal.anonymize(table, KAnonymity(3)), title="Stays", date="2025-06-01"))


def test_the_sections_are_there_in_order(patients):
    heads = re.findall(r'<h2 id="([^"]+)">(\d)\.', patients)
    names = "released guarantee risk sensitive cost before-after correlations limits repeat"
    assert heads == [(name, str(n)) for n, name in enumerate(names.split(), start=1)]
    assert "Stays" in patients
    assert "2025-06-01" in patients


def test_the_page_is_well_formed_and_labelled(patients):
    found = Parsed(patients)
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["aria-labelledby"] for attributes in found.named("section")} <= set(ids)
    assert found.named("html") == [{"lang": "en"}]
    for attributes in found.named("svg"):
        assert attributes.get("aria-hidden") == "true" or attributes["role"] == "img"
    assert all(attributes.get("scope") in ("row", "col") for attributes in found.named("th"))


@pytest.mark.parametrize("name", RELEASES)
def test_every_release_gives_a_well_formed_page(name):
    found = Parsed(page(contents(release(name))))
    assert not found.named("script")
    assert not {"None", "nan", "inf"} & set(" ".join(found.text).split())


def test_nothing_is_loaded_and_nothing_runs(patients):
    found = Parsed(patients)
    assert not [
        tag for tag, _ in found.tags if tag in ("script", "img", "iframe", "object", "link")
    ]
    assert not re.search(r"https?:|//[a-z]|@import|url\(", patients)
    policy = [a["content"] for a in found.named("meta") if "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    handlers = [name for _, attributes in found.tags for name in attributes if name[:2] == "on"]
    assert handlers == []


def test_hostile_names_and_values_are_text():
    text = page(contents(hostile_release(), title=HOSTILE, command=HOSTILE))
    found = Parsed(text)
    assert not found.named("script")
    assert not found.named("img")
    assert not found.named("b")
    shown = "".join(found.text)
    assert all(word in shown for word in [HOSTILE, *ODD])
    assert "49" not in re.findall(r"\b\d+\b", re.sub(r"<style>.*?</style>", "", text, flags=re.S))


def test_wide_and_long_tables_stay_small():
    rng = np.random.default_rng(0)
    wide = {f"column {j}": rng.integers(0, 9, 300) for j in range(39)}
    cells = {**wide, "many": [f"value {i}" for i in range(300)]}
    table = shoal.Table.from_arrow(pa.table(cells), dict.fromkeys(cells, "quasi"))
    text = page(contents(shoal.anonymize(table, KAnonymity(5), list_values=True)))
    assert len(text) < 400_000
    assert "pairs that changed most, out of 780" in text
    tall = shoal.Table.from_arrow(
        pa.table({"many": [f"value {i // 2}" for i in range(20_000)]}), {"many": "quasi"}
    )
    assert len(page(contents(shoal.anonymize(tall, KAnonymity(5), "datafly")))) < 100_000


def test_numbers_read_as_people_write_them():
    assert [count(v) for v in (1234, "fewer than 5", None)] == ["1,234", "fewer than 5", "–"]
    assert [percent(v) for v in (0.5, 0.0001, 0.0, None)] == ["50.0 %", "< 0.1 %", "0.0 %", "–"]
    assert [figure(v) for v in (5.0, 0.25, None)] == ["5", "0.250", "–"]


def test_the_matrix_has_before_below_and_after_above():
    pairs = [{"first": "a", "second": "b", "before": 0.9, "after": 0.1}]
    rows = matrix(pairs)["rows"]
    assert [[cell["value"] for cell in row["cells"]] for row in rows] == [[None, 0.1], [0.9, None]]
    assert [[cell["shade"] for cell in row["cells"]] for row in rows] == [[0, 1], [5, 0]]


def chromium(folder, page_file, *arguments):
    """Run the browser on a page, without a way to anywhere; its own calls home are switched off."""
    own = "--disable-background-networking --disable-component-update --disable-sync"
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", *own.split()]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"]
    command += [f"--user-data-dir={folder}/profile", *arguments, page_file.as_uri()]
    return subprocess.run(command, capture_output=True, timeout=120, check=True)


def watched(folder, page_file):
    """Return a page as the browser holds it, what it complains about and what it asks for."""
    log = folder / "net.json"
    shown = chromium(folder, page_file, f"--log-net-log={log}", "--dump-dom")
    complaints = [line for line in shown.stderr.decode().splitlines() if "CONSOLE" in line]
    asked = set(re.findall(r'"url":"(https?:[^"]+)"', log.read_text()))
    home = re.compile(r"https?://[^/]*\.(google|googleapis|gvt1)\.com/")
    return shown.stdout.decode(), complaints, {url for url in asked if not home.match(url)}


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize("kind", ["patients", "hostile", "freeform"])
def test_a_browser_shows_it_without_errors_or_requests(kind, tmp_path):
    some = {
        "patients": lambda: shoal.anonymize(shoal.datasets.patients(300, seed=4), KAnonymity(3)),
        "hostile": hostile_release,
        "freeform": lambda: shoal.anonymize(
            shoal.datasets.patients(80, seed=4), FreeformAnonymity(3), "doka-sort-greedy"
        ),
    }[kind]()
    file = tmp_path / "report.html"
    some.report(file, title=HOSTILE)
    dom, complaints, asked = watched(tmp_path, file)
    assert "9. How to reproduce the release" in dom
    assert "<script" not in dom
    assert (complaints, asked) == ([], set())
    chromium(tmp_path, file, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path}/report.pdf")
    printed = (tmp_path / "report.pdf").read_bytes()
    widths = {round(float(w)) for w in re.findall(rb"/MediaBox \[0 0 ([\d.]+) [\d.]+\]", printed)}
    assert widths == {595}  # A4
    picture = tmp_path / "report.png"
    chromium(tmp_path, file, "--window-size=1000,1400", f"--screenshot={picture}")
    assert picture.stat().st_size > 20_000


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_the_browser_would_notice(tmp_path):
    file = tmp_path / "bad.html"
    file.write_text("<script>console.error(1)</script><img src=http://elsewhere.invalid/x.png>")
    _, complaints, asked = watched(tmp_path, file)
    assert len(complaints) == 1
    assert asked == {"http://elsewhere.invalid/x.png"}
