"""Rank-1 cuts: partition rows, multiplied, added up and rounded down.

Jepsen, Petersen, Spoorendonk & Pisinger, "Subset-row inequalities applied to the vehicle-routing
problem with time windows", Operations Research 56(2), 2008; multipliers for up to five rows from
Pecin, Pessoa, Poggi, Uchoa & Santos, "Limited memory rank-1 cuts for vehicle routing problems",
Operations Research Letters 45(3), 2017.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition.exact._separation import Solution, find_cuts, make_rule
from shoal.anonymize.partition.exact.master import Cut
from shoal.support.arrays import Codes, Counts, Floats

# multipliers × step, descending
_PATTERNS = [
    (2, (1, 1, 1)),
    (3, (2, 1, 1, 1)),
    (2, (1, 1, 1, 1, 1)),
    (3, (1, 1, 1, 1, 1)),
    (3, (2, 2, 1, 1, 1)),
    (4, (2, 2, 1, 1, 1)),
    (4, (3, 1, 1, 1, 1)),
    (4, (3, 3, 2, 2, 1)),
    (5, (3, 2, 2, 1, 1)),
    (2, (1,) * 7),
    (2, (1,) * 9),
    (3, (1,) * 8),
    (4, (1,) * 7),
    (4, (1,) * 11),
    (5, (1,) * 9),
    (3, (2, 2, 1, 1, 1, 1)),
    (4, (2, 2, 1, 1, 1, 1, 1, 1, 1)),
]
_PLENTY = 4  # candidate cuts per wanted cut
_STARTS = 60  # of each search
_SPLIT = 1e-6  # a value this far from whole numbers is split
_WORTH = 0.02  # least violation of a cut that is kept
_OFTEN = 8  # cuts of one round that a kind may be in


def separate(
    groups: Codes, value: Floats, counts: Counts, known: set[bytes], seed: int, most: int
) -> list[Cut]:
    """Return cuts that a solution violates, the most violated first.

    groups, value: (groups, room) and (groups,) the groups in the solution. known: keys of existing
    cuts.
    """
    room = groups.shape[1]
    split = np.abs(value - np.rint(value)) > _SPLIT
    kinds, solution = _by_kind(groups[split], value[split], counts)
    size = len(kinds)
    draw = np.random.default_rng(seed)
    starts = min(2 * size, _STARTS)
    noise = draw.random((starts, size)) * 1e-9
    noise[starts // 2 :] *= 2e8
    begin = draw.permutation(size).astype(np.int32)
    load, used = np.zeros(len(solution.value), np.int32), np.zeros(size, dtype=np.bool_)
    found: dict[bytes, tuple[float, Cut]] = {}
    for step, weights in _PATTERNS:
        if len(weights) > size or len(found) > _PLENTY * most:
            continue
        chosen = np.zeros((starts, len(weights)), dtype=np.int32)
        chosen[:, 0] = np.resize(begin, starts)
        violated = np.zeros(starts)
        rule = make_rule(weights, step, room)
        find_cuts(rule, solution, noise, load, used, chosen, violated)
        for i in np.flatnonzero(violated > _WORTH):
            weight = np.zeros(len(counts) + 1, dtype=np.int32)
            weight[kinds[chosen[i]]] = rule.weights
            right = int((weight[:-1] * counts).sum()) // step
            cut = Cut(weight, step, right)
            if cut.key not in known:
                found[cut.key] = (float(violated[i]), cut)
    return _pick(list(found.values()), known, most)


def _pick(found: list[tuple[float, Cut]], known: set[bytes], most: int) -> list[Cut]:
    """Return the most violated cuts, no kind in too many of them."""
    found.sort(key=lambda one: (-one[0], one[1].key))
    picked: list[Cut] = []
    often = np.zeros(0, dtype=np.int64)
    for _, cut in found:
        if not len(often):
            often = np.zeros(len(cut.weight), dtype=np.int64)
        members = cut.weight > 0
        if len(picked) < most and often[members].max() < _OFTEN:
            often += members
            picked.append(cut)
            known.add(cut.key)
    return picked


def _by_kind(groups: Codes, value: Floats, counts: Counts) -> tuple[Counts, Solution]:
    """Return the kinds in some groups, and these groups by kind."""
    keys = groups.astype(np.int64) * len(groups) + np.arange(len(groups))[:, None]
    unique, times = np.unique(keys[groups < len(counts)], return_counts=True)
    kinds, first = np.unique(unique // max(len(groups), 1), return_index=True)
    holder = (unique % max(len(groups), 1)).astype(np.int32)
    first = np.append(first, len(unique)).astype(np.int32)
    times = times.astype(np.int32)
    return kinds, Solution(value, counts[kinds].astype(np.int32), first, holder, times)
