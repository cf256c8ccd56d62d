from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from shoal import Table
from shoal.experiments import EXPERIMENTS
from shoal.experiments.claims import StudyClaim
from shoal.experiments.partition_benchmark import numbered, sections
from shoal.experiments.partition_benchmark import study as partition_benchmark
from shoal.experiments.partition_benchmark import tasks as partition_tasks
from shoal.experiments.partition_benchmark.claims import CLAIMS, of_figure, ratio
from shoal.experiments.partition_benchmark.tasks import Sizes
from shoal.experiments.runs import measure_all

pytestmark = pytest.mark.slow

TINY = Sizes(
    draws=1, few=(8,), narrow=(3,), rows_3_3=(12, 16), k_3_3=(2, 3), rows_3_5=24,
    rows_3_6=(24,), base=24, k_3_7=(2, 5), widths_3_8=(4,), carry=5.0,
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
    page = EXPERIMENTS["partition-benchmark"].run(tmp_path, data="adult")
    text = page.read_text()
    assert text.count("<svg") == 2 * len(sections.TITLES)
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
    assert len(list((tmp_path / "runs").iterdir())) == len(tasks)
    assert (tmp_path / "figure-3-6.csv").read_text().startswith("figure,")
    monkeypatch.setattr(partition_benchmark, "measure", lambda _: pytest.fail("run again"))
    assert EXPERIMENTS["partition-benchmark"].run(tmp_path, data="adult") == page


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


def runs(figure="3.7", **losses):
    """Rows of a figure, for k = 5 and 100: (loss at 5, loss at 100) by method."""
    common = {"figure": figure, "rows": 9, "width": 8, "seed": 0}
    return [
        {**common, "k": k, "method": method.replace("_", "-"), "loss": loss, "seconds": 1.0}
        for method, pair in losses.items()
        for k, loss in zip((5, 100), pair, strict=True)
    ]


def test_a_ratio_is_taken_table_by_table():
    assert ratio(runs(greedy=(1.0, 3.0), k_member=(2.0, 4.0)), "greedy", "k-member") == 0.625


@pytest.mark.parametrize(
    ("greedy", "holds"), [((1.1, 0.9), True), ((0.9, 0.9), False), ((1.1, 1.1), False)]
)
def test_a_claim_is_judged_by_the_rows(greedy, holds):
    claim = next(c for c in CLAIMS if c.figure == "3.7" and c.text.startswith("K-Member"))
    assert claim.judge(runs(greedy=greedy, k_member=(1.0, 1.0))).holds is holds


def test_a_claim_without_rows_stays_open():
    for claim in CLAIMS:
        assert claim.judge([]).word == "open"


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


def test_a_claim_is_nothing_but_its_test():
    claim = StudyClaim("3.2", "text", lambda rows: (bool(rows), "found"))
    row = {"figure": "3.2", "loss": 1.0}
    assert claim.judge(of_figure([row], "3.2")).holds is True
    assert (
        claim.judge(of_figure([{**row, "loss": None}, {**row, "figure": "3.3"}], "3.2")).holds
        is False
    )
