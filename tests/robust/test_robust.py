"""The door: loaded late, told what is missing, open to others' attacks."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from tests.robust.closeness import close
from torch import nn

import shoal.robust
from shoal.errors import InputError, MissingExtra
from shoal.robust import (
    FGSM,
    EnsembleVote,
    Expectation,
    NoisyLogit,
    as_module,
    attacked,
    from_probabilities,
)


def shown(program):
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return found.stdout.decode().strip()


def test_torch_is_loaded_by_the_first_name_that_needs_it():
    asked = "print('torch' in sys.modules)"
    program = f"import sys, shoal, shoal.robust; {asked}; shoal.robust.NoisyLogit; {asked}"
    assert shown(program).split() == ["False", "True"]


def test_without_torch_the_message_says_what_to_install():
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import shoal.robust\n"
        "try: shoal.robust.NoisyLogit\n"
        "except shoal.MissingExtra as error: print(error)"
    )
    assert shown(program) == str(MissingExtra("torch", "robust"))


def test_every_name_is_there():
    assert sorted(shoal.robust.__all__) == sorted(shoal.robust._ON_FIRST_USE)
    assert all(getattr(shoal.robust, name) is not None for name in shoal.robust.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = shoal.robust.nothing


def test_threats_lead_to_the_model_that_is_climbed(ensemble):
    defended = EnsembleVote(NoisyLogit(ensemble, 0.1))
    assert attacked(defended, "queries") is defended
    averaged = attacked(defended, "averages", queries=7)
    assert isinstance(averaged, Expectation)
    assert (averaged.model, averaged.queries) == (defended, 7)
    assert attacked(defended, "copy", copy=ensemble) is ensemble
    with pytest.raises(InputError, match="give copy="):
        attacked(defended, "copy")
    with pytest.raises(InputError, match="no threat model"):
        attacked(defended, "telepathy")


def test_a_vote_is_a_module_to_others(ensemble, digits):
    voted = EnsembleVote(ensemble)
    module = as_module(voted)
    rows = digits[0][:3].clone().requires_grad_()
    assert torch.equal(module(rows), voted(rows))
    assert torch.autograd.grad(module(rows).sum(), rows)[0].abs().sum() > 0
    with pytest.raises(InputError, match="the model has 3 networks"):
        as_module(ensemble)


def test_probabilities_of_others_can_be_attacked(digits):
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    theirs = from_probabilities(lambda rows: network(rows).softmax(-1))
    goals = torch.tensor([1, 2])
    found = FGSM().run(theirs, digits[0][:2], goals).adversarial
    ours = FGSM().run(shoal.robust.as_classifier(network), digits[0][:2], goals).adversarial
    assert close(found, ours)
