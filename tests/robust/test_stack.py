"""A stack answers as its networks do one by one."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from itertools import count

import pytest
import torch
from tests.robust.closeness import close
from tests.robust.conftest import TINY
from torch import nn

from shoal.errors import InputError
from shoal.robust import networks as convolutions
from shoal.robust.networks import as_products, filled_up, pools_first, quick_convolution
from shoal.robust.stack import ChainStack, MappedStack, MixedStack, check_trainable, stack


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


def test_networks_of_several_architectures_answer_at_their_positions():
    torch.manual_seed(3)
    networks = [each.eval() for each in (chain(), Forked(), chain(), Forked(), chain())]
    made = stack(networks).eval()
    assert type(made) is MixedStack
    assert made.groups == ((0, 2, 4), (1, 3))
    assert [type(part) for part in made.layers] == [ChainStack, MappedStack]
    inputs = torch.rand(5, 4, 2, 3, requires_grad=True)
    answers = made(inputs)
    (slopes,) = torch.autograd.grad(answers.square().sum(), inputs)
    for place, network in enumerate(networks):
        alone = inputs[place].detach().requires_grad_()
        answer = network(alone)
        (slope,) = torch.autograd.grad(answer.square().sum(), alone)
        assert close(answers[place], answer, rtol=1e-4, atol=1e-5)
        assert close(slopes[place], slope, rtol=1e-4, atol=1e-5)
        for name, value in network.state_dict().items():
            assert torch.equal(made.weights_of(place)[name], value)


def test_only_layers_that_all_architectures_have_can_be_asked():
    small, large = (
        nn.Sequential(OrderedDict(flat=nn.Flatten(), middle=nn.Linear(6, n), end=nn.Linear(n, 3)))
        for n in (4, 5)
    )
    made, rows = stack([small, large]), torch.rand(2, 4, 2, 3)
    assert made.layer_names == ("flat", "middle", "end")
    assert torch.equal(made(rows, "flat"), rows.flatten(2))
    with pytest.raises(InputError, match="different outputs at the layer 'middle'"):
        made(rows, "middle")
    with pytest.raises(InputError, match="no layer 'left'"):
        stack([chain(), Forked()])(rows, "left")


def test_networks_of_different_classes_are_refused_when_they_answer():
    networks = [nn.Linear(4, 2), nn.Linear(4, 3)]
    with pytest.raises(InputError, match="different numbers of classes"):
        stack(networks)(torch.rand(2, 5, 4))


def test_an_empty_list_of_networks_is_refused():
    with pytest.raises(InputError, match="at least one"):
        stack([])


def test_running_statistics_cannot_be_trained():
    with pytest.raises(InputError, match="running statistics"):
        check_trainable(stack([nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))] * 2))


@pytest.mark.parametrize("form", [as_products, filled_up, partial(quick_convolution, first=True)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"padding": 1},
        {"padding": "same"},
        {"padding": "valid"},
        {"padding": "same", "kernel_size": (5, 3), "dilation": (1, 3)},
        {"padding": (0, 2), "stride": (3, 2), "dilation": (2, 1)},
        {"kernel_size": (2, 5), "stride": 2},
    ],
)
def test_quick_forms_are_the_convolutions_of_each_network(options, bias, form):
    """As values and as slopes, of pictures, weights and biases."""
    torch.manual_seed(0)
    made = [nn.Conv2d(3, 4, **{"kernel_size": 3, "bias": bias, **options}) for _ in range(2)]
    pictures = torch.rand(2, 5, 3, 9, 11, requires_grad=True)
    weight = torch.stack([layer.weight for layer in made])
    biases = torch.stack([layer.bias for layer in made]) if bias else None
    chosen = {name: getattr(made[0], name) for name in ("stride", "padding", "dilation")}
    asked = [pictures, *(value for layer in made for value in layer.parameters())]
    found = form(pictures, weight, biases, **chosen)
    wanted = torch.cat([layer(own) for layer, own in zip(made, pictures, strict=True)], dim=1)
    assert found.shape == wanted.shape
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)
    pull = torch.rand_like(wanted)
    slopes = [torch.autograd.grad((pull * told).sum(), asked) for told in (found, wanted)]
    for own, other in zip(*slopes, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-5, atol=1e-4)


def test_only_what_learns_is_written_down_as_patches(monkeypatch):
    """An attack, which needs the slopes of pictures, is quicker by groups, as are mere answers."""
    taken = []
    for form in (as_products, filled_up):

        def noted(*given, form=form, **options):
            taken.append(form.__name__)
            return form(*given, **options)

        monkeypatch.setattr(convolutions, form.__name__, noted)
    layer = nn.Conv2d(1, 2, 3)
    weight = nn.Parameter(layer.weight.detach().unsqueeze(0))
    options = {name: getattr(layer, name) for name in ("stride", "padding", "dilation")}
    pictures = torch.rand(1, 4, 1, 6, 6)
    quick_convolution(pictures, weight, None, first=True, **options)
    quick_convolution(pictures.clone().requires_grad_(), weight, None, first=True, **options)
    with torch.no_grad():
        quick_convolution(pictures, weight, None, first=True, **options)
    assert taken == ["as_products", "filled_up", "filled_up"]


def test_pools_come_before_the_relu_that_they_look_at():
    """Unless that layer is asked, or there is something between."""
    parts = [nn.ReLU(), nn.MaxPool2d(2), nn.Tanh(), nn.MaxPool2d(2), nn.ReLU(), nn.AvgPool2d(2)]
    names = [type(part).__name__ for part in pools_first(parts)]
    assert names == ["MaxPool2d", "ReLU", "Tanh", "MaxPool2d", "ReLU", "AvgPool2d"]
    torch.manual_seed(0)
    pictures = torch.randn(3, 2, 9, 9).round(decimals=1).requires_grad_()  # many are equal
    answers = [nn.Sequential(*made)(pictures) for made in (parts[:2], pools_first(parts[:2]))]
    assert torch.equal(*answers)
    slopes = [torch.autograd.grad(told.square().sum(), pictures)[0] for told in answers]
    assert torch.equal(*slopes)


def test_networks_that_differ_in_more_than_weights_are_not_stacked_together():
    def chain(*more, bend=nn.ReLU, share=0.1):
        parts = [nn.Flatten(), nn.Linear(4, 3), bend(), nn.Dropout(share), nn.Linear(3, 2), *more]
        return nn.Sequential(*parts)

    for other in (chain(bend=nn.Tanh), chain(nn.ReLU()), chain(share=0.5)):
        assert stack([chain(), other, chain()]).groups == ((0, 2), (1,))
    with pytest.raises(InputError, match="must have one type, on one device"):
        stack([chain(), chain().double()])


def test_layers_keep_the_names_that_they_have():
    parts = {"flat": nn.Flatten(), "middle": nn.Linear(4, 3), "end": nn.Linear(3, 2)}
    network = nn.Sequential(OrderedDict(parts))
    made = stack([network])
    rows = torch.rand(1, 5, 2, 2)
    assert made.layer_names == tuple(parts)
    assert close(made(rows, "middle")[0], network[:2](rows[0]))


def test_a_layer_may_act_on_the_last_axis_of_pictures():
    networks = [nn.Sequential(nn.Linear(4, 3), nn.Flatten(), nn.Linear(6, 2)) for _ in range(2)]
    rows = torch.rand(2, 5, 2, 4)
    for place, network in enumerate(networks):
        assert close(stack(networks)(rows)[place], network(rows[place]))


def test_a_relu_of_another_kind_keeps_its_place():
    class Mirror(nn.ReLU):
        def forward(self, inputs):
            return -super().forward(inputs)

    def build():
        return nn.Sequential(nn.Conv2d(1, 2, 3), Mirror(), nn.MaxPool2d(2), nn.Flatten())

    networks, rows = [build(), build()], torch.rand(2, 3, 1, 6, 6)
    for place, network in enumerate(networks):
        assert close(stack(networks)(rows)[place], network(rows[place]))
