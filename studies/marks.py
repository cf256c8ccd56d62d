"""How pictures distinguish our results from published ones: dots and diamonds, two colours."""

from __future__ import annotations

from typing import Any

OURS, THEIRS = "measured here", "published"  # the values of the field `whose`
OUR_COLOUR, THEIR_COLOUR = "#4c78a8", "#e4572e"


def whose_colour() -> Any:
    """Return the colours of the field `whose`."""
    import altair as alt

    scale = alt.Scale(domain=[OURS, THEIRS], range=[OUR_COLOUR, THEIR_COLOUR])
    return alt.Color("whose:N", title=None, scale=scale)


def whose_shape() -> Any:
    """Return the shapes of the field `whose`."""
    import altair as alt

    scale = alt.Scale(domain=[OURS, THEIRS], range=["circle", "diamond"])
    return alt.Shape("whose:N", title=None, scale=scale)
