from __future__ import annotations

import pytest

from studies.claims import Verdict
from studies.page import Picture, Section, write_page


def test_the_page_escapes_what_it_is_given(tmp_path):
    section = Section("1", "<i>", [{"method": "<b>", "k": 3}], heads=["method", "k"])
    drawn = section.draw(tmp_path, [Verdict("<script>", "disagrees", "a & b")], ".4g")
    text = write_page(tmp_path, "<h1>", "about", [drawn]).read_text()
    assert not any(tag in text for tag in ("<script>", "<i>", "<b>", "<h1><"))
    for escaped in ("&lt;script&gt;", "&lt;i&gt;", "&lt;b&gt;", "a &amp; b", "disagrees"):
        assert escaped in text


@pytest.mark.parametrize(
    ("name", "heading", "stem"),
    [
        ("4.10", "Figure 4.10", "figure-4-10"),
        ("A", "Figure A", "figure-A"),
        ("Table 4.1", "Table 4.1", "table-4-1"),
    ],
)
def test_a_section_is_a_figure_unless_it_is_a_table(name, heading, stem):
    section = Section(name, "", [])
    assert (section.heading, section.stem) == (heading, stem)


def test_a_table_tells_counts_as_they_are_and_other_numbers_by_their_form(tmp_path):
    rows = [{"n": 12345, "x": 0.123456, "y": None, "left out": 1}, {"n": 2, "x": 1.0}]
    drawn = Section("1", "", rows, heads=["n", "x", "y"]).draw(tmp_path, [], ".3f")
    assert drawn.cells == [["12345", "0.123", "—"], ["2", "1.000", "—"]]
    assert (tmp_path / "figure-1.csv").read_text().splitlines()[0] == "n,x,y,left out"


def test_a_long_table_is_left_to_its_file(tmp_path):
    rows = [{"n": n} for n in range(3)]
    drawn = Section("1", "", rows, heads=["n"]).draw(tmp_path, [], ".3f")
    assert drawn.unless_longer(3) == drawn
    assert not drawn.unless_longer(2).cells
    assert (tmp_path / "figure-1.csv").read_text().count("\n") == 4


@pytest.mark.parametrize(("ending", "begins"), [(".svg", "<svg "), ("-more.png", "<img ")])
def test_a_picture_is_saved_and_stands_in_the_page_by_itself(tmp_path, ending, begins):
    import altair as alt

    chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    text = Picture(chart, "a < b", ending).save(tmp_path, "figure-1")
    assert text.startswith(begins)
    assert "a < b" not in text
    assert "://" not in text
    assert (tmp_path / f"figure-1{ending}").stat().st_size
