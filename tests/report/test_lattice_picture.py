"""The picture of a lattice: its nodes are where and what they should be, its file is whole."""

from dataclasses import replace

import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError, OutputError
from shoal.report.lattice_picture import draw_lattice, draw_release, place_nodes

PAIRS = {"letters": ["a", "b", "c", "d"], "digits": ["1", "1", "2", "2"]}
TREES = {
    "letters": shoal.hierarchies.tree({"ab": ["a", "b"], "cd": ["c", "d"]}),
    "digits": shoal.hierarchies.tree(["1", "2"]),
}


def pairs():
    """Four records: two letters a group, one digit a group; 3 × 2 nodes."""
    roles = {name: {"role": "quasi", "hierarchy": TREES[name]} for name in PAIRS}
    return shoal.Table.from_arrow(pa.table(PAIRS), roles)


def states(spots):
    return {spot.node: spot.state for spot in spots.nodes}


def test_nodes_are_not_anonymous_anonymous_or_minimal():
    spots = place_nodes(pairs(), shoal.KAnonymity(2), max_suppression=0)
    assert states(spots) == {
        (0, 0): "not anonymous",
        (0, 1): "not anonymous",
        (1, 0): "minimal",  # ab 1, ab 1, cd 2, cd 2
        (1, 1): "anonymous",
        (2, 0): "anonymous",
        (2, 1): "anonymous",
    }
    assert [spots.count(s) for s in ("not anonymous", "anonymous", "minimal")] == [2, 3, 1]


def test_records_may_be_left_out_but_not_all():
    cells = {"letters": ["a", "a", "b", "c"], "digits": ["1", "1", "2", "2"]}
    roles = {name: {"role": "quasi", "hierarchy": TREES[name]} for name in cells}
    table = shoal.Table.from_arrow(pa.table(cells), roles)
    assert states(place_nodes(table, shoal.KAnonymity(2), max_suppression=0.5))[0, 0] == "minimal"
    assert (
        states(place_nodes(table, shoal.KAnonymity(2), max_suppression=0.4))[0, 0]
        == "not anonymous"
    )
    every = place_nodes(pairs(), shoal.KAnonymity(2), max_suppression=1)
    assert states(every)[0, 0] == "not anonymous"


def test_other_models_than_k_anonymity_are_asked():
    roles = {
        "letters": {"role": "quasi", "hierarchy": TREES["letters"]},
        "digits": "sensitive",
    }
    table = shoal.Table.from_arrow(pa.table(PAIRS), roles)
    mixed = place_nodes(table, shoal.LDiversity(2, "digits"), max_suppression=0)
    assert states(mixed) == {(0,): "not anonymous", (1,): "not anonymous", (2,): "minimal"}


def test_a_release_s_node_is_pointed_out():
    release = shoal.anonymize(pairs(), shoal.KAnonymity(2), "ola", max_suppression=0)
    spots = place_nodes(pairs(), shoal.KAnonymity(2), max_suppression=0, chosen=release.node)
    assert [spot.node for spot in spots.nodes if spot.chosen] == [(1, 0)]


def test_rows_are_sums_of_levels_and_nodes_of_a_row_stand_apart():
    spots = place_nodes(pairs(), shoal.KAnonymity(2))
    assert {spot.node: spot.row for spot in spots.nodes} == {
        spot.node: sum(spot.node) for spot in spots.nodes
    }
    assert len({(spot.row, spot.place) for spot in spots.nodes}) == 6


def test_a_long_row_is_folded_into_lines_that_do_not_touch_the_next():
    names = [f"a{i}" for i in range(10)]
    table = shoal.Table.from_arrow(
        pa.table({name: ["x", "y"] for name in names}), dict.fromkeys(names, "quasi")
    )
    spots = place_nodes(table, shoal.KAnonymity(2))
    assert len(spots.nodes) == 1024
    assert len({(round(spot.row, 6), spot.place) for spot in spots.nodes}) == 1024
    assert all(abs(spot.row - sum(spot.node)) < 0.5 for spot in spots.nodes)


@pytest.mark.parametrize(("objective", "exact"), [("precision", True), ("loss", False)])
def test_costs_are_exact_where_the_pass_gives_them(objective, exact):
    spots = place_nodes(pairs(), shoal.KAnonymity(2), max_suppression=0, objective=objective)
    assert spots.exact is exact
    cost = {spot.node: spot.cost for spot in spots.nodes}
    assert cost[2, 1] == pytest.approx(1)
    assert cost[1, 0] == pytest.approx(0.25 if exact else 1 / 6)
    assert cost[0, 0] == pytest.approx(1 if exact else 0)  # all records stand alone


@pytest.mark.parametrize(
    ("ending", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("html", b"<!DOCTYPE html>")]
)
def test_the_file_s_ending_says_what_is_written(tmp_path, ending, begins):
    path = tmp_path / f"lattice.{ending}"
    draw_lattice(pairs(), shoal.KAnonymity(2), path, chosen={"letters": 1, "digits": 0})
    assert path.read_bytes().lstrip().startswith(begins)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_page_fetches_nothing(tmp_path):
    path = tmp_path / "lattice.html"
    draw_lattice(pairs(), shoal.KAnonymity(2), path)
    page = path.read_text(encoding="utf-8")
    assert "<script src" not in page
    assert "<link" not in page


def test_an_existing_file_stays_unless_forced(tmp_path):
    path = tmp_path / "lattice.svg"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        draw_lattice(pairs(), shoal.KAnonymity(2), path)
    assert path.read_text() == "mine"
    draw_lattice(pairs(), shoal.KAnonymity(2), path, force=True)
    assert path.read_text().startswith("<svg")


def test_an_ending_that_is_no_picture_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"\.png, \.svg or \.html"):
        draw_lattice(pairs(), shoal.KAnonymity(2), tmp_path / "lattice.pdf")


def test_a_lattice_too_large_to_see_is_refused(tmp_path):
    path = tmp_path / "lattice.png"
    with pytest.raises(InputError, match=r"3,600 nodes, and a picture shows at most 3,000"):
        draw_lattice(shoal.datasets.patients(50, seed=1), shoal.KAnonymity(2), path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"letters": 1}, "a level for each of letters, digits"),
        ({"letters": 3, "digits": 0}, "level of letters must be 0 to 2, not 3"),
    ],
)
def test_a_node_that_is_not_in_the_lattice_is_refused(chosen, told):
    with pytest.raises(InputError, match=told):
        place_nodes(pairs(), shoal.KAnonymity(2), chosen=chosen)


def test_a_release_is_drawn_with_its_node_pointed_out(tmp_path):
    table = shoal.datasets.patients(300, seed=1)
    small = replace(table, columns=tuple(c for c in table if c.name in ("sex", "postcode")))
    release = shoal.anonymize(small, shoal.KAnonymity(5), "flash")
    draw_release(release, tmp_path / "lattice.svg")
    assert "chosen" in (tmp_path / "lattice.svg").read_text()


def test_a_release_without_a_lattice_cannot_be_drawn(tmp_path):
    release = shoal.anonymize(shoal.datasets.load("fars-sample"), shoal.KAnonymity(3))
    with pytest.raises(shoal.InputError, match="searches no lattice"):
        draw_release(release, tmp_path / "lattice.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_hides_counts_of_few_records_as_a_report_does(tmp_path):
    cells = {"letters": ["a"] * 20 + ["b"], "digits": ["1"] * 21}
    roles = {name: {"role": "quasi", "hierarchy": TREES[name]} for name in cells}
    table = shoal.Table.from_arrow(pa.table(cells), roles)
    spots = place_nodes(table, shoal.KAnonymity(2), max_suppression=0.1)
    told = {spot.node: spot.suppressed for spot in spots.nodes}
    assert (told[0, 0], told[1, 0]) == ("fewer than 5", "0")
    path = tmp_path / "lattice.html"
    draw_lattice(table, shoal.KAnonymity(2), path, max_suppression=0.1)
    page = path.read_text(encoding="utf-8")
    assert '"suppressed": "fewer than 5"' in page
    assert '"suppressed": 1' not in page


def test_a_name_of_a_column_cannot_end_the_script_of_a_page(tmp_path):
    name = "</script><script>alert(1)</script>"
    roles = {name: {"role": "quasi", "hierarchy": TREES["digits"]}}
    table = shoal.Table.from_arrow(pa.table({name: ["1", "1", "2", "2"]}), roles)
    for ending in ("html", "svg"):
        draw_lattice(table, shoal.KAnonymity(2), tmp_path / f"lattice.{ending}")
        drawn = (tmp_path / f"lattice.{ending}").read_text(encoding="utf-8")
        assert "<script>alert" not in drawn
        assert "alert(1)" in drawn
