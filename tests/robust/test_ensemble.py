"""Ensembles are kept as numbers and come back the same."""

from __future__ import annotations

import pickle

import pytest
import torch
from tests.robust.closeness import close
from torch import nn

from shoal.errors import InputError
from shoal.robust import Ensemble, as_classifier


def test_what_was_saved_comes_back(ensemble, digits, tmp_path):
    path = tmp_path / "three.safetensors"
    ensemble.save(path)
    back = Ensemble.load(path)
    assert torch.equal(back(digits[0][:5]), ensemble(digits[0][:5]))
    assert back.temperatures.tolist() == [1, 2, 3]
    assert (back.bounds, back.architecture) == (ensemble.bounds, ensemble.architecture)
    with pytest.raises(InputError, match="exists already"):
        ensemble.save(path)


def test_networks_of_no_name_need_their_maker(tmp_path):
    def build(_seed):
        return nn.Sequential(nn.Linear(3, 2))

    made = Ensemble.of([build(0), build(1)], bounds=(-1, 1))
    made.save(tmp_path / "own.safetensors")
    with pytest.raises(InputError, match="give build="):
        Ensemble.load(tmp_path / "own.safetensors")
    back = Ensemble.load(tmp_path / "own.safetensors", build=build)
    rows = torch.rand(4, 3)
    assert torch.equal(made(rows), back(rows))
    with pytest.raises(InputError, match="do not fit"):
        Ensemble.load(tmp_path / "own.safetensors", build=lambda _: nn.Linear(4, 2))


def test_a_pickle_is_not_opened(tmp_path):
    path = tmp_path / "trap.safetensors"
    path.write_bytes(pickle.dumps({"weights": [1.0] * 20}))
    with pytest.raises(InputError, match="not a safetensors file"):
        Ensemble.load(path)


def test_some_members_answer_as_before(ensemble, digits):
    some = ensemble.subset([2, 0])
    assert close(some(digits[0][:4]), ensemble(digits[0][:4])[[2, 0]])
    assert some.temperatures.tolist() == [3, 1]


def test_a_network_alone_answers_without_an_axis_for_networks():
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    rows = torch.rand(5, 2, 2)
    found = as_classifier(network)
    assert torch.equal(found(rows), network(rows))
    assert torch.equal(found(rows, "0"), rows.flatten(1))
    assert found.probabilities(rows).sum(-1).allclose(torch.ones(1, 5))
    with pytest.raises(InputError, match="not int"):
        as_classifier(3)


def test_temperatures_must_be_as_many_as_networks():
    with pytest.raises(InputError, match="2 temperatures, all above 0"):
        Ensemble.of([nn.Linear(2, 2), nn.Linear(2, 2)], temperatures=[1])
