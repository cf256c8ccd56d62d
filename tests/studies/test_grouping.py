from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from shoal import Table
from studies import STUDIES
from studies.grouping import numbered, sections
from studies.grouping import study as partition_benchmark
from studies.grouping import tasks as partition_tasks
from studies.grouping.claims import CLAIMS, of_figure, ratio
from studies.grouping.tasks import Sizes
from studies.runs import measure_all

pytestmark = pytest.mark.slow

TINY = Sizes(
    draws_3_2=1, draws=1, few=(8,), narrow=(3,), rows_3_3=(12, 16), k_3_3=(2, 3), rows_3_5=24,
    rows_3_6=(24,), base=24, k_3_7=(2, 5), widths_3_8=(4,), rows_a_1=(16, 24), carry=5.0,
)  # fmt: skip


@pytest.fixture
def _small(monkeypatch):
    """Let the study run on a made-up table of 230 rows."""
    draw = np.random.default_rng(1)
    data = pa.table({f"c{i}": draw.integers(0, 4 + 3 * i, 230) for i in range(8)})
    table = Table.from_arrow(data, {f"c{i}": "quasi" for i in range(8)})
    names = tuple(f"c{i}" for i in range(8))
    monkeypatch.setattr(numbered, "_whole", lambda _: (table, names))
    monkeypatch.setattr(partition_tasks, "Sizes", lambda: TINY)


@pytest.mark.usefixtures("_small")
def test_the_study_runs_from_end_to_end_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    tasks = [t for t in partition_tasks.tasks_for("adult", full=False) if t["k"] < 5]
    monkeypatch.setattr(partition_benchmark, "tasks_for", lambda _data, full: tasks)
    page = STUDIES["grouping"].run(tmp_path, data="adult")
    text = page.read_text()
    assert text.count("<svg") == 2 * len(sections.TITLES) - 1  # figure 3.4 has loss only
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
    assert len(list((tmp_path / "runs").iterdir())) == len(tasks)
    assert (tmp_path / "figure-3-6.csv").read_text().startswith("figure,")
    monkeypatch.setattr(partition_benchmark, "measure", lambda _: pytest.fail("run again"))
    assert STUDIES["grouping"].run(tmp_path, data="adult") == page


@pytest.mark.usefixtures("_small")
def test_a_run_is_the_loss_and_the_time_of_one_method():
    task = next(t for t in partition_tasks.tasks_for("adult", full=False) if t["name"] == "greedy")
    row = partition_benchmark.measure(task)
    assert 0 < row["loss"] < task["width"]
    assert row["seconds"] > 0


@pytest.mark.usefixtures("_small")
def test_rows_are_drawn_by_seed_and_attributes_added_in_order():
    first, again, other = (numbered.numbered("adult", 20, 3, seed) for seed in (0, 0, 1))
    assert first.to_arrow().equals(again.to_arrow())
    assert not first.to_arrow().equals(other.to_arrow())
    assert first.quasi == ("c0", "c1", "c2")


def runs(draws=5, **losses):
    """Rows of figure 3.7 for k = 5 and 100: by method, (loss at 5, loss at 100) in each draw.

    The draws differ by a factor that all methods share, except the first method: by 1 % more.
    """
    first = next(iter(losses))
    return [
        {
            "figure": "3.7", "rows": 9, "width": 8, "k": k, "seed": seed, "seconds": 1.0,
            "method": method.replace("_", "-"),
            "loss": loss * (1 + seed) * (1 + 0.01 * seed * (method == first)),
        }
        for method, pair in losses.items()
        for k, loss in zip((5, 100), pair, strict=True)
        for seed in range(draws)
    ]  # fmt: skip


def claim(figure, begins):
    (found,) = [c for c in CLAIMS if c.figure == figure and c.text.startswith(begins)]
    return found


def test_a_ratio_is_taken_draw_by_draw_and_averaged_over_settings():
    rows = runs(draws=1, greedy=(1.0, 4.0), k_member=(2.0, 2.0))
    assert ratio(rows, "greedy", "k-member").value == pytest.approx(1)  # (1/2 · 2) ** (1/2)
    assert ratio(rows, "greedy", "k-member", k=5).value == pytest.approx(0.5)
    five = ratio(runs(greedy=(1.0, 1.0), k_member=(2.0, 2.0)), "greedy", "k-member")
    middle = np.log(0.5) + np.mean(np.log(1 + 0.01 * np.arange(5)))
    assert five.value == pytest.approx(np.exp(middle))
    assert five.low < five.value < five.high
    assert five.draws == 5


@pytest.mark.parametrize(
    ("greedy", "word"),
    [((1.0, 0.9), "agrees"), ((1.0, 1.1), "disagrees"), ((1.0, 0.985), "undecided")],
)
def test_a_method_outperforms_another_only_if_the_interval_is_clear_of_1(greedy, word):
    large = claim("3.7", "K-Member loses more")
    assert large.judge(runs(greedy=greedy, k_member=(1.0, 1.0))).word == word


def test_four_draws_decide_nothing():
    rows = runs(draws=4, greedy=(1.0, 0.5), k_member=(1.0, 1.0))
    assert claim("3.7", "K-Member loses more").judge(rows).word == "undecided"


def test_a_method_that_falls_behind_does_so_in_every_draw():
    behind = claim("3.7", "Mondrian falls")
    assert behind.judge(runs(mondrian=(2.0, 9.0), greedy=(1.0, 1.0))).word == "agrees"
    assert behind.judge(runs(mondrian=(9.0, 2.0), greedy=(1.0, 1.0))).word == "disagrees"
    assert behind.judge(runs(mondrian=(2.0, 2.0), greedy=(1.0, 1.0))).word != "agrees"


def test_a_claim_without_rows_is_undecided():
    for each in CLAIMS:
        assert each.judge([]).word == "undecided"


def test_every_figure_of_a_claim_is_drawn():
    assert {claim.figure for claim in CLAIMS} <= set(sections.TITLES)


def test_a_run_that_was_interrupted_leaves_the_finished_ones(tmp_path):
    def measure(task):
        if task["n"] == 2:
            raise KeyboardInterrupt
        return {"loss": task["n"]}

    tasks = [{"n": n} for n in range(4)]
    with pytest.raises(KeyboardInterrupt):
        measure_all(tasks, measure, tmp_path)
    kept = [json.loads(path.read_text())["n"] for path in tmp_path.iterdir()]
    assert sorted(kept) == [0, 1]


def test_rows_without_a_loss_do_not_count():
    row = {"figure": "3.2", "loss": 1.0}
    assert of_figure([row, {**row, "loss": None}, {**row, "figure": "3.3"}], "3.2") == [row]


def test_every_setting_is_drawn_five_times_or_more():
    for sizes in (Sizes(), partition_tasks.PUBLISHED):
        assert min(sizes.draws, sizes.draws_3_2) >= 5
