"""The 8 × 8 digits, and three small networks that have learned them a little."""

from __future__ import annotations

import pytest
import torch
from sklearn.datasets import load_digits

from shoal.robust import Architecture, Training, shared, train

TINY = Architecture("tiny", (1, 8, 8), (4, 4, 8, 8), (24, 24), padded=True, dropout=0.2)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def digits():
    """Pictures with pixels from 0 to 1, and what they show."""
    found = load_digits()
    images = torch.tensor(found.images / 16, dtype=torch.float32).unsqueeze(1)
    return images, torch.tensor(found.target)


@pytest.fixture(scope="session")
def ensemble(digits, one_thread):
    images, labels = digits
    members = shared(1000, [1, 2, 3], seed=7)
    return train(TINY, images, labels, members, Training(epochs=14, rate=0.06))
