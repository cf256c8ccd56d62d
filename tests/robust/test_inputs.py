"""What is given wrongly is refused in words, whoever is asked; what is merely unusual works."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.robust.attacks.linear import linear
from tests.robust.closeness import close
from torch import nn

from shoal.errors import InputError
from shoal.robust import (
    ATTACKS,
    DIGITS,
    FGSM,
    Architecture,
    Ensemble,
    EnsembleVote,
    Examples,
    Expectation,
    NoisyLogit,
    Training,
    as_classifier,
    attacked,
    every_target,
    judge,
    shared,
    superimpose,
    sweep,
    train,
)

QUICK = {"carlini-wagner": {"steps": 3, "searches": 1}, "lbfgs": {"steps": 2, "searches": 1}}
MODELS = {
    "ensemble": lambda ensemble: ensemble,
    "noisy": lambda ensemble: NoisyLogit(ensemble, 0.1, seed=0),
    "vote": EnsembleVote,
    "expectation": lambda ensemble: Expectation(ensemble, 2),
    "single": lambda _: as_classifier(DIGITS.build(0)),
}
PICTURES = torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(1))
GOALS = torch.tensor([1, 2, 3])
WRONG = {
    "bytes": ((PICTURES * 255).byte(), r"not uint8; convert bytes with images\.float\(\) / 255"),
    "up to 255": (PICTURES * 255, "from 0 to 1, the bounds of the model; scale them"),
    "not a number": (PICTURES * float("nan"), "from 0 to 1, the bounds of the model"),
    "words": ("secret", "must be a tensor or an array of numbers, not str"),
    "one number": (0.5, "not a single number"),
}


@pytest.fixture(params=MODELS)
def model(request, ensemble):
    return MODELS[request.param](ensemble)


@pytest.fixture(params=ATTACKS)
def attack(request):
    return ATTACKS[request.param](**QUICK.get(request.param, {}))


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_picture_is_refused(model, name):
    given, told = WRONG[name]
    for ask in (model, model.labels, model.probabilities, lambda x: model.accuracy(x, GOALS)):
        with pytest.raises(InputError, match=told):
            ask(given)
    with pytest.raises(InputError, match=told):
        FGSM().run(model, given, GOALS)


def test_pictures_may_come_in_other_types(model):
    beyond = (PICTURES / PICTURES.max()) + 1e-7  # by rounding
    for given in (PICTURES.double(), PICTURES.double().numpy(), PICTURES.half(), beyond):
        assert model.labels(given).shape[1] == 3


def test_types_make_no_difference_to_the_answer(ensemble):
    vote = EnsembleVote(ensemble)
    assert torch.equal(vote(PICTURES), vote(PICTURES.double().numpy()))


def test_a_network_is_asked_in_its_own_type():
    plain = DIGITS.build(0).eval()
    exact = as_classifier(DIGITS.build(0).double())
    assert exact(PICTURES).dtype == torch.float64
    assert close(exact(PICTURES).float(), plain(PICTURES))


def test_attacks_take_networks_of_any_type_and_arrays(attack):
    network = DIGITS.build(0).double()
    found = attack.run(network, PICTURES.numpy(), GOALS.int().numpy())
    assert found.adversarial.shape == (1, 3, 1, 8, 8)
    assert found.adversarial.dtype == torch.float64


def test_nothing_asked_is_nothing_answered(model, attack):
    assert model.labels(PICTURES[:0]).shape[1] == 0
    assert attack.run(model, PICTURES[:0], GOALS[:0]).success.shape[1] == 0
    with pytest.raises(InputError, match="pictures is empty"):
        model.accuracy(PICTURES[:0], GOALS[:0])


@pytest.mark.parametrize(
    ("goals", "told"),
    [
        ([1, 2, 10], "goals must be from 0 to 9, the classes of the model; 1 are not"),
        ([-1, 2, -1], "from 0 to 9, the classes of the model; 2 are not"),
        ([1.0, 2.0, 3.0], "goals must be whole numbers, not float32"),
        ([True, True, False], "goals must be whole numbers, not bool"),
        ([1, 2], "3 pictures, 2 goals"),
        ([[1], [2], [3]], r"one number per picture, not of shape \(3, 1\)"),
    ],
)
def test_goals_must_be_classes(model, goals, told):
    with pytest.raises(InputError, match=told):
        FGSM().run(model, PICTURES, torch.tensor(goals))


def test_to_look_for_classes_takes_no_noise(ensemble):
    def found(model):
        return FGSM().run(model, PICTURES, GOALS).adversarial

    hot = ensemble.temperatures.tolist()
    unnamed = Ensemble(ensemble.stack, temperatures=hot)  # it must be asked for its classes
    noisy = [NoisyLogit(model, 0.3, seed=5) for model in (ensemble, unnamed)]
    assert torch.equal(*map(found, noisy))


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ((3, 1, 9, 9), r"pictures of shape \(1, 8, 8\), not \(1, 9, 9\)$"),
        ((3, 8, 8), r"images\.unsqueeze\(1\)"),
        ((3, 8, 8, 1), r"move the channels first with images\.movedim\(-1, 1\)"),
        ((1, 8, 8), r"images\.unsqueeze\(0\)"),
    ],
)
def test_pictures_of_another_shape_are_told_what_to_do(ensemble, shape, told):
    with pytest.raises(InputError, match=told):
        EnsembleVote(NoisyLogit(ensemble, 0.1)).vote(torch.rand(shape))


def test_what_a_network_of_any_make_cannot_answer_is_said():
    flat = [nn.Sequential(nn.Flatten(), nn.Linear(64, 10)) for _ in range(2)]
    for model in (as_classifier(flat[0]), as_classifier(flat)):
        with pytest.raises(InputError, match=r"cannot process pictures of shape \(1, 9, 9\): "):
            model.labels(torch.rand(2, 1, 9, 9))
    with pytest.raises(InputError, match=r"cannot process pictures of shape \(1, 9, 9\): "):
        as_classifier(flat[0])(torch.rand(2, 1, 9, 9), "1")


def test_bounds_of_examples_are_those_of_their_model(attack):
    model = linear([[[1.0, 0.0], [0.0, 1.0]]] * 2, [[0.0, 0.0]] * 2, shape=(2,), bounds=(-2, 3))
    given = torch.tensor([[2.0, -1.0]])
    found = attack.run(model, given, torch.tensor([1]))
    assert found.bounds == (-2, 3)
    changes = torch.tensor([[[0.0, 2.5]], [[0.0, 3.0]]])
    told = replace(found, adversarial=given + changes, success=torch.ones(2, 1).bool())
    assert superimpose(told, 2).adversarial.tolist() == [[[2.0, 3.0]]]
    assert superimpose(told, 2, bounds=(-2, 9)).adversarial.tolist() == [[[2.0, 4.5]]]
    assert superimpose(told, 2).bounds == (-2, 3)


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), (0, 1, 2), (0, float("inf")), "ab"])
def test_bounds_are_a_least_and_a_greatest_number(bounds):
    with pytest.raises(InputError, match="bounds must be the lowest and the highest"):
        as_classifier(DIGITS.build(0), bounds=bounds)


def test_a_model_has_one_pair_of_bounds(ensemble):
    assert EnsembleVote([DIGITS.build(0)], bounds=(-1, 1)).bounds == (-1, 1)
    assert NoisyLogit(ensemble, 0.1, bounds=(0, 1)).bounds == (0, 1)
    with pytest.raises(InputError, match="already has bounds, 0 and 1; omit bounds"):
        NoisyLogit(ensemble, 0.1, bounds=(-1, 1))


@pytest.mark.parametrize("name", ["originals", "goals", "adversarial", "success"])
def test_examples_must_belong_together(name):
    parts = {
        "originals": PICTURES,
        "goals": GOALS,
        "adversarial": PICTURES.expand(2, 3, 1, 8, 8),
        "success": torch.ones(2, 3).bool(),
    }
    Examples(**parts)
    with pytest.raises(InputError, match="must have shape"):
        Examples(**{**parts, name: parts[name][:1]})


@pytest.mark.parametrize(
    ("labels", "options", "told"),
    [
        ([1, 2, 10], {}, "labels must be from 0 to 9"),
        ([1, 2], {}, "3 pictures, 2 labels"),
        ([0.1, 0.2, 0.3], {}, "labels must be whole numbers"),
        ([1, 2, 3], {"samples": torch.arange(2)}, "3 pictures, 2 samples"),
    ],
)
def test_a_judgement_needs_the_truth(ensemble, labels, options, told):
    found = FGSM().run(ensemble, PICTURES, GOALS)
    with pytest.raises(InputError, match=told):
        judge(found, torch.tensor(labels), ensemble, **options)


def test_plain_networks_are_judged_swept_and_attacked(ensemble):
    network = DIGITS.build(0)
    found = FGSM().run(attacked(network, "copy", copy=[network, network]), PICTURES, GOALS)
    assert judge(found, GOALS, network).networks == 1
    swept = sweep(network, PICTURES, GOALS, found, GOALS, scales=[0, 0.1])
    assert swept["scale"].to_pylist() == [0, 0.1]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"scales": []}, "at least one scale"),
        ({"scales": [0, -1]}, "scale must be a number of at least 0, not -1"),
        ({"scales": ["0.1"]}, "scale must be a number of at least 0, not '0.1'"),
        ({"images": PICTURES[:0], "labels": GOALS[:0]}, "no clean picture"),
        ({"labels": GOALS + 8}, "labels must be from 0 to 9"),
        ({"images": (PICTURES * 255).byte()}, "not uint8"),
        ({"attacked_labels": GOALS[:2]}, "3 pictures, 2 attacked_labels"),
    ],
)
def test_a_sweep_says_what_is_wrong(ensemble, changes, told):
    given = {"images": PICTURES, "labels": GOALS, "attacked_labels": GOALS, "scales": [0]}
    found = FGSM().run(ensemble, PICTURES, GOALS)
    with pytest.raises(InputError, match=told):
        sweep(ensemble, craft=found, **{**given, **changes})


@pytest.mark.parametrize(
    ("images", "labels", "told"),
    [
        (PICTURES, [1, 2, 10], "labels must be from 0 to 9"),
        (PICTURES, [[1], [2], [3]], "one number per picture"),
        ((PICTURES * 255).byte(), [1, 2, 3], "not uint8"),
        (PICTURES * 255, [1, 2, 3], "from 0 to 1, the bounds of the model"),
        (PICTURES[:, 0], [1, 2, 3], r"images\.unsqueeze\(1\)"),
    ],
)
def test_training_says_what_is_wrong(images, labels, told):
    with pytest.raises(InputError, match=told):
        train(DIGITS, images, torch.tensor(labels), shared(3, [1]), Training(epochs=1))


def test_networks_of_any_make_learn_their_own_classes_only():
    def build():
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 3))

    members, how = shared(3, [1, 1]), Training(epochs=1)
    made = train(build, PICTURES.double().numpy(), torch.tensor([0, 1, 2]), members, how)
    assert made(PICTURES).shape == (2, 3, 3)
    with pytest.raises(InputError, match="labels must be from 0 to 2, the classes"):
        train(build, PICTURES, GOALS, members, how)


@pytest.mark.parametrize("device", ["cuda:99", "gpu"])
def test_a_device_that_is_not_there_is_said_so(ensemble, tmp_path, device):
    ensemble.save(tmp_path / "a.safetensors")
    for use in (
        lambda: train(DIGITS, PICTURES, GOALS, shared(3, [1]), device=device),
        lambda: Ensemble.load(tmp_path / "a.safetensors", device=device),
        lambda: ensemble.to(device),
    ):
        with pytest.raises(
            InputError, match=f"torch has no device '{device}' here; available: cpu"
        ):
            use()


def test_whoever_wraps_networks_goes_where_they_go():
    networks = Ensemble.of([DIGITS.build(0), DIGITS.build(1)])
    network = DIGITS.build(0)
    wrapped = [EnsembleVote(networks), Expectation(networks, 2), as_classifier(network)]
    hidden = NoisyLogit(networks, 0.1)
    networks.to("meta")  # a device that has shapes and no numbers
    network.to("meta")
    assert hidden.device.type == EnsembleVote(hidden).device.type == "meta"
    for model in wrapped:
        assert model.logits(model.spread(PICTURES)).device.type == "meta"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"shape": (1, 4, 4)}, "4 × 4 are too small for 4 convolutions"),
        ({"shape": (8, 8)}, "shape must be channels, height and width"),
        ({"filters": (4, 0)}, "filters must be a whole number, 1 or more"),
        ({"hidden": (2.5,)}, "hidden must be a whole number"),
        ({"classes": 1}, "classes must be a whole number, 2 or more"),
        ({"dropout": 1.0}, "dropout must be less than 1"),
    ],
)
def test_an_architecture_that_cannot_be_built_is_refused(changes, told):
    usual = {"name": "a", "shape": (1, 8, 8), "filters": (4, 4, 4, 4), "hidden": (8,)}
    Architecture(**{**usual, "padded": True})
    with pytest.raises(InputError, match=told):
        Architecture(**{**usual, **changes})


def test_labels_beyond_the_classes_have_no_targets():
    with pytest.raises(InputError, match="labels must be from 0 to 2"):
        every_target(PICTURES, GOALS, classes=3)
    assert every_target(PICTURES, GOALS, classes=4)[1].tolist() == [0, 2, 3, 0, 1, 3, 0, 1, 2]


def test_a_network_is_no_way_to_make_networks():
    with pytest.raises(
        InputError, match=r"a function that returns a new network .* not Sequential"
    ):
        train(DIGITS.build(0), PICTURES, GOALS, shared(3, [1]))
    with pytest.raises(InputError, match="a list of torch modules"):
        Ensemble.of(DIGITS.build(0))
    with pytest.raises(InputError, match="a list of torch modules"):
        train(lambda: "no network", PICTURES, GOALS, shared(3, [1]))


def test_members_are_taken_out_by_their_positions(ensemble):
    assert ensemble.subset([2, 0]).temperatures.tolist() == [3, 1]
    for wrong in (3, -1):
        with pytest.raises(InputError, match="members must be positions from 0 to 2"):
            ensemble.subset([wrong])
