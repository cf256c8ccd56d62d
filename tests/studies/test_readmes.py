"""The pages of the repository on the studies are written by the studies themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from studies import STUDIES, readmes
from studies.claims import Verdict
from studies.coverage import ITEMS
from studies.page import Section, write_page

ROOT = Path(__file__).parents[2]


def test_pages_are_up_to_date():
    stale = [
        path.relative_to(readmes.HOME)
        for path, text in readmes.pages().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, "run python -m studies --pages"


def test_every_item_is_repeated_tested_or_left_out_for_a_reason():
    for item in ITEMS:
        assert sum(map(bool, (item.study, item.tests, item.reason))) == 1, item
        assert not item.tests or (ROOT / item.tests).is_file(), item
        assert not item.study or item.study.partition("/")[0] in STUDIES, item
        assert bool(item.study) == bool(item.sections), item
    assert len({(item.document, item.name) for item in ITEMS}) == len(ITEMS)


def test_every_published_section_is_an_item_of_the_table_or_ours():
    named = {(item.study.partition("/")[0], s) for item in ITEMS for s in item.sections}
    for study in STUDIES.values():
        for path in (readmes.HOME / study.name).glob("verdicts-*.json"):
            sections = json.loads(path.read_text(encoding="utf-8"))["sections"]
            published = {s["name"] for s in sections if s["name"] not in ("A", "B", "C", "D")}
            assert published <= {section for name, section in named if name == study.name}


@pytest.fixture
def home(tmp_path):
    """A copy of the index, and a folder for each study."""
    for name in STUDIES:
        (tmp_path / name).mkdir()
    shutil.copyfile(readmes.HOME / "README.md", tmp_path / "README.md")
    return tmp_path


def run_into(out):
    out.mkdir()
    verdicts = [Verdict("a | b", "agrees", "1.0"), Verdict("c", "undecided", "2.0")]
    verdicts.append(Verdict("d (ours)", "disagrees", "3.0"))
    drawn = Section("4.2", "NMAPE", [{"x": 1}]).draw(out, verdicts, ".1f")
    (out / STUDIES["risk"].picture).write_text("<svg/>")
    write_page(out, "Risk", "Settings.", [drawn])


def test_a_run_that_is_published_fills_its_page_and_its_rows_of_the_table(home, tmp_path):
    run_into(tmp_path / "out")
    study = STUDIES["risk"]
    readmes.publish(study, "generated", tmp_path / "out", "make study NAME=risk", home)
    readmes.write_pages(home)
    page = (home / "risk" / "README.md").read_text(encoding="utf-8")
    assert "Of the published claims, 1 agrees, 1 undecided. Command: `make study NAME=risk`" in page
    assert "| a \\| b | agrees | 1.0 |" in page
    assert "(picture-generated.svg)" in page
    assert (home / "risk" / "picture-generated.svg").is_file()
    index = (home / "README.md").read_text(encoding="utf-8")
    row = "| Figure 4.2 | NMAPE of random matrices | [1 agrees, 1 undecided](risk/README.md)"
    assert row in index
    readmes.write_pages(home)
    assert (home / "README.md").read_text(encoding="utf-8") == index


def test_a_study_without_a_published_run_names_its_command(home):
    readmes.write_pages(home)
    page = (home / "metrics" / "README.md").read_text(encoding="utf-8")
    assert "No run is published yet: `make study NAME=metrics`." in page
