"""Questions about single examples: whom they fool, how large they are, what was attacked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from statistics import fmean

import numpy as np

from shoal.risk.proportion import proportion
from studies.claims import Answer, Test
from studies.robust import published
from studies.robust.answers import CLOSE, NEAR, WORDS, agrees, together, under
from studies.robust.figures import (
    above,
    by_picture,
    difference,
    own_share,
    percent,
    stage,
    within,
)
from studies.robust.setup import PUBLISHED
from studies.runs import Row


def always_succeeds(rows: Sequence[Row]) -> Answer:
    """Ask whether every attack on a network without noise reached its target."""
    found = [row for row in rows if row["stage"] == "craft" and row["model"] == "plain"]
    tries = sum(row["examples"] for row in found)
    hits = round(sum(row["examples"] * row["success"] for row in found))
    effort = PUBLISHED[found[0]["data"]]
    spared = any(row["steps"] * row["searches"] < effort.steps * effort.searches for row in found)
    return (True if hits == tries else None if spared else False), f"{hits:,} of {tries:,} examples"


def closer(rows: Sequence[Row]) -> Answer:
    """Ask whether the search that ends sooner reaches as many targets, at no greater distance."""
    ours = stage(rows, "closer")
    theirs = stage(rows, "craft", model="plain", first=ours["first"], last=ours["last"])
    if None in (ours["distance"], theirs["distance"]):
        return None, "one of the searches reached no target"
    told = "; ".join(
        f"{name} {percent(row['success'])} reached, mean length {row['distance']:.4f}, "
        f"{row['seconds']:,.1f} s"
        for name, row in (("ours", ours), ("as published", theirs))
    )
    near = ours["distance"] <= (1 + CLOSE) * theirs["distance"]
    return near and ours["success"] >= theirs["success"], told


def own(data: str) -> Test:
    """Ask how many networks behind noise fall for the example made against them (figure 4.7)."""

    def test(rows: Sequence[Row]) -> Answer:
        theirs, row = published.OWN[data], stage(rows, "own", model="noisy")
        columns = row["columns"]
        place = list(zip(columns["label"], columns["goal"], strict=True)).index(theirs[:2])
        named = np.array(columns["named"])[:, place]
        taken, right = (int((named == what).sum()) for what in (theirs.goal, theirs.label))
        told = f"{taken} of {len(named)} fall for it, {right} name the true class"
        pairs = ((taken, theirs.taken), (right, theirs.right))
        holds = [
            agrees(rows, proportion(hits, len(named)), there / published.NETWORKS)
            for hits, there in pairs
        ]
        return together(holds), told

    return test


def withstands(rows: Sequence[Row]) -> Answer:
    """Ask whether networks behind noise fall less often for examples made against them."""
    plain, noisy = (own_share(stage(rows, "own", model=m), "goal") for m in ("plain", "noisy"))
    right = own_share(stage(rows, "own", model="noisy"), "label")
    told = (
        f"over all pictures and targets {within(noisy)} of examples reach their target, "
        f"{percent(plain.value)} without noise; {percent(right.value)} are still right. The search "
        "keeps what one lucky draw let through, and a new draw decides"
    )
    return (True if noisy.high < plain.low else False if noisy.low > plain.high else None), told


def carried(rows: Sequence[Row]) -> Answer:
    """Ask whether fewer networks follow an example to its target where noise was met."""
    plain, noisy = (under(rows, model, 1) for model in WORDS)
    shares = [fmean(row["columns"]["to_target"]) / row["networks"] for row in (plain, noisy)]
    told = f"{percent(shares[0])} of the networks without noise, {percent(shares[1])} with it"
    gap = difference(*(by_picture(row, row["columns"]["to_target"]) for row in (plain, noisy)))
    return above(gap), f"{told}; on average over all examples"


def less_right_between(low: float, high: float) -> Test:
    """Ask whether noise costs the vote accuracy at perturbations between two sizes."""

    def test(rows: Sequence[Row]) -> Answer:
        shares, pictures = [], []
        for model in WORDS:
            columns = under(rows, model, 1)["columns"]
            those = [low <= size <= high for size in columns["perturbation"]]
            kept = {name: list(compress(columns[name], those)) for name in ("sample", "outcome")}
            right = [outcome == "correct" for outcome in kept["outcome"]]
            shares.append(fmean(right))
            pictures.append(by_picture({"columns": kept}, right))
        told = f"{percent(shares[0])} without noise, {percent(shares[1])} with it"
        return above(difference(*pictures)), told

    return test


def spread(data: str) -> Test:
    """Ask whether noise spreads the perturbations (mnist), or leaves them alone (cifar10)."""

    def test(rows: Sequence[Row]) -> Answer:
        plain, noisy = (np.array(under(rows, m, 1)["columns"]["perturbation"]) for m in WORDS)
        small = float(np.quantile(plain, 0.05))
        below, beyond = float((noisy < small).mean()), float((noisy > plain.max()).mean())
        told = (
            f"{percent(below)} are smaller than all but 5 % of those without noise, "
            f"{percent(beyond)} larger than any; means {plain.mean():.3f} and {noisy.mean():.3f}"
        )
        if data == "mnist":
            return below > 2 * NEAR and beyond > 0, told
        moved = abs(noisy.mean() - plain.mean()) > 2 * NEAR * plain.mean()
        return not (below > 2 * NEAR or beyond > NEAR or moved), told

    return test
