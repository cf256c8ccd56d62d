"""A sweep shows what noise costs and what it buys."""

from __future__ import annotations

import pytest
import torch

from shoal.errors import InputError
from shoal.robust import FGSM, EnsembleVote, NoisyLogit, choose, judge, sweep


@pytest.fixture(scope="module")
def attack(digits):
    images, goals = digits[0][1000:1040], (digits[1][1000:1040] + 1) % 10
    return lambda model: FGSM(epsilon=0.2).run(model, images, goals)


@pytest.fixture(scope="module")
def swept(ensemble, digits, attack):
    images, labels = digits[0][1000:1200], digits[1][1000:1200]
    return sweep(
        ensemble, images, labels, attack(ensemble), labels[:40],
        scales=[0.0, 2.0], distributions=["laplace", "uniform"], networks=[1, 3],
    )  # fmt: skip


def test_every_setting_has_its_row(swept):
    rows = swept.to_pylist()
    assert [(row["distribution"], row["scale"], row["networks"]) for row in rows] == [
        (shape, scale, count)
        for shape in ("laplace", "uniform")
        for scale in (0.0, 2.0)
        for count in (1, 3)
    ]
    assert rows[3]["deviation"] == pytest.approx(2 * 2**0.5)


def test_without_noise_it_is_the_plain_evaluation(swept, ensemble, digits, attack):
    row = swept.to_pylist()[1]
    images, labels = digits[0][1000:1200], digits[1][1000:1200]
    voted = EnsembleVote(ensemble)
    assert row["vote_clean"] == pytest.approx(float(voted.accuracy(images, labels)))
    assert row["single_clean"] == pytest.approx(float(ensemble.accuracy(images, labels).mean()))
    judged = judge(attack(ensemble), labels[:40], voted)
    assert row["vote_attacked"] == pytest.approx(judged.accuracy_attacked)


def test_much_noise_costs_accuracy(swept):
    clean = {(r["distribution"], r["scale"]): r["vote_clean"] for r in swept.to_pylist()}
    assert clean["laplace", 2.0] < clean["uniform", 2.0] < clean["laplace", 0.0]


def test_an_attack_can_be_made_on_each_noisy_model(ensemble, digits, attack):
    seen = []

    def craft(model):
        seen.append(model)
        return attack(model)

    sweep(ensemble, digits[0][:9], digits[1][:9], craft, digits[1][1000:1040], scales=[0.1, 0.2])
    assert [type(model) for model in seen] == [NoisyLogit, NoisyLogit]
    assert [model.scale for model in seen] == [0.1, 0.2]


def test_the_choice_holds_best_among_the_accurate(swept):
    chosen = choose(swept, least_accuracy=0.5)
    fit = [row for row in swept.to_pylist() if row["vote_clean"] >= 0.5]
    assert chosen["vote_attacked"] == max(row["vote_attacked"] for row in fit)
    with pytest.raises(InputError, match="no setting reaches"):
        choose(swept, least_accuracy=1)
    with pytest.raises(InputError, match="least_accuracy must be 0 or more and at most 1"):
        choose(swept, least_accuracy=95)


def test_a_sweep_comes_again(ensemble, digits, attack):
    def once():
        return sweep(ensemble, digits[0][:50], digits[1][:50], attack(ensemble),
                     digits[1][1000:1040], scales=[0.3])  # fmt: skip

    assert once().equals(once())


def test_no_more_networks_than_there_are(ensemble, digits, attack):
    with pytest.raises(InputError, match="from 1 to 3"):
        sweep(ensemble, digits[0][:2], torch.tensor([0, 1]), attack(ensemble),
              digits[1][1000:1040], scales=[0], networks=[4])  # fmt: skip
