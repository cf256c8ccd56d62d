"""FGSM, iterative FGSM, L-BFGS and JSMA against what can be told by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.examples import examples
from tests.robust.attacks.linear import drawn, linear
from tests.robust.closeness import close

from shoal.errors import InputError
from shoal.robust import ATTACKS, FGSM, JSMA, LBFGS, EnsembleVote, IterativeFGSM
from shoal.robust.attacks.attack import cross_entropy
from shoal.robust.attacks.gradient import best_pairs
from shoal.robust.attacks.lbfgs import minimized


@pytest.mark.parametrize("targeted", [True, False])
def test_fgsm_steps_along_the_sign_of_the_loss(targeted):
    model, weights, biases, originals = drawn(1)
    goals = torch.tensor([0, 1, 2, 0])
    found = FGSM(epsilon=0.05).run(model, originals, goals, targeted=targeted)
    for network in range(2):
        rows = originals.flatten(1).double()
        weight = weights[network].double()
        shares = (rows @ weight.T + biases[network].double()).softmax(-1)
        slope = (shares - torch.eye(3)[goals]) @ weight  # of the cross-entropy
        step = (-0.05 if targeted else 0.05) * slope.sign()
        changed = (found.adversarial[network] - originals).flatten(1).double()
        assert close(changed, step, atol=1e-6, rtol=0)


def test_iterative_fgsm_stays_near_and_stops_where_it_succeeds():
    model, *_, originals = drawn(2)
    goals = (model.labels(originals)[0] + 1) % 3
    found = IterativeFGSM(epsilon=0.3, steps=10).run(model, originals, goals)
    assert float((found.adversarial - originals).abs().max()) <= 0.3 + 1e-6
    assert found.success.any()
    assert torch.equal(found.success, model.logits(found.adversarial).argmax(-1) == goals)
    once = FGSM(epsilon=0.3).run(model, originals, goals)
    both = (
        found.success
        & once.success
        & ~torch.eq(found.adversarial, once.originals).flatten(2).all(2)
    )
    assert (found.distances[both] <= once.distances[both] + 1e-6).all()


@given(st.integers(0, 10**6), st.floats(0.1, 30))
@examples(4)
def test_all_examples_descend_to_where_scipy_does(seed, constant):
    model, *_, originals = drawn(seed)
    goals = torch.tensor([0, 1, 2, 0])
    start = model.spread(originals).flatten(2)

    def objective(pixels):
        logits = model.logits(pixels.view(2, 4, 1, 2, 3).float())
        return (pixels - start).square().sum(2) + constant * cross_entropy(model, logits, goals)

    found = minimized(objective, start, (0.0, 1.0), 60, 8)
    values = objective(found)
    for network in range(2):
        for row in range(2):

            def one(pixels, network=network, row=row):
                given_all = start.double().clone()
                given_all[network, row] = torch.tensor(pixels)
                given_all.requires_grad_()
                value = objective(given_all)[network, row]
                (slope,) = torch.autograd.grad(value, given_all)
                return float(value.detach()), slope[network, row].numpy()

            exact = minimize(one, start[network, row].double().numpy(), jac=True,
                             bounds=[(0, 1)] * 6, method="L-BFGS-B")  # fmt: skip
            assert float(values[network, row]) <= exact.fun * (1 + 1e-3) + 1e-3
    assert 0 <= float(found.min()) <= float(found.max()) <= 1


def test_lbfgs_finds_examples_near_the_plane():
    model = linear([[[2.0, 0.0], [0.0, 2.0]]], [[0.0, 0.0]], shape=(2,))
    originals = torch.tensor([[0.7, 0.3]])
    found = LBFGS(searches=9, steps=25).run(model, originals, torch.tensor([1]))
    assert found.success.all()
    least = 0.4 / np.sqrt(2)
    assert least - 1e-5 <= float(found.distances) <= least * 1.05
    away = LBFGS(searches=9, steps=25).run(model, originals, torch.tensor([0]), targeted=False)
    assert away.success.all()


@given(st.integers(0, 10**6), st.sampled_from([1.0, -1.0]), st.integers(2, 7))
@examples(40)
def test_the_pair_worth_most_is_that_of_all_pairs(seed, theta, pixels):
    stream = np.random.default_rng(seed)
    toward, others = stream.normal(size=(2, pixels))
    usable = stream.random(pixels) < 0.8
    worth = {
        (p, q): -(toward[p] + toward[q]) * (others[p] + others[q])
        for p, q in combinations(np.flatnonzero(usable), 2)
        if theta * (toward[p] + toward[q]) > 0 and theta * (others[p] + others[q]) < 0
    }
    given_all = [torch.tensor(a).view(1, 1, -1) for a in (toward, others, usable)]
    pair, found = best_pairs(*given_all, theta)
    assert float(found) == pytest.approx(max(worth.values(), default=0.0))
    if worth:
        assert tuple(pair.flatten().tolist()) == max(worth, key=worth.get)


def test_jsma_changes_few_pixels_all_the_way():
    model, *_, originals = drawn(7, shape=(1, 4, 4))
    goals = (model.labels(originals)[0] + 1) % 3
    found = JSMA(share=0.5).run(model, originals, goals)
    changed = (found.adversarial != originals).flatten(2)
    assert found.success.any()
    assert changed.sum(2).max() <= 8
    assert (found.adversarial.flatten(2)[changed] == 1).all()
    assert torch.equal(found.success, model.logits(found.adversarial).argmax(-1) == goals)
    with pytest.raises(InputError, match="needs a target"):
        JSMA().run(model, originals, goals, targeted=False)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("carlini-wagner", {"steps": 0}),
        ("carlini-wagner", {"searches": 0}),
        ("carlini-wagner", {"steps": "many"}),
        ("carlini-wagner", {"rate": 0}),
        ("carlini-wagner", {"confidence": -1}),
        ("fgsm", {"epsilon": 0}),
        ("iterative-fgsm", {"steps": 0}),
        ("iterative-fgsm", {"size": -0.1}),
        ("lbfgs", {"memory": 0}),
        ("lbfgs", {"steps": 2.5}),
        ("jsma", {"theta": 0}),
        ("jsma", {"share": 2}),
    ],
)
def test_options_that_make_no_attack_are_refused(name, wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        ATTACKS[name](**wrong)


@pytest.mark.parametrize("bounds", [(-0.1, 0.7), (-2.1179, 2.64), (0.1, 0.3)])
def test_pixels_at_bounds_that_no_float_meets_are_inside(bounds):
    weights = torch.eye(3, 4).expand(2, 3, 4)
    model = linear(weights, [[0.0] * 3] * 2, shape=(4,), bounds=bounds)
    rows = torch.tensor([[bounds[0]] * 4, [bounds[1]] * 4])
    found = FGSM(epsilon=9.0).run(model, rows, torch.tensor([1, 2]))
    again = FGSM().run(model, found.adversarial[0], torch.tensor([1, 2]))
    assert again.adversarial.shape == (2, 2, 4)


def test_bytes_are_not_taken_for_pixels():
    model, *_ = drawn(1)
    with pytest.raises(InputError, match=r"not uint8; convert bytes with images\.float"):
        FGSM().run(model, torch.ones(1, 1, 2, 3, dtype=torch.uint8), torch.tensor([1]))


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_runs_against_every_wrapper(name, ensemble, digits):
    quick = {"carlini-wagner": {"steps": 5, "searches": 1}, "lbfgs": {"steps": 3, "searches": 1}}
    attack = ATTACKS[name](**quick.get(name, {}))
    for model in (ensemble, EnsembleVote(ensemble)):
        found = attack.run(model, digits[0][:3], torch.tensor([4, 5, 6]))
        assert found.adversarial.shape == (model.networks, 3, 1, 8, 8)
        assert torch.isfinite(found.distances).all()
