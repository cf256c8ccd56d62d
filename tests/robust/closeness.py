"""Tensors that agree but for rounding."""

from __future__ import annotations

import torch


def close(one, other, *, rtol=1e-4, atol=1e-5):
    """Tell whether two tensors have one shape and, but for rounding, the same numbers."""
    return one.shape == other.shape and torch.allclose(one, other, rtol=rtol, atol=atol)
