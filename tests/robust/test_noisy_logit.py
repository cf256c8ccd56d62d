"""Noise comes with every query, never twice, and nothing leads around it."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.robust.closeness import close
from tests.robust.forks import in_a_fork
from torch import nn

from shoal.errors import InputError
from shoal.robust import (
    Classifier,
    EnsembleVote,
    NoisyLogit,
    deviation_of,
    scale_for,
)
from shoal.robust.noisy_logit import Noise

INNER = "__dict__ __closure__ __self__ __func__ __wrapped__ __defaults__ __kwdefaults__ __slots__"
INNER = [*INNER.split(), "cell_contents"]
_ENDS = (type, str, int, float, torch.Tensor, ModuleType)
SHAPES = ["laplace", "normal", "uniform"]


class Mirror(nn.Module):
    """Answers with what it is asked, so that the noise can be seen."""

    def forward(self, inputs):
        return inputs


def noise_of(model, rows=4):
    return model(torch.zeros(rows, 6))


@given(st.sampled_from(SHAPES), st.integers(2, 5), st.integers(1, 5), st.integers(0, 2**40))
@examples(30)
def test_noise_never_repeats(distribution, queries, rows, seed):
    model = NoisyLogit(Mirror(), 0.5, distribution, seed=seed)
    seen = torch.cat([noise_of(model, rows) for _ in range(queries)])
    assert len(seen.unique(dim=0)) == queries * rows


def test_every_network_gets_noise_of_its_own(ensemble, digits):
    model = NoisyLogit(EnsembleVote(ensemble).members, 0.5, seed=1)
    drawn = model(digits[0][:1].expand(2, 1, 8, 8), layer="0")  # one picture twice
    assert not torch.equal(drawn[:, 0], drawn[:, 1])


@pytest.mark.parametrize("distribution", SHAPES)
def test_noise_has_its_shape(distribution):
    drawn = Noise(0.5, distribution, 7).like(torch.zeros(200_000)).double()
    deviation = deviation_of(distribution, 0.5)
    fourth = {"laplace": 6.0, "normal": 3.0, "uniform": 1.8}[distribution]
    assert abs(float(drawn.mean())) < 0.01
    assert float(drawn.std()) == pytest.approx(deviation, rel=0.01)
    assert float((drawn**4).mean() / deviation**4) == pytest.approx(fourth, rel=0.05)
    assert scale_for(distribution, deviation) == pytest.approx(0.5)


def test_a_seed_brings_the_same_noise_and_no_seed_does_not():
    one, same = NoisyLogit(Mirror(), 1, seed=3), NoisyLogit(Mirror(), 1, seed=3)
    assert all(torch.equal(noise_of(one), noise_of(same)) for _ in range(3))
    assert not torch.equal(noise_of(NoisyLogit(Mirror(), 1)), noise_of(NoisyLogit(Mirror(), 1)))


@pytest.mark.parametrize("seed", [None, 5])
def test_a_fork_does_not_repeat_its_parent_unless_seeded(seed):
    model = NoisyLogit(Mirror(), 1, seed=seed)
    noise_of(model)  # the stream has begun

    def draw():
        return noise_of(model).numpy().tobytes()

    assert (in_a_fork(draw) == draw()) is (seed is not None)


def test_every_layer_answers_from_the_noisy_input(ensemble, digits):
    rows = digits[0][:6]
    for layer in (None, *ensemble.stack.layer_names):
        noise = Noise(0.3, "normal", 11).like(ensemble.spread(rows))
        asked = NoisyLogit(ensemble, 0.3, "normal", seed=11)(rows, layer)
        assert close(asked, ensemble.logits(ensemble.spread(rows) + noise, layer))


def reachable(start):
    """Everything that attributes, closures, containers and slots lead to, but whole modules."""
    waiting, seen = [start], {}
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, _ENDS):
            continue
        seen[id(found)] = found
        if isinstance(found, dict):
            waiting += [*found, *found.values()]
        elif isinstance(found, list | tuple | set):
            waiting += list(found)
        for name in [name for name in dir(found) if name[:2] != "__"] + INNER:
            try:
                waiting.append(getattr(found, name))
            except Exception:  # what is not there, or refuses, leads nowhere
                continue
    return list(seen.values())


def test_no_attribute_leads_to_the_clean_model(ensemble):
    model = NoisyLogit(ensemble, 0.5)
    found = reachable(model)
    assert model in found
    assert not any(isinstance(each, nn.Module | Noise) for each in found)
    assert [each for each in found if isinstance(each, Classifier)] == [model]
    naive = type("Naive", (), {"hidden": {"deep": [ensemble]}})()
    assert any(isinstance(each, nn.Module) for each in reachable(naive))  # the walk finds such


def test_labels_and_probabilities_are_noisy_too(ensemble, digits):
    model = NoisyLogit(ensemble, 5.0, seed=1)
    rows = digits[0][:50]
    assert not torch.equal(model.labels(rows), ensemble.labels(rows))
    assert not torch.equal(model.probabilities(rows), model.probabilities(rows))


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_that_would_repeat_is_refused(way):
    for made in (NoisyLogit(Mirror(), 1), Noise(1, "normal", None)):
        with pytest.raises(InputError, match="cannot be copied"):
            way(made)


@pytest.mark.parametrize(
    ("scale", "distribution", "told"),
    [
        (-1, "normal", "of at least 0"),
        (float("nan"), "normal", "of at least 0"),
        (1, "cauchy", "cauchy"),
    ],
)
def test_wrong_noise_is_refused(scale, distribution, told):
    with pytest.raises(InputError, match=told):
        NoisyLogit(Mirror(), scale, distribution)


def test_without_scale_it_is_the_model(ensemble, digits):
    assert torch.equal(NoisyLogit(ensemble, 0)(digits[0][:3]), ensemble(digits[0][:3]))
