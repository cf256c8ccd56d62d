"""Claims of the studies of robust predictions, on rows made by hand."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

pytest.importorskip("torch")

from studies.robust import appendix, published, tidy
from studies.robust.claims import claims_for
from studies.robust.figures import ahead, difference, is_whole, mean_over_draws, own_share, share
from studies.robust.own_answers import less_right_between
from studies.robust.setup import PUBLISHED
from studies.verdicts import above, decide

pytestmark = pytest.mark.slow


def judged(right, *, data="mnist", stage="single", outcome="target", pictures=9, **settings):
    """Return a stage in which each picture has ten examples, of which so many stay right."""
    shares = [right] * pictures if isinstance(right, int) else right
    named = [("correct" if n < hits else outcome) for hits in shares for n in range(10)]
    samples = [place for place in range(len(shares)) for _ in range(10)]
    columns = {"sample": samples, "outcome": named, "perturbation": [0.2] * len(named)}
    return {
        **asdict(PUBLISHED[data]), "stage": stage, "model": "plain", **settings, "vote_clean": 1.0,
        "vote_attacked": named.count("correct") / len(named), "single_clean": 0.97,
        "single_attacked": 0.5, "enough": 1.0, "columns": columns,
    }  # fmt: skip


def verdict_on(rows, text, data="mnist"):
    (claim,) = [claim for claim in claims_for(data) if text in claim.text]
    return claim.judge(rows)


@pytest.mark.parametrize(
    ("right", "word"),
    [
        ([9, 9, 8, 9, 9] * 60, "agrees"),  # 88 % of 300 pictures, published 88.4 %
        (9, "undecided"),  # 90 % of nine pictures, which could be 80 % of others
        (2, "disagrees"),
    ],
)
def test_a_published_share_is_compared_with_the_interval_over_pictures(right, word):
    verdict = verdict_on([judged(right)], "example: the vote without noise stays right on 88.4 %")
    assert verdict.word == word
    assert "88.4 % published" in verdict.found


def test_a_study_of_other_size_judges_no_published_share():
    row = judged(9)
    assert is_whole([row])
    assert is_whole([{**row, "precision": "bfloat16", "queries": 3}])
    others = {"networks": 49, "epochs": 10, "samples": 3, "data": "digits", "steps": 99, "rate": 1}
    for name, value in others.items():
        assert not is_whole([{**row, name: value}])
    far = {**judged(2), "networks": 49}
    assert verdict_on([far], "example: the vote without noise stays right").word == "undecided"


@pytest.mark.parametrize(
    ("once", "many", "word"),
    [
        ([8, 9, 8, 9, 8], [2, 3, 3, 2, 3], "disagrees"),  # every picture loses
        ([2, 3, 3, 2, 3], [8, 9, 8, 9, 8], "agrees"),
        ([5, 6, 4, 5, 6], [6, 4, 5, 6, 5], "undecided"),  # now one, now the other
        ([8, 9, 8, 9], [2, 3, 3, 2], "undecided"),  # four pictures
    ],
)
def test_averaging_is_judged_by_what_the_same_pictures_lose(once, many, word):
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(right)}
        for name, right in (("queries", once), ("averages", many))
    ]
    verdict = verdict_on(rows, "Averaging many queries does not help")
    assert verdict.word == word
    assert "16 queries" in verdict.found


def test_an_attacker_who_knows_the_defence_is_reported_by_the_worst_case():
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(right)}
        for name, right in (("copy", 6), ("further", 4), ("queries", 9), ("averages", 1))
    ]
    verdict = verdict_on(rows, "hold equally against an attacker who knows them")
    assert verdict.word == "disagrees"
    assert "queries the defended vote 16 times per step and takes the mean" in verdict.found
    assert "right on 10.0 %" in verdict.found


@pytest.mark.parametrize(
    ("right", "word"), [(0, "disagrees"), (10, "agrees"), ([2, 9, 5, 2, 9], "undecided")]
)
def test_continuing_with_a_copy_is_judged_by_what_is_left_right(right, word):
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(answers)}
        for name, answers in (("copy", 6), ("further", right))
    ]
    verdict = verdict_on(rows, "has a copy and continues after it is fooled")
    assert verdict.word == word
    assert "of a picture's length" in " ".join(verdict.found.split())


def test_what_was_not_run_is_undecided():
    for data in ("mnist", "cifar10"):
        for claim in claims_for(data):
            verdict = claim.judge([])
            assert verdict.word == "undecided"
            assert verdict.found == "not enough runs"


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [
        ([2.0, 1.99, 2.0, 1.99, 2.0], [2.0] * 5, "agrees"),
        ([2.1, 2.2, 2.1, 2.2, 2.1], [2.0] * 5, "disagrees"),
        ([1.5, 2.5, 1.5, 2.5, 2.0], [2.0] * 5, "undecided"),
        ([None] * 5, [2.0] * 5, "undecided"),
    ],
)
def test_searches_are_compared_picture_by_picture(ours, theirs, word):
    settings = {"first": 0, "last": 9, "model": "plain", "success": 1.0, "seconds": 3.0}
    rows = [
        {**settings, "stage": stage, "lengths": lengths}
        for stage, lengths in (("closer", ours), ("craft", theirs))
    ]
    assert verdict_on(rows, "A search that ends sooner").word == word


@pytest.mark.parametrize(
    ("sizes", "mnist", "cifar10"),
    [
        (lambda plain: plain, "disagrees", "agrees"),
        (lambda plain: 3 * plain, "disagrees", "disagrees"),  # all larger
        (lambda plain: plain / 3, "disagrees", "disagrees"),  # all smaller
        (lambda plain: np.where(np.arange(90) % 10 < 4, 0.05, plain * 1.4), "agrees", "disagrees"),
    ],
)
def test_sizes_are_unchanged_only_if_they_are_alike(sizes, mnist, cifar10):
    plain = np.linspace(0.1, 0.3, 90).reshape(10, 9).T.ravel()  # of each picture, ten sizes
    rows = [judged(9), judged(9, model="noisy")]
    rows[0]["columns"]["perturbation"] = plain.tolist()
    rows[1]["columns"]["perturbation"] = sizes(plain).tolist()
    assert verdict_on(rows, "Noise spreads the perturbations").word == mnist
    assert verdict_on(rows, "Noise does not change the sizes", "cifar10").word == cifar10


def trained(*, single=0.9, vote=0.97, noisy=0.8, noisy_vote=0.95, validation=400):
    return {
        "stage": "train", "validation": validation, "single_plain": [single], "vote_plain": vote,
        "single_noisy": [noisy], "vote_noisy": noisy_vote,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "word"),
    [
        (trained(), "agrees"),
        (trained(vote=0.8), "disagrees"),
        (trained(single=0.998, vote=1.0), "undecided"),  # all 400 right, as 0.998 could be
    ],
)
def test_a_vote_that_is_all_right_is_not_certain(row, word):
    assert verdict_on([row], "The vote is right more often than one network").word == word


@pytest.mark.parametrize(
    ("row", "word"),
    [
        (trained(), "agrees"),
        (trained(noisy_vote=0.85), "disagrees"),
        (trained(noisy=0.9), "undecided"),
    ],
)
def test_what_is_not_lost_is_not_compensated(row, word):
    assert verdict_on([row], "The vote compensates").word == word


def swept(*rows, noise=0.5, draws=6, step=0.01):
    """Return a sweep by deviation (of the study's), shape, networks, clean and attacked.

    The draws differ a little: by one step, in turn up and down.
    """
    names = ("distribution", "networks", "vote_clean", "vote_attacked")
    return {
        "stage": "sweep", "noise": noise,
        "swept": [
            {"draw": draw, "deviation": part * noise * 2**0.5, "scale": part * noise,
             "single_clean": 0.5, "vote_target": 0.1, **dict(zip(names, row, strict=True)),
             "vote_clean": row[2] + step * (draw % 2) * (row[1] > 1),
             "vote_attacked": row[3] + step * (draw % 3) * (part > 0)}
            for part, *row in rows
            for draw in range(draws)
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("one", "fifty", "draws", "word"),
    [
        (0.8, 0.97, 6, "agrees"),
        (0.9, 0.8, 6, "disagrees"),
        (0.9, 0.894, 6, "undecided"),
        (0.8, 0.97, 4, "undecided"),
    ],
)
def test_networks_compensate_only_if_the_gain_is_clear_of_0(one, fifty, draws, word):
    sweep = swept((1, "laplace", 1, one, 0.1), (1, "laplace", 50, fifty, 0.1), draws=draws)
    assert verdict_on([sweep], "More networks compensate").word == word
    alone = swept((1, "laplace", 50, fifty, 0.1))
    assert verdict_on([alone], "More networks compensate").word == "undecided"


@pytest.mark.parametrize(("normal", "word"), [(0.51, "agrees"), (0.8, "disagrees")])
def test_shapes_are_equal_if_every_difference_is_small(normal, word):
    shapes = [(1, "laplace", 50, 0.9, 0.5), (1, "normal", 50, 0.91, normal)]
    sweep = swept(*shapes)
    for row in sweep["swept"]:  # pictures that do not all differ by the same
        row["vote_clean"] += 0.001 * (row["draw"] % 4) * (row["distribution"] == "normal")
        row["vote_attacked"] += 0.001 * (row["draw"] % 4) * (row["distribution"] == "normal")
    assert verdict_on([sweep], "At one standard deviation").word == word


@pytest.mark.parametrize(("none", "word"), [(0.1, "agrees"), (0.9, "disagrees")])
def test_noise_is_chosen_on_some_pictures_and_tested_on_others(none, word):
    rows = [(0, "laplace", 50, 0.9, none), (1, "laplace", 50, 0.9, 0.6)]
    worse = (2, "laplace", 50, 0.9, 0.3)
    sweep = swept(*rows, worse, draws=10)
    assert verdict_on([sweep], "Some noise is better").word == word
    assert verdict_on([swept(*rows, worse, draws=9)], "Some noise is better").word == "undecided"


@pytest.mark.parametrize(
    ("noisy", "plain", "copied", "word"),
    [
        ([9, 8] * 3, [1, 2] * 3, 0.2, "disagrees"),
        ([9, 8] * 3, [1, 2] * 3, 0.95, "agrees"),
        ([0] * 6, [0] * 6, 0.0, "undecided"),  # it protects from neither
        ([9], [1], 0.95, "undecided"),  # one picture
    ],
)
def test_noise_that_protects_from_nothing_does_not_protect_equally(noisy, plain, copied, word):
    rows = [
        judged(right, stage="superimposed", count=3, model=model)
        for model, right in (("noisy", noisy), ("plain", plain))
    ]
    sweep = swept((1, "laplace", 50, 0.97, copied), draws=len(noisy))
    assert verdict_on([*rows, sweep], "Noise protects equally").word == word


def test_accuracy_between_two_sizes_leaves_other_examples_out():
    plain, noisy = judged(9), judged(9, model="noisy")
    noisy["columns"]["perturbation"] = [0.2 if n % 10 in (8, 9) else 0.5 for n in range(90)]
    word, found = less_right_between(0.1, 0.3)([plain, noisy])
    assert word == "agrees"
    assert found.startswith("90.0 % without noise, 50.0 % with it; the difference lies between")


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


def test_a_difference_over_few_pictures_decides_nothing():
    one = difference({0: 1.0, 4: 0.0}, {0: 0.0, 5: 1.0})
    assert (one.value, one.draws) == (1.0, 1)
    assert decide(one, above(0)) == "undecided"
    five = difference(dict(enumerate((1.0, 0.9, 1.0, 0.9, 1.0))), dict.fromkeys(range(5), 0.0))
    assert decide(five, above(0)) == "agrees"


@pytest.mark.parametrize(
    ("pictures", "word"), [(2, "undecided"), (5, "undecided"), (6, "agrees"), (9, "agrees")]
)
def test_a_few_pictures_that_all_differ_by_the_same_decide_nothing(pictures, word):
    gap = ahead(judged([7] * pictures), judged([3] * pictures))
    assert decide(gap, above(0)) == word
    assert -1 <= gap.low <= gap.high <= 1
    assert mean_over_draws([0.5] * 5).high == np.inf


def test_answers_of_attacked_networks_are_counted_by_hand():
    columns = {
        "sample": [0, 0, 1],
        "goal": [1, 2, 0],
        "label": [0, 0, 3],
        "named": [[1, 0, 0], [1, 5, 3]],
        "perturbation": [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]],
    }
    settings = {"columns": columns}
    assert own_share(settings, "goal").value == pytest.approx(3 / 6)
    assert own_share(settings, "label").value == pytest.approx(2 / 6)
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


def answered(voted, *, model, count, labels=(7, 2)):
    """Return sums of some pictures in which the vote names one class for each picture."""
    pairs = [
        (place, goal) for place, label in enumerate(labels) for goal in range(10) if goal != label
    ]
    columns = {
        "sample": [place for place, _ in pairs],
        "label": [labels[place] for place, _ in pairs],
        "goal": [goal for _, goal in pairs],
        "voted": [voted(labels[place], goal) for place, goal in pairs],
    }
    settings = {**asdict(PUBLISHED["mnist"]), "stage": "superimposed", "model": model}
    return {**settings, "count": count, "columns": columns}


def test_answers_to_two_pictures_are_listed_beside_those_in_print_and_decide_nothing():
    rows = [
        answered(lambda label, _: label, model=model, count=count)
        for model in ("plain", "noisy")
        for count in (2, 3)
    ]
    rows.append({**asdict(PUBLISHED["mnist"]), "stage": "single", "model": "plain"})
    listed = appendix.sample_rows(rows, "mnist")
    assert [(row["label"], row["goal"]) for row in listed[:2]] == [(7, 0), (7, 1)]
    assert listed[1]["two, without noise, published"] == 2
    assert listed[1]["two, without noise"] == 7
    printed = "".join("".join(each) for each in appendix.PRINTED["mnist"].values())
    assert len(printed) == 72
    found = verdict_on(rows, "a seven and a two")
    assert found.word == "undecided"
    # in print 5 + 9 + 0 + 9 answers to the seven are right, and 6 + 8 + 2 + 6 to the two
    assert "62.5 % of 72 answers" in found.found
    assert "72 are right here, 45 in print; 2 pictures are too few" in found.found


def test_pictures_without_the_printed_labels_are_not_listed():
    rows = [answered(lambda label, _: label, model="plain", count=3, labels=(0, 1))]
    assert appendix.sample_rows(rows, "mnist") == []
    assert verdict_on(rows, "a seven and a two").found == "not enough runs"
