"""A study of robust predictions from end to end, on a few small digits."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from studies import STUDIES
from studies.page import Picture
from studies.robust import judging
from studies.robust import setup as robust_setup
from studies.robust.claims import claims_for
from studies.robust.setup import REDUCED
from studies.robust.stages import Study

pytestmark = pytest.mark.slow

TINY = replace(
    REDUCED["digits"],
    networks=3,
    rows=120,
    validation=100,
    epochs=3,
    samples=2,
    twos=3,
    threes=2,
    steps=10,
    searches=2,
    constant=10.0,
    rate=0.1,
    queries=2,
    climbs=5,
)
GOALS = 9


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Return the folder of a whole run."""
    out = tmp_path_factory.mktemp("robust")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(robust_setup.REDUCED, "digits", TINY)
        patch.setattr(judging, "_DEVIATIONS", (0.0, 1.0))
        STUDIES["robust"].run(out, data="digits")
    return out


def table(path):
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_a_run_leaves_a_page_with_all_figures_and_tables(done):
    text = (done / "report.html").read_text(encoding="utf-8")
    for name in ("4.1", "4.2", "4.3", "4.7", "A", "B", "C"):
        assert f"Figure {name}:" in text
        assert (done / f"figure-{name.replace('.', '-')}.csv").is_file()
        assert (done / f"figure-{name.replace('.', '-')}.svg").is_file()
    for number in range(3, 9):
        assert f"Table 4.{number}:" in text
        assert table(done / f"table-4-{number}.csv")
    assert "data:image/png;base64," in text  # pictures of examples
    assert (done / "figure-D.png").read_bytes().startswith(b"\x89PNG")
    assert "Published figures are for MNIST and 50 networks" in text
    assert "3 networks, each trained on 120 rows (its own) for 3 epochs (float32)" in text
    assert "If an attacker attacks the vote itself" in text
    assert "https://" not in text


def test_a_second_run_reads_the_stages_and_does_without_the_examples(done, tmp_path, monkeypatch):
    (tmp_path / "stages").mkdir()
    for path in (done / "stages").iterdir():
        (tmp_path / "stages" / path.name).write_bytes(path.read_bytes())
    monkeypatch.setitem(robust_setup.REDUCED, "digits", TINY)
    monkeypatch.setattr(Study, "measure", lambda *_: pytest.fail("run again"))
    monkeypatch.setattr(Picture, "save", lambda *_: "")
    text = STUDIES["robust"].run(tmp_path, data="digits").read_text(encoding="utf-8")
    assert "Figure C:" in text
    assert "Figure D:" not in text
    for path in tmp_path.glob("*.csv"):
        assert path.read_bytes() == (done / path.name).read_bytes()


def test_examples_are_there_one_row_each(done):
    counts = Counter((row["attacker"], row["model"]) for row in table(done / "examples.csv"))
    single = TINY.networks * TINY.samples * GOALS
    vote = TINY.samples * GOALS
    assert sorted(counts.values()) == sorted(
        2 * [single, TINY.twos * GOALS, TINY.threes * GOALS, *(4 * [vote])]
    )
    assert len(table(done / "figure-4-7.csv")) == 2 * single


@pytest.mark.parametrize("number", [4, 6, 8])
def test_what_the_vote_says_adds_up(done, number):
    rows = table(done / f"table-4-{number}.csv")
    for model in ("without noise", "with noise"):
        here = [row for row in rows if row["model"] == model]
        assert sum(float(row["share"]) for row in here) == pytest.approx(1)
        for row in here:
            assert float(row["low"]) <= float(row["share"]) <= float(row["high"])


def test_tables_follow_from_the_examples(done):
    rows = [r for r in table(done / "examples.csv") if r["attacker"] == "single networks"]
    for row in table(done / "table-4-3.csv"):
        mine = [r for r in rows if r["model"] == row["model"]]
        right = np.mean([r["voted"] == r["label"] for r in mine])
        assert float(row["attacked"]) == pytest.approx(right)
        assert float(row["clean"]) == pytest.approx(
            np.mean([r["clean"] == r["label"] for r in mine])
        )


def test_bins_hold_every_example_once(done):
    for name in ("without noise", "with noise"):
        rows = [r for r in table(done / "figure-4-3.csv") if r["model"] == name]
        right = next(r for r in table(done / "table-4-3.csv") if r["model"] == name)
        assert sum(int(r["examples"]) for r in rows) == TINY.networks * TINY.samples * GOALS
        assert sum(float(r["right"]) for r in rows) == pytest.approx(float(right["attacked"]))


def test_no_published_figure_is_judged_by_a_reduced_run(done):
    rows = [json.loads(path.read_text()) for path in (done / "stages").iterdir()]
    verdicts = {claim.text: claim.judge(rows) for claim in claims_for("mnist")}
    unknown = [text for text, v in verdicts.items() if v.found == "not enough runs"]
    assert len(unknown) == 2  # no seven among two pictures, and no second training
    assert "a seven to be a zero" in unknown[0]
    assert "trained on moved pictures" in unknown[1]
    quoted = [v for text, v in verdicts.items() if "stays right on" in text or "to their" in text]
    assert len(quoted) == 12
    assert {v.word for v in quoted} == {"undecided"}
