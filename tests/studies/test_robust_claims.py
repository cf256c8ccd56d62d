"""Claims of the studies of robust predictions, on rows made by hand."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

pytest.importorskip("torch")

from studies.robust import published, tidy
from studies.robust.claims import claims_for
from studies.robust.figures import above, ahead, difference, is_whole, own_share, share
from studies.robust.own_answers import less_right_between
from studies.robust.setup import PUBLISHED

pytestmark = pytest.mark.slow


def judged(right, *, data="mnist", stage="single", outcome="target", pictures=9, **told):
    """Return a stage in which each picture has ten examples, of which so many stay right."""
    shares = [right] * pictures if isinstance(right, int) else right
    named = [("correct" if n < hits else outcome) for hits in shares for n in range(10)]
    samples = [place for place in range(len(shares)) for _ in range(10)]
    columns = {"sample": samples, "outcome": named, "perturbation": [0.2] * len(named)}
    return {
        **asdict(PUBLISHED[data]), "stage": stage, "model": "plain", **told, "vote_clean": 1.0,
        "vote_attacked": named.count("correct") / len(named), "single_clean": 0.97,
        "single_attacked": 0.5, "enough": 1.0, "columns": columns,
    }  # fmt: skip


def told_by(rows, text, data="mnist"):
    (claim,) = [claim for claim in claims_for(data) if text in claim.text]
    return claim.judge(rows)


@pytest.mark.parametrize(
    ("right", "holds"),
    [
        (9, True),  # 90 %, published 88.4 %
        (5, False),
        ([10, 10, 10, 0, 10, 10, 0, 10, 10], None),  # 77.8 %, with too few pictures to tell
    ],
)
def test_a_published_share_is_held_against_the_interval_over_pictures(right, holds):
    verdict = told_by([judged(right)], "example: the vote without noise stays right on 88.4 %")
    assert verdict.holds is holds
    assert "88.4 % published" in verdict.found


def test_a_study_of_other_size_judges_no_published_share():
    row = judged(9)
    assert is_whole([row])
    assert is_whole([{**row, "precision": "bfloat16", "queries": 3}])
    others = {"networks": 49, "epochs": 10, "samples": 3, "data": "digits", "steps": 99, "rate": 1}
    for name, value in others.items():
        assert not is_whole([{**row, name: value}])
    verdict = told_by([{**row, "networks": 49}], "example: the vote without noise stays right")
    assert verdict.holds is None


@pytest.mark.parametrize(
    ("once", "many", "holds"),
    [
        ([8, 9, 8], [2, 3, 3], False),  # every picture loses
        ([2, 3, 3], [8, 9, 8], True),
        ([5, 6, 4], [6, 4, 5], None),  # now one, now the other
    ],
)
def test_averaging_is_judged_by_what_the_same_pictures_lose(once, many, holds):
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(right)}
        for name, right in (("queries", once), ("averages", many))
    ]
    verdict = told_by(rows, "averaging is of no use")
    assert verdict.holds is holds
    assert "16 queries" in verdict.found


def test_one_who_knows_the_defence_is_told_of_by_the_worst_case():
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(right)}
        for name, right in (("copy", 6), ("further", 4), ("queries", 9), ("averages", 1))
    ]
    verdict = told_by(rows, "hold as well against one who knows them")
    assert verdict.holds is False
    assert "asks the defended vote 16 times a step and takes the mean leaves" in verdict.found
    assert "right on 10.0 %" in verdict.found


@pytest.mark.parametrize(("right", "holds"), [(0, False), (10, True), ([2, 9, 5], None)])
def test_going_further_with_a_copy_is_judged_by_what_is_left_right(right, holds):
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(answers)}
        for name, answers in (("copy", 6), ("further", right))
    ]
    verdict = told_by(rows, "goes further than fooling it takes")
    assert verdict.holds is holds
    assert "of a picture's length" in verdict.found


def test_what_was_not_run_is_left_open():
    for data in ("mnist", "cifar10"):
        for claim in claims_for(data):
            verdict = claim.judge([])
            assert verdict.holds is None
            assert verdict.found == "not enough runs to tell"


@pytest.mark.parametrize(
    ("ours", "theirs", "holds"),
    [(2.0, 2.0, True), (2.1, 2.0, False), (None, None, None), (2.0, None, None)],
)
def test_searches_that_reach_nothing_are_not_compared(ours, theirs, holds):
    told = {"first": 0, "last": 9, "model": "plain", "success": 1.0, "seconds": 3.0}
    rows = [
        {**told, "stage": stage, "distance": length}
        for stage, length in (("closer", ours), ("craft", theirs))
    ]
    assert told_by(rows, "A search that ends sooner").holds is holds


@pytest.mark.parametrize(
    ("sizes", "mnist", "cifar10"),
    [
        (lambda plain: plain, False, True),
        (lambda plain: 3 * plain, False, False),  # all larger
        (lambda plain: plain / 3, False, False),  # all smaller
        (lambda plain: np.concatenate([plain[:20] / 9, plain[20:] * 1.1]), True, False),
    ],
)
def test_sizes_are_left_alone_only_if_they_are_alike(sizes, mnist, cifar10):
    plain = np.linspace(0.1, 0.3, 90)
    rows = [judged(9), judged(9, model="noisy")]
    rows[0]["columns"]["perturbation"] = plain.tolist()
    rows[1]["columns"]["perturbation"] = sizes(plain).tolist()
    assert told_by(rows, "Noise spreads the perturbations").holds is mnist
    assert told_by(rows, "Noise leaves the sizes", "cifar10").holds is cifar10


def trained(*, single=0.9, vote=0.97, noisy=0.8, noisy_vote=0.95, validation=400):
    return {
        "stage": "train", "validation": validation, "single_plain": [single], "vote_plain": vote,
        "single_noisy": [noisy], "vote_noisy": noisy_vote,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (trained(), True),
        (trained(vote=0.8), False),
        (trained(single=0.998, vote=1.0), None),  # all 400 right, which 0.998 could be, too
    ],
)
def test_a_vote_that_is_all_right_is_not_certain(row, holds):
    assert told_by([row], "The vote is right more often than one network").holds is holds


@pytest.mark.parametrize(
    ("row", "holds"),
    [(trained(), True), (trained(noisy_vote=0.85), False), (trained(noisy=0.9), None)],
)
def test_what_was_not_lost_is_not_given_back(row, holds):
    assert told_by([row], "What noise costs a network").holds is holds


def swept(*rows, noise=0.5):
    """Return a sweep at the study's own noise, by networks, clean and attacked."""
    names = ("networks", "vote_clean", "vote_attacked")
    told = {"distribution": "laplace", "scale": noise, "deviation": noise * 2**0.5}
    return {
        "stage": "sweep", "noise": noise,
        "swept": [{**told, **dict(zip(names, row, strict=True))} for row in rows],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "holds"),
    [
        ([(1, 0.8, 0.1), (50, 0.97, 0.1)], True),
        ([(1, 0.9, 0.1), (50, 0.8, 0.1)], False),
        ([(1, 0.9, 0.1), (50, 0.901, 0.1)], None),
        ([(50, 0.9, 0.1)], None),
    ],
)
def test_a_hair_more_is_not_to_make_good(rows, holds):
    assert told_by([swept(*rows)], "More networks make good").holds is holds


@pytest.mark.parametrize(
    ("noisy", "plain", "copied", "holds"),
    [
        (9, 1, 0.2, False),
        (9, 1, 0.95, True),
        (0, 0, 0.0, None),  # it protects from neither
        ([9], [1], 0.95, None),  # one picture
    ],
)
def test_noise_that_protects_from_nothing_does_not_protect_as_well(noisy, plain, copied, holds):
    rows = [
        judged(right, stage="superimposed", count=3, model=model)
        for model, right in (("noisy", noisy), ("plain", plain))
    ]
    verdict = told_by([*rows, swept((50, 0.97, copied))], "Noise protects as well")
    assert verdict.holds is holds


def test_accuracy_between_two_sizes_leaves_other_examples_out():
    plain, noisy = judged(9), judged(9, model="noisy")
    noisy["columns"]["perturbation"] = [0.2 if n % 10 in (8, 9) else 0.5 for n in range(90)]
    holds, found = less_right_between(0.1, 0.3)([plain, noisy])
    assert holds is True
    assert found == "90.0 % without noise, 50.0 % with it"


several = st.lists(st.integers(0, 10), min_size=2, max_size=9)


@given(several)
@examples(50)
def test_differences_are_over_pictures(shares):
    first, second = judged(shares), judged([10 - hits for hits in shares])
    gap = ahead(first, second)
    assert gap.value == pytest.approx(np.mean([2 * hits - 10 for hits in shares]) / 10)
    assert gap.low <= gap.value <= gap.high
    assert ahead(second, first).value == pytest.approx(-gap.value)
    total = share(first).value + share(first, "target").value
    assert total == pytest.approx(1)


def test_a_difference_over_one_picture_says_nothing():
    assert above(difference({0: 1.0, 4: 0.0}, {0: 0.0, 5: 1.0})) is None
    assert above(difference({0: 1.0, 1: 0.99}, {0: 0.0, 1: 0.01})) is True
    assert above(difference({0: 0.0, 1: 0.01}, {0: 1.0, 1: 0.99})) is False


@pytest.mark.parametrize(("pictures", "holds"), [(2, None), (5, None), (6, True), (9, True)])
def test_a_few_pictures_that_all_differ_by_the_same_say_nothing(pictures, holds):
    gap = ahead(judged([7] * pictures), judged([3] * pictures))
    assert above(gap) is holds
    assert -1 <= gap.low <= gap.high <= 1


def test_answers_of_attacked_networks_are_counted_by_hand():
    columns = {
        "sample": [0, 0, 1],
        "goal": [1, 2, 0],
        "label": [0, 0, 3],
        "named": [[1, 0, 0], [1, 5, 3]],
        "perturbation": [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]],
    }
    told = {"columns": columns}
    assert own_share(told, "goal").value == pytest.approx(3 / 6)
    assert own_share(told, "label").value == pytest.approx(2 / 6)
    rows = [{"stage": "train", "temperatures": [1.0, 2.0]}]
    rows += [{"stage": "own", "model": model, "columns": columns} for model in ("plain", "noisy")]
    listed = tidy.own(rows)
    assert [row["answer"] for row in listed[:6]] == [
        "as wanted", "right", "as wanted", "as wanted", "something else", "right",
    ]  # fmt: skip
    shares = [row for row in tidy.own_bins(listed) if row["model"] == "with noise"]
    assert sum(row["share"] for row in shares) == pytest.approx(1)


@pytest.mark.parametrize("data", ["mnist", "cifar10"])
def test_published_tables_agree_with_each_other(data):
    for count, tables in published.CLASSIFICATIONS.items():
        for model, shares in tables[data].items():
            assert sum(shares) == pytest.approx(1, abs=2e-3), (count, model)
    for model, there in published.VOTE[data].items():
        found = published.CLASSIFICATIONS[1][data][model].correct
        assert found == pytest.approx(there.attacked, abs=1e-4)
