"""Products of domains that no number holds, and work that is done in parts."""

import math
import sys

import numpy as np
import pytest
from tests.metrics import naive

from shoal.metrics import ambiguity, kl_divergence
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.recoding import Recoding


@pytest.fixture
def wide(released):
    """Two hundred attributes of a hundred values: 10^400 tuples."""
    rng = np.random.default_rng(2)
    columns = {f"c{j}": rng.permutation(100) for j in range(200)}
    return released(columns, range(100)).original


def test_a_suppressed_table_has_lost_everything_however_large(wide):
    recodings = {c.name: Recoding.suppressed(c) for c in wide.quasi_columns}
    top = Release(wide, recodings, KAnonymity(2))
    assert ambiguity(top) == kl_divergence(top) == 1
    assert ambiguity(top, raw=True) == math.inf
    assert kl_divergence(top, raw=True) == pytest.approx(math.log2(100) * 199)


def test_a_half_suppressed_table_has_lost_half_its_bits(wide):
    half = {
        c.name: (Recoding.suppressed if j % 2 else Recoding.identity)(c)
        for j, c in enumerate(wide.quasi_columns)
    }
    release = Release(wide, half, KAnonymity(2))
    assert kl_divergence(release) == pytest.approx(100 / 199)
    assert ambiguity(release) == pytest.approx(1e-200, rel=1e-6)
    assert ambiguity(release, raw=True) == pytest.approx(1e200, rel=1e-6)


def test_boxes_are_looked_at_in_parts(released, monkeypatch):
    rng = np.random.default_rng(4)
    columns = {name: rng.integers(0, 12, 400) for name in "cde"}
    release = released(columns, [i // 2 for i in range(400)])
    whole = kl_divergence(release)
    for memory in (1, 3000):
        monkeypatch.setattr(sys.modules["shoal.metrics.divergence"], "_MAX_BYTES", memory)
        assert kl_divergence(release) == pytest.approx(whole, rel=1e-12)
    assert whole == pytest.approx(naive.scaled("kl-divergence", naive.read(release)))
