"""Advice is measured: every alternative is a request that can be made, and keeps what it says."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.comparison.advice import advise

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")


def crowd(rows=300, noise=1, seed=2):
    """People with two coarse columns and `noise` columns in which everyone is different."""
    draw = np.random.default_rng(seed)
    columns = {f"noise{n}": draw.permutation(rows) for n in range(noise)}
    columns |= {"sex": draw.choice(["f", "m"], rows), "year": draw.integers(2000, 2004, rows)}
    return pa.table({**columns, "ill": draw.choice(["flu", "gout"], rows)})


def released(frame, **options):
    quasi = [name for name in frame.column_names if name != "ill"]
    return shoal.anonymize(frame, k=5, quasi=quasi, sensitive="ill", **options)


def kept(release, columns):
    lost = shoal.metrics.ncp_by_attribute(release)
    return sum(1 - loss for loss in lost.values()) / columns


def test_a_table_that_fits_the_sample_is_measured_exactly():
    frame = crowd(noise=3)
    release = released(frame, method="flash", max_suppression=0)
    found = advise(release, people=1_000)
    assert found.people == 300
    assert found.now.kept == pytest.approx(kept(release, 5))
    for each in found.alternatives:
        if each.options[0] == "--identifier":
            left = [n for n in frame.column_names if n not in each.options[1].split(",")]
            assert each.kept == pytest.approx(
                kept(released(frame.select(left), method="flash", max_suppression=0), 5)
            )
        elif each.options[0] == "--method":
            assert each.kept == pytest.approx(kept(released(frame, method=each.options[1]), 5))
    changes = [each.change for each in found.alternatives]
    assert "method mondrian" in changes
    assert all(each.kept > found.now.kept for each in found.alternatives)
    assert [each.kept for each in found.alternatives] == sorted(
        (each.kept for each in found.alternatives), reverse=True
    )


def test_people_are_sampled_with_all_their_rows():
    draw = np.random.default_rng(4)
    frame = pa.table({
        "who": np.repeat(np.arange(100), 3), "day": draw.integers(0, 300, 300),
        "ward": draw.choice(list("abcd"), 300), "ill": draw.choice(["flu", "gout"], 300),
    })  # fmt: skip
    options = {"quasi": ["ward", "day"], "sensitive": "ill", "person": "who", "method": "flash"}
    release = shoal.anonymize(frame, k=5, **options)
    found = advise(release, people=100)
    assert found.people == 100
    assert found.now.kept == pytest.approx(kept(release, 2))
    assert advise(release, people=40).people == 40


def test_the_order_of_the_rows_does_not_change_the_advice():
    frame = crowd(noise=2)
    shuffled = frame.take(np.random.default_rng(9).permutation(300))
    one, other = (advise(released(each, method="flash"), people=80) for each in (frame, shuffled))
    assert [each.change for each in one.alternatives] == [
        each.change for each in other.alternatives
    ]
    assert one.now.kept == pytest.approx(other.now.kept)


def test_the_command_line_advises_on_request_and_on_poor_releases(tmp_path, monkeypatch, capsys):
    from shoal.cli import main

    monkeypatch.chdir(tmp_path)
    import pyarrow.csv as csv

    csv.write_csv(crowd(noise=3), "people.csv")
    words = (
        "people.csv --quasi noise0,noise1,noise2,sex,year --sensitive ill -k 5 -o out.csv --json"
    )

    def run(*more):
        monkeypatch.setattr("sys.argv", ["shoal", "anonymize", *words.split(), "--force", *more])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        return json.loads(capsys.readouterr().out)

    poor = run("--method", "flash", "-O", "max_suppression=0")
    assert poor["advice"]["alternatives"][0]["kept"] > 1 - poor["loss"]["ncp"]
    best = poor["advice"]["alternatives"][0]
    again = run(*shlex.split(shlex.join(best["options"])))
    assert again["verified"]
    assert 1 - again["loss"]["ncp"] > 1 - poor["loss"]["ncp"]
    rich = run("--method", "mondrian")
    assert (rich["advice"] is None) == (1 - rich["loss"]["ncp"] >= 0.7)
    assert run("--advise")["advice"]["people"] == 300


def test_there_is_no_advice_on_rows_that_are_not_in_memory(tmp_path):
    import pyarrow.csv as csv

    csv.write_csv(crowd(), tmp_path / "people.csv")
    roles = {"noise0": "quasi", "sex": "quasi", "year": "quasi", "ill": "sensitive"}
    release = shoal.anonymize(shoal.open(tmp_path / "people.csv", roles=roles), k=5)
    assert advise(release) is None
