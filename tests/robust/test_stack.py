"""A stack answers as its networks do one by one."""

from __future__ import annotations

from itertools import count

import pytest
import torch
from tests.robust.closeness import close
from tests.robust.conftest import TINY
from torch import nn

from shoal.errors import InputError
from shoal.robust.stack import ChainStack, MappedStack, check_trainable, stack


class Forked(nn.Module):
    """Not a chain: two ways that meet."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(6, 5), nn.Linear(6, 5)
        self.norm, self.last = nn.LayerNorm(5), nn.Linear(5, 3)

    def forward(self, inputs):
        flat = inputs.flatten(1)
        return self.last(self.norm(self.left(flat).relu() + self.right(flat).tanh()))


def chain():
    return nn.Sequential(nn.Flatten(), nn.Linear(6, 4, bias=False), nn.Tanh(), nn.Linear(4, 3))


SEEDS = count()
MADE = [
    (lambda: TINY.build(next(SEEDS)), (1, 8, 8), ChainStack),
    (chain, (2, 3), ChainStack),
    (Forked, (2, 3), MappedStack),
    (lambda: nn.Sequential(nn.Conv2d(1, 2, 3, groups=1), nn.BatchNorm2d(2), nn.Flatten()),
     (1, 4, 4), MappedStack),
]  # fmt: skip


@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize(("build", "shape", "form"), MADE)
def test_answers_and_slopes_are_those_of_each_network(build, shape, form, rows):
    networks = [build().eval() for _ in range(3)]
    made = stack(networks).eval()
    assert type(made) is form
    inputs = torch.rand(3, rows, *shape, requires_grad=True)
    answers = made(inputs)
    (slopes,) = torch.autograd.grad(answers.square().sum(), inputs)
    for place, network in enumerate(networks):
        alone = inputs[place].detach().requires_grad_()
        answer = network(alone)
        (slope,) = torch.autograd.grad(answer.square().sum(), alone)
        assert close(answers[place], answer, rtol=1e-4, atol=1e-5)
        assert close(slopes[place], slope, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("build", "shape", "form"), MADE)
def test_every_layer_can_be_asked(build, shape, form):
    networks = [build().eval() for _ in range(2)]
    made, inputs = stack(networks).eval(), torch.rand(2, 4, *shape)
    for name in made.layer_names:
        found = made(inputs, name)
        for place, network in enumerate(networks):
            seen = []
            part = network.get_submodule(name)
            part.register_forward_hook(lambda _m, _i, out, seen=seen: seen.append(out))
            network(inputs[place])
            assert close(found[place], seen[0], rtol=1e-4, atol=1e-5)


def test_a_layer_that_is_not_there_is_said_so():
    with pytest.raises(InputError, match="no layer '9'"):
        stack([chain()])(torch.rand(1, 2, 2, 3), "9")


def test_networks_of_several_makes_are_refused():
    with pytest.raises(InputError, match="of one make"):
        stack([chain(), Forked()])
    with pytest.raises(InputError, match="at least one"):
        stack([])


def test_running_statistics_cannot_be_trained():
    with pytest.raises(InputError, match="running statistics"):
        check_trainable(stack([nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))] * 2))
