"""Models and attacks of foolbox and of ART, on ours and the other way round; where they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.robust.closeness import close

from shoal.errors import InputError
from shoal.robust import (
    FGSM,
    CarliniWagner,
    EnsembleVote,
    IterativeFGSM,
    NoisyLogit,
    as_classifier,
    as_module,
)


@pytest.fixture
def foolbox():
    return pytest.importorskip("foolbox")


@pytest.fixture
def art():
    return pytest.importorskip("art.estimators.classification")


@pytest.fixture
def alone(ensemble):
    return ensemble.subset([0])


@pytest.fixture
def rows(digits, alone):
    """Pictures that the network gets right, and the class after their own."""
    images, labels = digits[0][1000:1020], digits[1][1000:1020]
    right = (alone.labels(images)[0] == labels).nonzero().flatten()[:6]
    return images[right], (labels[right] + 1) % 10


def defended(ensemble):
    return EnsembleVote(NoisyLogit(ensemble, 0.05, seed=3))


def of_art(art, module):
    return art.PyTorchClassifier(
        module,
        loss=torch.nn.CrossEntropyLoss(),
        input_shape=(1, 8, 8),
        nb_classes=10,
        clip_values=(0.0, 1.0),
        device_type="cpu",
    )


def test_fgsm_of_foolbox_takes_the_step_that_ours_takes(foolbox, alone, rows):
    images, _ = rows
    theirs = foolbox.PyTorchModel(as_module(alone), bounds=alone.bounds, device="cpu")
    labels = alone.labels(images)[0]
    _, found, _ = foolbox.attacks.FGSM()(theirs, images, labels, epsilons=0.1)
    ours = FGSM(epsilon=0.1).run(alone, images, labels, targeted=False)
    assert close(found, ours.adversarial[0])


def test_our_examples_are_no_longer_than_those_of_foolbox(foolbox, alone, rows):
    images, goals = rows
    theirs = foolbox.PyTorchModel(as_module(alone), bounds=alone.bounds, device="cpu")
    attack = foolbox.attacks.L2CarliniWagnerAttack(
        binary_search_steps=4, steps=100, stepsize=0.05, initial_const=0.1
    )
    wanted = foolbox.criteria.TargetedMisclassification(goals)
    _, found, success = attack(theirs, images, wanted, epsilons=None)
    ours = CarliniWagner(steps=100, searches=4, rate=0.05, constant=0.1).run(alone, images, goals)
    assert ours.success[0][success].all()
    lengths = (found - images).flatten(1).norm(dim=1).double()
    assert ours.distances[0][success].mean() <= lengths[success].mean()


def test_attacks_of_foolbox_run_on_a_defended_vote(foolbox, ensemble, rows):
    images, _ = rows
    model = defended(ensemble)
    theirs = foolbox.PyTorchModel(as_module(model), bounds=model.bounds, device="cpu")
    labels = model.labels(images)[0]
    for attack in (foolbox.attacks.LinfPGD(steps=5), foolbox.attacks.FGSM()):
        _, found, _ = attack(theirs, images, labels, epsilons=0.2)
        assert 0.01 < float((found - images).abs().max()) <= 0.2 + 1e-6
    attack = foolbox.attacks.L2CarliniWagnerAttack(binary_search_steps=2, steps=10, stepsize=0.1)
    _, found, _ = attack(theirs, images, labels, epsilons=None)
    assert found.shape == images.shape


def test_our_attacks_run_on_a_model_of_foolbox(foolbox, alone, rows):
    images, goals = rows
    module = as_module(alone)
    ready = {"mean": 0.5, "std": 0.5}
    theirs = foolbox.PyTorchModel(module, bounds=(0, 1), device="cpu", preprocessing=ready)
    taken = as_classifier(theirs)
    assert taken.bounds == (0.0, 1.0)
    assert close(taken(images), module((images - 0.5) / 0.5))
    found = IterativeFGSM(steps=5).run(taken, images, goals)
    assert torch.equal(found.success[0], theirs(found.adversarial[0]).argmax(-1) == goals)
    assert float(found.distances.min()) > 0


def test_an_attack_of_art_runs_on_a_defended_vote(art, ensemble, rows):
    attacks = pytest.importorskip("art.attacks.evasion")
    images, _ = rows
    theirs = of_art(art, as_module(defended(ensemble)))
    found = attacks.FastGradientMethod(theirs, eps=0.1).generate(images.numpy())
    assert np.abs(found - images.numpy()).max() == pytest.approx(0.1, abs=1e-6)


def test_our_attacks_run_on_a_classifier_of_art(art, alone, rows):
    images, goals = rows
    theirs = of_art(art, as_module(alone))
    ours, same = (FGSM().run(as_classifier(m), images, goals).adversarial for m in (theirs, alone))
    assert close(ours, same)


class Foolish:
    """What foolbox's models look like from outside."""

    bounds, data_format, device = (0, 2), "channels_first", torch.device("cpu")

    def __call__(self, inputs):
        return inputs.flatten(1)[:, :3]


class Artful:
    """What ART's classifiers look like from outside."""

    def __init__(self, clip_values, prepares=()):
        self.model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 3))
        self.clip_values, self.preprocessing_operations = clip_values, list(prepares)
        self.device = torch.device("cpu")


class Halving:
    """A preprocessor in torch."""

    apply_predict = True

    def forward(self, inputs, labels=None):
        return inputs / 2, labels


def test_models_are_known_by_what_they_have():
    inputs = torch.rand(2, 4)
    taken = as_classifier(Foolish())
    assert (taken.bounds, taken.alone) == ((0.0, 2.0), True)
    assert torch.equal(taken(inputs), inputs[:, :3])
    theirs = Artful((-1, 1))
    assert as_classifier(theirs).bounds == (-1.0, 1.0)
    assert torch.equal(as_classifier(theirs)(inputs), theirs.model(inputs))
    prepared = Artful((-1, 1), [Halving()])
    assert torch.equal(as_classifier(prepared)(inputs), prepared.model(inputs / 2))


def test_what_cannot_be_taken_is_refused():
    with pytest.raises(InputError, match="clip_values"):
        as_classifier(Artful(None))
    with pytest.raises(InputError, match="outside torch"):
        as_classifier(Artful((0, 1), [object()]))
    with pytest.raises(InputError, match="not dict"):
        as_classifier({})
