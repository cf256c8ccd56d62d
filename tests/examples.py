"""How many examples a property is tried on."""

from __future__ import annotations

from hypothesis import settings

EXAMPLES = 60  # of a test that states no number
DEEPER = 6  # times as many in the deep profile


def examples(quick, deep=None):
    """Settings for this many examples in the quick profile, and accordingly more in the deep."""
    return settings(max_examples=deep if deep and is_deep() else times(quick))


def times(quick):
    """How often a loop over seeds is run: so often in the quick profile, more in the deep."""
    return quick * DEEPER if is_deep() else quick


def is_deep():
    """Tell whether the deep profile is loaded."""
    return settings().max_examples > EXAMPLES
