"""What can be asked of a comparison, on rows that one can check by eye."""

import re

import pyarrow.csv
import pytest
from tests.comparison.tasks import Whole

from shoal import KAnonymity
from shoal.comparison import Comparison, Outcome, Trial
from shoal.errors import InputError, OutputError


def trial(k):
    return Trial(Whole(), KAnonymity(k), 0)


def outcome(k, risk, ncp, **more):
    figures = {"search seconds": 1.0, "verify seconds": 0.5, "peak MB": 90.0, "cpu seconds": 1.2}
    return Outcome(
        {
            "method": "whole",
            "options": {"note": "a"},
            "model": f"k-anonymity(k={k})",
            "k": k,
            "seed": 0,
            "status": "done",
            "reason": "",
            "records": 10,
            "suppressed": 1,
            "highest risk": risk,
            "average risk": risk / 2,
            **figures,
            "metrics": {"ncp": ncp, **more},
            "measures": {"accuracy": 1 - ncp},
        }
    )


@pytest.fixture
def found():
    runs = [
        (2, outcome(2, 1 / 2, 0.1, precision=0.3)),
        (3, outcome(3, 1 / 3, 0.2)),
        (4, outcome(4, 1 / 3, 0.4, precision=0.5)),
        (5, outcome(5, 1 / 5, 0.3, precision=0.2)),
        (9, Outcome(None, "stopped after the time limit of 3 seconds")),
    ]
    return Comparison.of([(trial(k), left) for k, left in runs], ["accuracy"])


def sizes(rows):
    return [row["k"] for row in rows]


def test_releases_are_ranked_by_one_loss_for_all_methods(found):
    assert found.ranking_loss == "ncp"  # the only metric besides precision
    runs = [(3, outcome(3, 1 / 3, 0.1, **{"hierarchy-ncp": 0.9})),
            (4, outcome(4, 1 / 3, 0.4, **{"hierarchy-ncp": 0.5}))]  # fmt: skip
    both = Comparison.of([(trial(k), left) for k, left in runs])
    assert both.ranking_loss == "hierarchy-ncp"
    assert (sizes(both.front()), both.best()["k"]) == ([4], 4)
    assert sizes(both.front("ncp")) == [3]
    assert Comparison.of([]).ranking_loss is None


def test_the_front_holds_what_no_other_beats_by_rising_risk(found):
    assert sizes(found.front()) == [5, 3, 2]
    assert sizes(found.front("precision")) == [5]
    assert sizes(found.front(risk="accuracy")) == [4, 5, 3, 2]


def test_the_best_is_the_least_or_the_most_of_a_column(found):
    assert found.best()["k"] == 2
    assert found.best("precision")["k"] == 5
    assert found.best("accuracy", highest=True)["k"] == 2
    assert found.best(at_most={"highest risk": 0.4})["k"] == 3
    assert found.best(at_most={"highest risk": 0.4, "precision": 0.2})["k"] == 5


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda found: found.best("speed"), "no column 'speed'"),
        (lambda found: found.front(risk="danger"), "no column 'danger'"),
        (
            lambda found: found.best(at_most={"highest risk": 0.1}),
            "with ncp within the limits of highest risk",
        ),
        (lambda found: Comparison((), ()).best(), "no metric to choose by"),
    ],
)
def test_what_is_not_there_is_refused(found, ask, match):
    with pytest.raises(InputError, match=match):
        ask(found)


def test_a_run_that_failed_has_its_row(found):
    row = found.rows[-1]
    assert (row["method"], row["k"], row["status"]) == ("whole", 9, "failed")
    assert row["reason"] == "stopped after the time limit of 3 seconds"
    assert row["ncp"] is None
    assert repr(found) == "Comparison(done=4, failed=1)"


def test_the_table_is_tidy(found, tmp_path):
    table = found.to_arrow()
    assert table.num_rows == len(found) == 5
    assert table.column("options").to_pylist() == ['{"note": "a"}'] * 4 + ["{}"]
    assert table.column("k").to_pylist() == [2, 3, 4, 5, 9]
    assert table.column("precision").to_pylist() == [0.3, None, 0.5, 0.2, None]
    assert list(found.to_pandas().columns) == found.to_polars().columns == table.column_names
    found.write(tmp_path / "runs.csv")
    assert pyarrow.csv.read_csv(tmp_path / "runs.csv").column("k").to_pylist() == [2, 3, 4, 5, 9]


@pytest.mark.parametrize(("ending", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_a_picture_is_drawn_by_its_ending(found, tmp_path, ending, begins):
    found.picture(tmp_path / f"runs.{ending}")
    assert (tmp_path / f"runs.{ending}").read_bytes().startswith(begins)


def test_the_picture_names_the_front(found, tmp_path):
    found.picture(tmp_path / "runs.svg")
    drawn = (tmp_path / "runs.svg").read_text()
    assert "4 releases" in drawn
    assert re.findall(r">whole *(k = \d+)<", drawn)[:3] == ["k = 2", "k = 3", "k = 5"]
    assert "k = 4" not in drawn
    assert "loss (ncp)" in drawn
    found.picture(tmp_path / "runs.svg", loss="precision", risk="average risk", force=True)
    drawn = (tmp_path / "runs.svg").read_text()
    assert "3 releases" in drawn
    assert "loss (precision)" in drawn


def test_the_page_fetches_nothing_and_offers_every_metric(found, tmp_path):
    found.picture(tmp_path / "runs.html")
    page = (tmp_path / "runs.html").read_text(encoding="utf-8")
    assert "<script src" not in page
    assert "<link" not in page
    assert not re.search(r"""(src|href)\s*=\s*["']https?:""", page)
    assert re.search(r'"options": ?\["ncp", ?"precision"\]', page)


def test_pictures_that_cannot_be_drawn_are_refused(found, tmp_path):
    (tmp_path / "mine.svg").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        found.picture(tmp_path / "mine.svg")
    assert (tmp_path / "mine.svg").read_text() == "mine"
    failed = Comparison(found.rows[-1:], ("ncp",))
    with pytest.raises(InputError, match="no release to draw"):
        failed.picture(tmp_path / "runs.svg")
    assert not (tmp_path / "runs.svg").exists()


def test_notebooks_show_the_runs_and_their_front(found):
    page = found._repr_html_()
    assert page.count("<tr>") == 1 + len(found)
    assert f"Ranked by {found.ranking_loss}" in page
    points = found.chart().to_dict()
    assert "layer" in points or "vconcat" in points or "mark" in points
    import pyarrow as pa

    assert pa.table(found).equals(found.to_arrow())
