"""Tests of claims on single examples: their success, their size, and the attacked networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import compress
from statistics import fmean

import numpy as np

from studies.claims import Answer, Test
from studies.robust import published
from studies.robust.answers import CLOSE, NEAR, WORDS, at_full_size, under
from studies.robust.figures import (
    by_picture,
    difference,
    mean_over_draws,
    own_share,
    percent,
    points,
    stage,
    within,
)
from studies.robust.setup import PUBLISHED
from studies.runs import Row
from studies.verdicts import (
    above,
    all_of,
    at_least,
    at_most,
    below,
    decide,
    estimate_ratio,
    estimate_share,
    exact,
    near,
)


def always_succeeds(rows: Sequence[Row]) -> Answer:
    """Test whether every attack on a network without noise reaches its target."""
    found = [row for row in rows if row["stage"] == "craft" and row["model"] == "plain"]
    tries = sum(row["examples"] for row in found)
    hits = round(sum(row["examples"] * row["success"] for row in found))
    effort = PUBLISHED[found[0]["data"]]
    spared = any(row["steps"] * row["searches"] < effort.steps * effort.searches for row in found)
    text = f"{hits:,} of {tries:,} examples"
    if spared and hits < tries:  # a shorter search than published
        return "undecided", text
    return decide(exact(hits / tries), at_least(1)), text


def closer(rows: Sequence[Row]) -> Answer:
    """Test whether the search that ends sooner reaches as many targets, at no greater distance."""
    ours = stage(rows, "closer")
    theirs = stage(rows, "craft", model="plain", first=ours["first"], last=ours["last"])
    lengths = [
        math.log(mine / other)
        for mine, other in zip(ours["lengths"], theirs["lengths"], strict=True)
        if mine and other
    ]
    if not lengths:
        return "undecided", "one of the searches reached no target"
    ratio = estimate_ratio(lengths)
    reached = exact(ours["success"] - theirs["success"])
    success = "; ".join(
        f"{name} {percent(row['success'])} of targets reached"
        for name, row in (("ours", ours), ("as published", theirs))
    )
    return all_of((decide(ratio, at_most(1 + CLOSE)), decide(reached, at_least(0)))), (
        f"length over the published search's: {ratio.text('.3f')}; {success}"
    )


def own(data: str) -> Test:
    """Test how many networks behind noise follow the example made against them (figure 4.7)."""

    def test(rows: Sequence[Row]) -> Answer:
        theirs, row = published.OWN[data], stage(rows, "own", model="noisy")
        columns = row["columns"]
        place = list(zip(columns["label"], columns["goal"], strict=True)).index(theirs[:2])
        named = np.array(columns["named"])[:, place]
        taken, right = (int((named == what).sum()) for what in (theirs.goal, theirs.label))
        text = f"{taken} of {len(named)} name the target, {right} the true class"
        pairs = ((taken, theirs.taken), (right, theirs.right))
        return all_of(
            at_full_size(
                rows, estimate_share(hits, len(named)), near(there / published.NETWORKS, NEAR)
            )
            for hits, there in pairs
        ), text

    return test


def withstands(rows: Sequence[Row]) -> Answer:
    """Test whether networks behind noise follow examples made against them less often."""
    plain, noisy = (own_share(stage(rows, "own", model=m), "goal") for m in ("plain", "noisy"))
    right = own_share(stage(rows, "own", model="noisy"), "label")
    text = (
        f"over all pictures and targets {within(noisy)} of examples reach their target, "
        f"{percent(plain.value)} without noise; {percent(right.value)} are still right. The search "
        "keeps what succeeded in one lucky draw, and a new draw decides"
    )
    return decide(noisy.minus(plain), below(0)), text


def transferred(rows: Sequence[Row]) -> Answer:
    """Test whether fewer networks follow an example to its target with noise."""
    plain, noisy = (under(rows, model, 1) for model in WORDS)
    shares = [fmean(row["columns"]["to_target"]) / row["networks"] for row in (plain, noisy)]
    gap = difference(*(by_picture(row, row["columns"]["to_target"]) for row in (plain, noisy)))
    return decide(gap, above(0)), (
        f"{percent(shares[0])} of the networks without noise, {percent(shares[1])} with it, on "
        "average over all examples"
    )


def less_right_between(low: float, high: float) -> Test:
    """Test whether noise costs the vote accuracy at perturbations between two sizes."""

    def test(rows: Sequence[Row]) -> Answer:
        shares, pictures = [], []
        for model in WORDS:
            columns = under(rows, model, 1)["columns"]
            those = [low <= size <= high for size in columns["perturbation"]]
            kept = {name: list(compress(columns[name], those)) for name in ("sample", "outcome")}
            right = [outcome == "correct" for outcome in kept["outcome"]]
            shares.append(fmean(right))
            pictures.append(by_picture({"columns": kept}, right))
        gap = difference(*pictures)
        return decide(gap, above(0)), (
            f"{percent(shares[0])} without noise, {percent(shares[1])} with it; {points(gap)}"
        )

    return test


def spread(data: str) -> Test:
    """Test whether noise spreads the perturbations (mnist), or leaves them alone (cifar10)."""

    def test(rows: Sequence[Row]) -> Answer:
        stages = [under(rows, model, 1) for model in WORDS]
        plain, noisy = (np.array(row["columns"]["perturbation"]) for row in stages)
        small, large = float(np.quantile(plain, 0.05)), float(plain.max())
        below_it, beyond = (
            mean_over_draws(list(by_picture(stages[1], those.tolist()).values()))
            for those in (noisy < small, noisy > large)
        )
        change = difference(
            *(by_picture(row, row["columns"]["perturbation"]) for row in reversed(stages))
        )
        text = (
            f"{within(below_it)} are smaller than 95 % of those without noise, {within(beyond)} "
            f"larger than any; means {plain.mean():.3f} and {noisy.mean():.3f}"
        )
        if data == "mnist":
            return all_of((decide(below_it, above(2 * NEAR)), decide(beyond, above(0)))), text
        return all_of((
            decide(below_it, at_most(2 * NEAR)),
            decide(beyond, at_most(NEAR)),
            decide(change, near(0, 2 * NEAR * float(plain.mean()))),
        )), text  # fmt: skip

    return test
