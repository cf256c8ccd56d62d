"""Carlini–Wagner: its objective against plain arithmetic, its examples against geometry."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.robust.attacks.linear import drawn, linear
from tests.robust.closeness import close

from shoal.errors import InputError
from shoal.robust import CarliniWagner, Examples, Expectation, NoisyLogit, every_target
from shoal.robust.attacks.attack import Constants, excess
from shoal.robust.attacks.carlini_wagner import objective, squared_lengths
from shoal.support.progress import listening


def by_hand(perturbed, original, weight, bias, goal, constant, confidence, targeted):
    """The objective and its slope for one example, pixel by pixel."""
    logits = [float(w @ perturbed + b) for w, b in zip(weight, bias, strict=True)]
    other = max((c for c in range(len(logits)) if c != goal), key=lambda c: logits[c])
    sign = 1 if targeted else -1
    lead = sign * (logits[other] - logits[goal])
    value = ((perturbed - original) ** 2).sum() + constant * max(lead, -confidence)
    slope = 2 * (perturbed - original)
    if lead > -confidence:
        slope = slope + constant * sign * (weight[other] - weight[goal])
    return value, slope


@given(st.integers(0, 10**6), st.floats(0.01, 20), st.floats(0, 2), st.booleans())
@examples(40)
def test_objective_and_slope_are_those_of_plain_arithmetic(seed, constant, confidence, targeted):
    model, weights, biases, originals = drawn(seed)
    perturbed = (model.spread(originals) + 0.1 * torch.sin(torch.arange(6.0)).view(1, 2, 3)).clone()
    perturbed.requires_grad_()
    goals, constants = torch.tensor([0, 1, 2, 1]), torch.full((2, 4), constant)
    leads = excess(model.logits(perturbed), goals, targeted)
    values = objective(squared_lengths(perturbed, originals), leads, constants, confidence)
    (slopes,) = torch.autograd.grad(values.sum(), perturbed)
    values, perturbed = values.detach(), perturbed.detach()
    for network in range(2):
        for row in range(4):
            value, slope = by_hand(
                perturbed[network, row].double().numpy().ravel(),
                originals[row].double().numpy().ravel(),
                *(t[network].double().numpy() for t in (weights, biases)),
                int(goals[row]), constant, confidence, targeted,
            )  # fmt: skip
            assert float(values[network, row]) == pytest.approx(value, rel=1e-4, abs=1e-4)
            np.testing.assert_allclose(slopes[network, row].numpy().ravel(), slope, atol=1e-3)


def plainly(model, original, goal, *, steps, searches, rate, constant):
    """The published attack on one example of one network, by torch's own Adam; None if none."""
    lower, upper, best = 0.0, float("inf"), None
    inside = torch.tanh(torch.atanh((2 * original - 1) * 0.999999)) / 2 + 0.5
    for _ in range(searches):
        variable = torch.atanh((2 * original - 1) * 0.999999).requires_grad_()
        adam, met = torch.optim.Adam([variable], lr=rate, eps=1e-12), False
        for _ in range(steps):
            picture = torch.tanh(variable) / 2 + 0.5
            logits = model.logits(picture.view(1, 1, *original.shape))[0, 0]
            rest = torch.cat([logits[:goal], logits[goal + 1 :]])
            square, lead = (picture - inside).square().sum(), rest.max() - logits[goal]
            if lead < 0:
                met = True
                if best is None or square < best[0]:
                    best = square.detach(), picture.detach()
            adam.zero_grad()
            (square + constant * lead.clamp(min=0)).backward()
            adam.step()
        lower, upper = (lower, constant) if met else (constant, upper)
        constant = constant * 10 if upper == float("inf") else (lower + upper) / 2
    return None if best is None else best[1]


def test_as_published_it_finds_what_a_plain_loop_finds():
    model, *_, originals = drawn(11, networks=1)
    goals = (model.labels(originals)[0] + 1) % 3
    options = {"steps": 40, "searches": 4, "rate": 0.05, "constant": 0.05}
    found = CarliniWagner(**options, abort_early=False, published=True).run(model, originals, goals)
    expected = [plainly(model, o, int(g), **options) for o, g in zip(originals, goals, strict=True)]
    assert found.success[0].tolist() == [each is not None for each in expected]
    assert found.success.any()
    for row, each in enumerate(expected):
        if each is not None:
            assert close(found.adversarial[0, row], each, atol=1e-4)


def test_constants_grow_and_are_halved():
    met = [torch.tensor([[value]]) for value in (False, False, True, False, True)]
    plain = forgiving = Constants.start(torch.tensor([[0.1]]))
    tried = []
    for each in met:
        plain, forgiving = plain.after(each), forgiving.after(each, forgiving=True)
        tried.append((round(plain.now.item(), 4), round(forgiving.now.item(), 4)))
    assert tried == [(1, 1), (10, 10), (5.5, 1), (7.75, 5.5), (6.625, 3.25)]


def test_what_was_asked_for_is_not_gone_beyond(ensemble, digits):
    asked = []

    class Counting(Expectation):
        def logits(self, inputs, layer=None):
            asked.append(inputs.shape[1])
            return super().logits(inputs, layer)

    rows, goals = digits[0][1000:1003], torch.tensor([1, 2, 3])
    attack = CarliniWagner(steps=57, searches=2, abort_early=False, shorten=5)
    attack.run(Counting(ensemble, 1), rows, goals)
    assert len(asked) <= 1 + 2 * 57 + 5
    asked.clear()
    CarliniWagner(steps=200, searches=2, rate=0.1, published=True).run(
        Counting(ensemble, 1), rows, goals
    )
    assert len(asked) <= 400


def test_no_rows_are_no_examples(ensemble):
    found = CarliniWagner(steps=5).run(ensemble, torch.rand(0, 1, 8, 8), torch.zeros(0).long())
    assert found.adversarial.shape == (3, 0, 1, 8, 8)


def test_perturbations_of_black_pictures_are_endless_or_none():
    black = torch.zeros(2, 1, 2, 2)
    found = torch.stack([torch.zeros(1, 2, 2), torch.full((1, 2, 2), 0.5)]).unsqueeze(0)
    examples = Examples(black, torch.tensor([0, 0]), found, torch.ones(1, 2).bool())
    assert examples.perturbations.tolist() == [[0.0, float("inf")]]


@pytest.mark.parametrize("targeted", [True, False])
def test_the_nearest_example_of_two_classes_is_at_the_plane(targeted):
    """Between two classes the least length is lead / ‖w0 − w1‖."""
    weight = torch.tensor([[1.0, -2.0, 0.5, 1.0], [-1.0, 1.0, 1.0, -0.5]])
    model = linear([weight, 3 * weight], [[0.1, 0.0], [0.3, 0.0]], shape=(4,))
    originals = torch.tensor([[0.6, 0.4, 0.5, 0.5], [0.7, 0.45, 0.5, 0.5]])
    named = model.labels(originals)[0]
    assert torch.equal(named, model.labels(originals)[1])
    goals = 1 - named if targeted else named
    found = CarliniWagner(steps=200, constant=0.1).run(model, originals, goals, targeted=targeted)
    lead = (originals @ (weight[0] - weight[1]) + 0.1).abs()
    least = (lead / (weight[0] - weight[1]).norm()).expand(2, 2).double()
    assert found.success.all()
    assert (found.distances >= least - 1e-5).all()
    assert (found.distances <= least * 1.03 + 1e-3).all()


def test_examples_do_what_they_say_inside_the_bounds(ensemble, digits):
    images, labels = digits[0][1000:1002], digits[1][1000:1002]
    pictures, goals, truth = every_target(images, labels)
    assert (len(goals), bool((goals == truth).any())) == (18, False)
    found = CarliniWagner(steps=120, searches=3, rate=0.1, constant=1).run(
        ensemble, images[pictures], goals
    )
    named = ensemble.logits(found.adversarial).argmax(-1)
    assert torch.equal(found.success, named == goals)
    assert found.success.double().mean() > 0.9
    assert 0 <= float(found.adversarial.min()) <= float(found.adversarial.max()) <= 1
    lengths = (found.adversarial - images[pictures]).flatten(2).norm(dim=2).double()
    assert close(found.distances, lengths, rtol=1e-4, atol=1e-6)
    assert (found.perturbations[found.success] < 1).all()


def test_going_back_makes_examples_shorter_that_still_succeed(ensemble, digits):
    rows, goals = digits[0][1000:1004], torch.tensor([1, 2, 3, 4])
    plain, short = (
        CarliniWagner(steps=60, searches=2, rate=0.1, constant=10, shorten=halvings).run(
            ensemble, rows, goals
        )
        for halvings in (0, 8)
    )
    assert torch.equal(plain.success, short.success)
    assert torch.equal(short.success, ensemble.logits(short.adversarial).argmax(-1) == goals)
    assert (short.distances <= plain.distances + 1e-6).all()
    assert (short.distances < plain.distances - 1e-4).any()


def test_an_example_is_found_alone_as_among_others(ensemble, digits):
    attack = CarliniWagner(steps=60, searches=3, rate=0.1, constant=1)
    rows, goals = digits[0][1000:1006], torch.tensor([1, 2, 3, 4, 5, 6])
    together = attack.run(ensemble, rows, goals)
    alone = attack.run(ensemble.subset([1]), rows[4:5], goals[4:5])
    assert alone.success.item() == together.success[1, 4].item()
    assert close(alone.adversarial[0, 0], together.adversarial[1, 4], atol=2e-3, rtol=0)


def test_confidence_is_a_lead():
    model, *_, originals = drawn(3)
    goals = (model.labels(originals)[0] + 1) % 3
    found = CarliniWagner(steps=200, confidence=0.5, constant=1).run(model, originals, goals)
    logits = model.logits(found.adversarial)
    own = logits.gather(-1, goals.expand(2, 4).unsqueeze(-1))
    lead = own.squeeze(-1) - logits.scatter(-1, goals.expand(2, 4).unsqueeze(-1), -9e9).amax(-1)
    assert found.success.any()
    assert (lead[found.success] >= 0.5 - 1e-4).all()


def test_what_cannot_be_found_is_said_and_left_as_it_was():
    model = linear([torch.zeros(2, 3)], [[1.0, 0.0]], shape=(3,))  # always names the first
    found = CarliniWagner(steps=20, searches=2).run(model, torch.rand(2, 3), torch.ones(2).long())
    assert not found.success.any()
    assert torch.equal(found.adversarial[0], found.originals)


def test_averages_see_through_noise_better_than_single_queries():
    """On a clean judge, what was crafted on means of many queries succeeds more often."""
    model, *_, originals = drawn(5, networks=1, classes=4)
    goals = (model.labels(originals)[0] + 2) % 4
    attack = CarliniWagner(steps=80, searches=4, rate=0.05, constant=1, confidence=0.5)
    hits = []
    for queries in (1, 64):
        noisy = Expectation(NoisyLogit(model, 0.3, seed=1), queries)
        found = attack.run(noisy, originals, goals)
        hits.append(int((model.logits(found.adversarial).argmax(-1) == goals).sum()))
    assert hits[0] < hits[1]


def test_the_same_noise_finds_the_same(ensemble, digits):
    def found():
        noisy = NoisyLogit(ensemble, 0.1, seed=2)
        attack = CarliniWagner(steps=15, searches=2, rate=0.1, constant=1)
        return attack.run(noisy, digits[0][:2], torch.tensor([3, 3])).adversarial

    assert torch.equal(found(), found())


def test_progress_is_told_to_the_end(ensemble, digits):
    seen = []
    with listening(lambda progress: seen.append((progress.done, progress.total))):
        CarliniWagner(steps=10, searches=2).run(ensemble, digits[0][:1], torch.tensor([3]))
    assert seen[0] == (0, 20)
    assert seen[-1] == (20, 20)


def test_pictures_outside_the_bounds_are_refused(ensemble):
    with pytest.raises(InputError, match="from 0 to 1, the bounds of the model"):
        CarliniWagner().run(ensemble, torch.full((1, 1, 8, 8), 2.0), torch.tensor([1]))
    with pytest.raises(InputError, match="1 pictures, 2 goals"):
        CarliniWagner().run(ensemble, torch.zeros(1, 1, 8, 8), torch.tensor([1, 2]))
