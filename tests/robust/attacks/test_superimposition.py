"""Superimposition: the smallest changes, added up."""

from __future__ import annotations

import pytest
import torch
from tests.robust.closeness import close

from shoal.errors import InputError
from shoal.robust import Examples, superimpose

ORIGINALS = torch.tensor([[0.5, 0.5], [0.9, 0.5]])
CHANGES = torch.tensor(
    [[[0.3, 0.0], [0.2, 0.0]], [[0.0, 0.1], [0.0, 0.1]], [[-0.2, 0.0], [0.0, 0.3]]]
)  # (networks, rows, pixels)


def found(success):
    return Examples(ORIGINALS, torch.tensor([1, 1]), ORIGINALS + CHANGES, torch.tensor(success))


def test_the_smallest_are_added_inside_the_bounds():
    laid = superimpose(found([[True, True]] * 3), 2)
    assert close(laid.adversarial[0], torch.tensor([[0.3, 0.6], [1.0, 0.6]]))
    assert laid.success.tolist() == [[True, True]]


def test_what_failed_is_not_used():
    laid = superimpose(found([[True, False], [True, False], [False, True]]), 2)
    assert close(laid.adversarial[0], torch.tensor([[0.8, 0.6], [0.9, 0.8]]))
    assert laid.success.tolist() == [[True, False]]


def test_no_more_than_there_are():
    with pytest.raises(InputError, match="at most 3"):
        superimpose(found([[True, True]] * 3), 4)
