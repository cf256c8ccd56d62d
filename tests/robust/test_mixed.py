"""Ensembles of several architectures learn, vote, are attacked and saved as their parts would."""

from __future__ import annotations

import pytest
import torch
from tests.robust.closeness import close
from tests.robust.conftest import TINY
from torch import nn

from shoal.errors import InputError
from shoal.robust import (
    FGSM,
    Architecture,
    CarliniWagner,
    Ensemble,
    EnsembleVote,
    NoisyLogit,
    Training,
    every_target,
    shared,
    train,
)
from shoal.robust.stack import MixedStack, stack
from shoal.support.progress import listening

SHALLOW = Architecture("shallow", (1, 8, 8), (6, 6), (16,), padded=True)
DRIER = Architecture("drier", TINY.shape, TINY.filters, TINY.hidden, padded=True, dropout=0.6)
KINDS = [TINY, SHALLOW, TINY, DRIER]
SHORT = Training(epochs=2, batch=50, rate=0.05, every=1)
MEMBERS = shared(1000, [1, 2, 3, 4], seed=7)


@pytest.fixture(scope="module")
def mixed(digits):
    return train(KINDS, *digits, MEMBERS, Training(epochs=8, batch=50, rate=0.05))


def test_members_learn_as_each_would_alone(digits):
    images, labels = (part[:1000] for part in digits)
    together = train(KINDS, images, labels, MEMBERS, SHORT)
    assert isinstance(together.stack, MixedStack)
    assert together.stack.groups == ((0, 2), (1,), (3,))  # dropout differs: learned apart
    for place, (kind, member) in enumerate(zip(KINDS, MEMBERS, strict=True)):
        alone = train(kind, images, labels, [member], SHORT).stack.weights_of(0)
        for name, value in together.stack.weights_of(place).items():
            assert close(value, alone[name], rtol=1e-4, atol=1e-6)


def test_an_ensemble_of_several_architectures_learns_digits(mixed, digits):
    images, labels = digits
    single = mixed.accuracy(images[1000:], labels[1000:])
    assert single.min() > 0.5
    vote = EnsembleVote(mixed)
    assert vote.accuracy(images[1000:], labels[1000:]).item() >= single.median()
    assert repr(mixed) == "<Ensemble of 4 networks (tiny, shallow, drier) on cpu>"
    assert mixed.architecture is None
    assert mixed.architectures == tuple(KINDS)


def test_votes_count_every_member_once(mixed, digits):
    images = digits[0][1000:1020]
    votes = EnsembleVote(mixed).vote(images)
    predicted = mixed.labels(images)
    for row in range(20):
        counted = torch.bincount(predicted[:, row], minlength=10)
        assert torch.equal(votes.counts[row], counted)


def test_noise_reaches_members_of_every_architecture(mixed, digits):
    rows = digits[0][:6]
    first, second = (NoisyLogit(mixed, 0.2, seed=3)(rows) for _ in range(2))
    assert torch.equal(first, second)
    for noisy, plain in zip(first, mixed(rows), strict=True):
        assert not torch.equal(noisy, plain)


@pytest.mark.parametrize("attack", [FGSM(epsilon=0.2), CarliniWagner(steps=20, searches=2)])
def test_attacks_on_members_are_those_on_each_alone(mixed, digits, attack):
    images, labels = digits
    rows, goals, _ = every_target(images[1000:1002], labels[1000:1002], 10)
    originals = images[1000:1002][rows][:3]
    together = attack.run(mixed, originals, goals[:3])
    for place in range(4):
        alone = attack.run(mixed.subset([place]), originals, goals[:3])
        assert torch.equal(together.success[place], alone.success[0])
        assert close(together.adversarial[place], alone.adversarial[0], rtol=1e-3, atol=1e-3)


def test_the_vote_of_several_architectures_is_attacked_as_one(mixed, digits):
    images, labels = digits
    rows, goals, _ = every_target(images[1000:1002], labels[1000:1002], 10)
    found = FGSM(epsilon=0.3).run(EnsembleVote(mixed), images[1000:1002][rows], goals)
    assert found.adversarial.shape[:2] == (1, 18)
    changed = EnsembleVote(mixed).labels(found.adversarial[0])[0] == goals
    assert torch.equal(changed, found.success[0])


def test_it_is_saved_and_loaded_with_its_architectures(mixed, digits, tmp_path):
    path = tmp_path / "mixed.safetensors"
    mixed.save(path)
    back = Ensemble.load(path)
    assert torch.equal(back(digits[0][:5]), mixed(digits[0][:5]))
    assert (back.architectures, back.temperatures.tolist()) == (tuple(KINDS), [1, 2, 3, 4])
    with pytest.raises(InputError, match="do not fit this network"):
        Ensemble.load(path, build=TINY.build)
    with pytest.raises(InputError, match="do not fit this network"):
        Ensemble.load(path, build=[TINY.build] * 4)


def test_networks_without_a_name_are_loaded_by_their_builders(tmp_path):
    def line(_seed):
        return nn.Linear(3, 2)

    def bend(_seed):
        return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))

    path = tmp_path / "own.safetensors"
    made = Ensemble.of([line(0), bend(1), line(2)])
    made.save(path)
    rows = torch.rand(4, 3)
    assert torch.equal(Ensemble.load(path, build=[line, bend, line])(rows), made(rows))
    with pytest.raises(InputError, match="do not fit"):
        Ensemble.load(path, build=[line, bend])


def test_a_subset_keeps_the_order_that_is_asked_for(mixed, digits):
    some = mixed.subset([3, 0, 1])
    assert close(some(digits[0][:4]), mixed(digits[0][:4])[[3, 0, 1]])
    assert some.architectures == (DRIER, TINY, SHALLOW)
    assert mixed.subset([0, 2]).architecture == TINY


def test_an_interrupted_training_goes_on_with_the_same_architectures(digits, tmp_path):
    images, labels = digits
    kept, order = tmp_path / "kept.safetensors", [TINY, SHALLOW, TINY, SHALLOW]
    whole = train(order, images, labels, MEMBERS, SHORT)

    def stop(progress):
        if progress.done == 1:
            raise KeyboardInterrupt

    with listening(stop), pytest.raises(KeyboardInterrupt):
        train(order, images, labels, MEMBERS, SHORT, checkpoint=kept)
    with pytest.raises(InputError, match="architectures differ"):
        train([TINY, SHALLOW, SHALLOW, TINY], images, labels, MEMBERS, SHORT, checkpoint=kept)
    with pytest.raises(InputError, match="networks of another architecture"):
        train(order[::-1], images, labels, MEMBERS, SHORT, checkpoint=kept)
    resumed = train(order, images, labels, MEMBERS, SHORT, checkpoint=kept)
    for name, value in whole.stack.weights().items():
        assert torch.equal(resumed.stack.weights()[name], value)


def test_architectures_must_be_as_many_as_members_and_see_the_same_pictures(digits):
    with pytest.raises(InputError, match="one network, or 4, not 2"):
        train([TINY, SHALLOW], *digits, MEMBERS, SHORT)
    with pytest.raises(InputError, match="not Linear"):
        train([TINY, SHALLOW, TINY, nn.Linear(64, 10)], *digits, MEMBERS, SHORT)
    other = Architecture("other", (1, 9, 9), (4,), (8,))
    with pytest.raises(InputError, match="the same pictures and classes"):
        train([TINY, TINY, TINY, other], *digits, MEMBERS, SHORT)
    with pytest.raises(InputError, match="one architecture, or 3, not 2"):
        Ensemble(stack([TINY.build(0)] * 3), architecture=[TINY, SHALLOW])
