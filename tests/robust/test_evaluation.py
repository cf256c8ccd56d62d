"""Tables of an evaluation, counted by hand on networks that name the brightest pixel."""

from __future__ import annotations

import pyarrow as pa
import pytest
import torch
from tests.robust.attacks.linear import linear

from shoal.errors import InputError
from shoal.robust import (
    EnsembleVote,
    Examples,
    NoisyLogit,
    accuracies,
    by_bin,
    classifications,
    judge,
    mean_perturbations,
)

EYE = torch.eye(3)
MODEL = linear([EYE, EYE, EYE[[1, 0, 2]]], [[0.0] * 3] * 3, shape=(3,))  # the last mixes 0 and 1
ORIGINALS = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
ADVERSARIAL = torch.tensor(
    [
        [[0.5, 0.9, 0.0], [0.0, 0.0, 1.0]],  # 0 → 1 by two networks, and nothing
        [[0.5, 0.0, 0.9], [0.9, 0.0, 0.5]],  # 0 → 2; 2 → 0 by two, 2 → 1 by the last
    ]
)
FOUND = Examples(ORIGINALS, torch.tensor([1, 0]), ADVERSARIAL, torch.ones(2, 2, dtype=torch.bool))
LABELS = torch.tensor([0, 2])


@pytest.fixture(params=[MODEL, EnsembleVote(MODEL), NoisyLogit(MODEL, 0)])
def judged(request):
    return judge(FOUND, LABELS, request.param)


def test_each_example_is_judged_as_by_hand(judged):
    rows = judged.examples.to_pylist()
    assert [(row["network"], row["sample"]) for row in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [row["clean"] for row in rows] == [0, 2, 0, 2]
    assert [row["voted"] for row in rows] == [1, 2, 2, 0]
    assert [row["outcome"] for row in rows] == ["target", "correct", "other", "target"]
    assert [row["to_target"] for row in rows] == [2, 0, 0, 2]
    assert [row["to_other"] for row in rows] == [1, 0, 3, 1]
    assert [row["right"] for row in rows] == [1, 3, 0, 0]  # networks: the last mixes 0 and 1
    assert [row["margin"] for row in rows] == pytest.approx([1 / 3, 1, 1, 1 / 3])
    near = (0.5**2 + 0.9**2) ** 0.5
    assert [row["perturbation"] for row in rows] == pytest.approx([near, 0, near, near])


def test_means_over_networks_and_votes(judged):
    assert judged.networks == 3
    assert judged.single_clean == pytest.approx(5 / 6)  # the last network is wrong on the first
    assert judged.single_attacked == pytest.approx(4 / 12)  # the last one sees 1 as 0; all see 2
    assert (judged.accuracy_clean, judged.accuracy_attacked) == (1, 0.25)
    assert accuracies({"it": judged}).to_pylist() == [
        {
            "model": "it",
            "vote_clean": 1.0,
            "vote_attacked": 0.25,
            "single_clean": pytest.approx(5 / 6),
            "single_attacked": pytest.approx(1 / 3),
        }
    ]


def test_bins_hold_means_and_shares(judged):
    found = by_bin(judged, bins=2, greatest=2.0).to_pylist()
    assert [row["middle"] for row in found] == [0.5, 1.5]
    assert [row["examples"] for row in found] == [1, 3]
    assert [row["to_target"] for row in found] == pytest.approx([0, 4 / 3])
    assert [row["to_other"] for row in found] == pytest.approx([0, 5 / 3])
    assert [row["vote_to_target"] for row in found] == [0, 0.5]
    assert [row["vote_to_other"] for row in found] == [0, 0.25]
    assert [row["accuracy"] for row in found] == [1, 0]


def test_an_empty_bin_has_no_mean(judged):
    found = by_bin(judged)
    assert (found.num_rows, sum(found["examples"].to_pylist())) == (40, 4)
    assert found["to_target"].null_count == found["accuracy"].null_count == 38


def test_outcomes_are_tidy(judged):
    shares = classifications({"a": judged, "b": judged})
    assert shares.schema.field("value").type == pa.float64()
    assert shares["outcome"].to_pylist() == ["correct", "target", "other"] * 2
    assert shares["value"].to_pylist() == [0.25, 0.5, 0.25] * 2
    sizes = mean_perturbations({"a": judged})["value"].to_pylist()
    near = (0.5**2 + 0.9**2) ** 0.5
    assert sizes == pytest.approx([0, near, near])


def test_an_outcome_that_did_not_occur_has_no_perturbation():
    still = Examples(
        ORIGINALS, torch.tensor([1, 0]), ORIGINALS.unsqueeze(0), torch.zeros(1, 2).bool()
    )
    found = mean_perturbations({"a": judge(still, LABELS, MODEL)})
    assert found["value"].to_pylist() == [0.0, None, None]


def test_labels_must_be_as_many_as_rows():
    with pytest.raises(InputError, match="2 pictures, 3 labels"):
        judge(FOUND, torch.tensor([1, 2, 0]), MODEL)


def test_an_endless_perturbation_is_in_the_last_bin():
    pictures = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    changed = torch.tensor([[[0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]])
    examples = Examples(pictures, torch.tensor([1, 0]), changed, torch.ones(1, 2).bool())
    found = by_bin(judge(examples, LABELS, MODEL), bins=2).to_pylist()
    assert [row["middle"] for row in found] == [0.125, 0.375]
    assert [row["examples"] for row in found] == [0, 2]


def test_nothing_to_judge_is_said_so():
    none = Examples(
        torch.zeros(0, 3), torch.zeros(0).long(), torch.zeros(2, 0, 3), torch.zeros(2, 0).bool()
    )
    with pytest.raises(InputError, match="no examples to judge"):
        judge(none, torch.zeros(0).long(), MODEL)


def test_bins_must_be_one_or_more(judged):
    with pytest.raises(InputError, match="bins must be"):
        by_bin(judged, bins=0)
    with pytest.raises(InputError, match="greatest must be more than 0"):
        by_bin(judged, greatest=0)
