"""Networks learn together as each would learn alone, and go on after a break."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.robust.closeness import close
from tests.robust.conftest import TINY
from torch import nn
from torch.nn import functional

from shoal.errors import InputError, NotConverged
from shoal.robust import Architecture, Training, draws, partitioned, shared, train
from shoal.robust.training import shifted
from shoal.support.progress import listening

SHORT = Training(epochs=3, batch=32, rate=0.05, decay=1e-3, every=1)


def judge_same(first, second):
    for name, value in first.items():
        assert close(value, second[name], rtol=1e-4, atol=1e-6)


@pytest.fixture(scope="module")
def lesson(digits):
    images, labels = digits
    return images[:200], labels[:200]


@pytest.mark.parametrize("form", [partitioned, shared])
def test_together_is_one_by_one(lesson, form):
    members = form(200, [1, 5, 20], seed=2)
    together = train(TINY, *lesson, members, SHORT).stack.weights()
    for place, member in enumerate(members):
        alone = train(TINY, *lesson, [member], SHORT).stack.weights()
        judge_same({name: value[place : place + 1] for name, value in together.items()}, alone)


def test_shifts_are_a_members_own(lesson):
    members = partitioned(200, [1, 5], seed=2)
    how = replace(SHORT, shift=2)
    together = train(TINY, *lesson, members, how).stack.weights()
    alone = train(TINY, *lesson, [members[1]], how).stack.weights()
    judge_same({name: value[1:] for name, value in together.items()}, alone)
    plain = train(TINY, *lesson, members, SHORT).stack.weights()
    assert not any(torch.equal(plain[name], value) for name, value in together.items())


def test_a_shift_moves_a_picture_and_no_further():
    pictures = torch.arange(35.0).view(5, 7).expand(1, 400, 2, 5, 7)
    moved = shifted(pictures, torch.tensor([9]), 3, 1)
    seen = set((moved[0, :, 0, 2, 3] - 17).int().tolist())
    assert seen == {down * 7 + right for down in (-1, 0, 1) for right in (-1, 0, 1)}
    assert torch.equal(moved[:, :, 0], moved[:, :, 1])  # channels move together
    assert moved.min() == 0
    assert moved.max() == 34  # what comes in is the edge


def test_a_member_learns_as_by_plain_torch(lesson):
    """Without dropout, so that torch's own layers draw nothing."""
    dry = Architecture("dry", (1, 8, 8), (4, 4), (12,), padded=True)
    (_, member) = partitioned(200, [3, 7], size=70, seed=4)
    learned = train(dry, *lesson, partitioned(200, [3, 7], size=70, seed=4), SHORT)
    images, labels = lesson
    network = dry.build(member.seed)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    step = 0
    for epoch in range(3):
        order = draws.permutations(torch.tensor(member.seed), 1, epoch, count=70)
        for batch in member.rows[order].split(32):
            optimizer.param_groups[0]["lr"] = 0.05 / (1 + 1e-3 * step)
            optimizer.zero_grad()
            functional.cross_entropy(network(images[batch]) / 7, labels[batch]).backward()
            optimizer.step()
            step += 1
    judge_same(dict(network.state_dict()), {n: v[1] for n, v in learned.stack.weights().items()})


def test_a_network_of_any_make_learns_with_its_dropout(lesson):
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.Sequential(nn.Flatten(), nn.Linear(64, 9), nn.Dropout(0.4), nn.ReLU())
            self.last = nn.Linear(9, 10)

        def forward(self, inputs):
            return self.last(self.parts(inputs))

    def chain():
        made = Own()
        return nn.Sequential(*made.parts, made.last)

    members = shared(200, [1, 2], seed=1)
    mapped = train(Own, *lesson, members, SHORT).stack.weights()
    chained = train(chain, *lesson, members, SHORT).stack.weights()
    for one, other in zip(mapped.values(), chained.values(), strict=True):
        assert close(one, other, rtol=1e-4, atol=1e-6)


def test_a_break_changes_nothing(lesson, tmp_path):
    members = partitioned(200, [1, 4], seed=3)
    whole = train(TINY, *lesson, members, SHORT).stack.weights()

    def stop(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    kept = tmp_path / "kept.safetensors"
    with listening(stop), pytest.raises(KeyboardInterrupt):
        train(TINY, *lesson, members, SHORT, checkpoint=kept)
    seen = []
    with listening(lambda progress: seen.append(progress.done)):
        resumed = train(TINY, *lesson, members, SHORT, checkpoint=kept).stack.weights()
    assert seen == [2, 3]
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_checkpoint_of_something_else_is_refused(lesson, tmp_path):
    kept = tmp_path / "kept.safetensors"
    train(TINY, *lesson, shared(200, [1, 2]), SHORT, checkpoint=kept)
    with pytest.raises(InputError, match="temperatures differ"):
        train(TINY, *lesson, shared(200, [1, 3]), SHORT, checkpoint=kept)
    with pytest.raises(InputError, match="data differ"):
        train(TINY, 1 - lesson[0], lesson[1], shared(200, [1, 2]), SHORT, checkpoint=kept)
    with pytest.raises(InputError, match="already contains 3 epochs"):
        train(TINY, *lesson, shared(200, [1, 2]), Training(epochs=1, batch=32, rate=0.05,
              decay=1e-3), checkpoint=kept)  # fmt: skip
    other = Architecture("other", (1, 8, 8), (3,), (5,))
    with pytest.raises(InputError, match="another architecture"):
        train(other, *lesson, shared(200, [1, 2]), SHORT, checkpoint=kept)


def test_parts_share_no_row():
    members = partitioned(100, [1, 2, 3], size=30, seed=9)
    rows = torch.cat([member.rows for member in members])
    assert len(rows) == len(rows.unique()) == 90
    assert len({member.seed for member in members}) == 3
    with pytest.raises(InputError, match="more rows than the 100"):
        partitioned(100, [1, 2, 3], size=40)
    with pytest.raises(InputError, match="2 networks with 1 rows each need more rows than the 1"):
        partitioned(1, [1, 2])
    with pytest.raises(InputError, match="size must be a whole number, 1 or more, not 0"):
        partitioned(100, [1, 2], size=0)
    with pytest.raises(InputError, match="at least one temperature"):
        partitioned(100, [])


def test_it_learns(ensemble, digits):
    images, labels = digits
    assert ensemble.accuracy(images[1000:], labels[1000:]).min() > 0.7


def test_half_precision_learns_nearly_the_same(lesson):
    members = shared(200, [1, 2], seed=6)
    exact, rough = (
        train(TINY, *lesson, members, Training(epochs=1, precision=name)).stack.weights()
        for name in ("float32", "bfloat16")
    )
    assert not close(exact["0.weight"], rough["0.weight"])
    for name, value in exact.items():
        assert rough[name].dtype == torch.float32
        assert close(value, rough[name], rtol=0, atol=0.01)


def test_networks_that_run_away_are_reported(lesson):
    with pytest.raises(NotConverged, match="2 of 2 networks diverged"):
        train(TINY, *lesson, shared(200, [1, 1]), Training(epochs=4, rate=1e6))


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch": 0},
        {"precision": "int8"},
        {"shift": -1},
        {"rate": -0.1},
        {"momentum": 2},
    ],
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Training(**wrong)


@pytest.mark.parametrize(
    ("pictures", "labels", "temperatures", "told"),
    [
        (200, 150, [1, 2], "200 pictures, 150 labels"),
        (150, 150, [1, 2], "beyond the 150 pictures"),
        (200, 200, [1, 0], "2 temperatures, all above 0"),
        (200, 200, [1, float("nan")], "2 temperatures, all above 0"),
        (200, 200, [], "no members to train"),
    ],
)
def test_what_cannot_be_learned_is_refused_before_any_work(
    lesson, pictures, labels, temperatures, told
):
    seen = []
    given = lesson[0][:pictures], lesson[1][:labels]
    with listening(seen.append), pytest.raises(InputError, match=told):
        train(TINY, *given, shared(200, temperatures), SHORT)
    assert not seen


def test_only_pictures_can_be_moved(lesson):
    flat = lesson[0].flatten(1)
    with pytest.raises(InputError, match="shift needs pictures"):
        train(lambda: nn.Linear(64, 10), flat, lesson[1], shared(200, [1]), replace(SHORT, shift=1))
