# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: reduced costs of listed groups, and violated rank-1 cuts by local search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def reduced_costs(groups, cost, duals, cuts, filled, out):
    """Store each listed group's cost minus its kinds' duals plus its cuts' penalties.

    groups: (groups, room) kinds of record, padded with a kind with dual 0 that is in no cut.
    cost: (groups,). duals: (kinds + 1,). cuts: Cuts, by kind instead of by record.
    filled: (cuts,) scratch of zeros, which is reset to zeros: the weights of the group in each cut,
        below a step.
    out: (groups,) receives the reduced costs.
    """
    for g in range(len(groups)):
        total = cost[g]
        for i in range(groups.shape[1]):
            kind = groups[g, i]
            total -= duals[kind]
            for at in range(cuts.start[kind], cuts.start[kind + 1]):
                c = cuts.cut[at]
                filled[c] += cuts.weight[at]
                if filled[c] >= cuts.step[c]:
                    # one more multiple of the step: the cut charges its price
                    filled[c] -= cuts.step[c]
                    total += cuts.price[c]
        out[g] = total
        # clear what the group touched
        for i in range(groups.shape[1]):
            kind = groups[g, i]
            for at in range(cuts.start[kind], cuts.start[kind + 1]):
                filled[cuts.cut[at]] = 0


class Solution(NamedTuple):
    """A solution of the linear program, by kinds.

    value: (groups,) of each group in use. counts: (kinds,) records of each kind.
    first, holder, times: the groups with kind t, and how often each has it, are at
    first[t]..first[t + 1].
    """

    value: Any
    counts: Any
    first: Any
    holder: Any
    times: Any


class Rule(NamedTuple):
    """A kind of cut.

    weights: (rows,) multipliers × step. step: the denominator.
    quotient, remainder: (loads,) each load divided by the step, looked up instead of computed.
    """

    weights: Any
    step: Any
    quotient: Any
    remainder: Any


def make_rule(weights: tuple[int, ...], step: int, room: int) -> Rule:
    """Make the tables for loads of groups of up to `room` records."""
    loads = np.arange(step * (room + 2), dtype=np.int32)
    quotient = (loads // step).astype(np.int32)
    return Rule(np.array(weights, dtype=np.int32), np.int32(step), quotient, loads % np.int32(step))


@njit(cache=True, error_model="numpy")
def _gain(kind, weight, rule, solution, load):
    """Return the increase of the left side if a kind gets this weight; loads are below a step."""
    total = 0.0
    for at in range(solution.first[kind], solution.first[kind + 1]):
        g = solution.holder[at]
        total += solution.value[g] * rule.quotient[load[g] + weight * solution.times[at]]
    return total


@njit(cache=True, error_model="numpy")
def _promise(kind, weight, solution, load):
    """Return how much closer to the next step a kind would bring the groups that contain it."""
    total = 0.0
    for at in range(solution.first[kind], solution.first[kind + 1]):
        g = solution.holder[at]
        more = weight * solution.times[at]
        total += solution.value[g] * (2 * load[g] + more) * more
    return total


@njit(cache=True, error_model="numpy")
def _put(kind, weight, rule, solution, load):
    """Add a kind's weight to the load of the groups with it."""
    for at in range(solution.first[kind], solution.first[kind + 1]):
        g = solution.holder[at]
        load[g] = rule.remainder[load[g] + weight * solution.times[at]]


@njit(cache=True, error_model="numpy")
def _take(kind, weight, rule, solution, load):
    """Remove a kind's weight from the load of its groups; return the decrease of the left side."""
    total = 0.0
    for at in range(solution.first[kind], solution.first[kind + 1]):
        g = solution.holder[at]
        less, borrowed = load[g] - weight * solution.times[at], 0
        while less < 0:
            less += rule.step
            borrowed += 1
        load[g] = less
        total += solution.value[g] * borrowed
    return total


@njit(cache=True, error_model="numpy")
def find_cuts(rule, solution, noise, load, used, chosen, violated):
    """Search violated cuts, each from a kind: Σ value × ⌊load / step⌋ beyond ⌊all weights / step⌋.

    noise: (starts, kinds) small numbers that break ties.
    load: (groups,) scratch: the weights of each group in the cut, below a step.
    used: (kinds,) scratch: whether a kind is in the cut.
    chosen: (starts, rows) kinds in the order of the weights, of which the first is given; receives
        the others. violated: (starts,) receives by how much each cut is violated.
    Invariant: load, used and `left`, the left side, are those of the rows chosen so far.
    """
    kinds = len(solution.counts)
    for start in range(len(chosen)):
        used[:] = False
        load[:] = 0
        left = 0.0
        for row in range(len(rule.weights)):
            pick = chosen[start, 0]
            if row > 0:
                best = -1.0
                for kind in range(kinds):
                    if not used[kind]:
                        score = noise[start, kind]
                        # prefer the kind whose groups come closest to their next step
                        score += _promise(kind, rule.weights[row], solution, load)
                        if score > best:
                            best, pick = score, kind
            chosen[start, row] = pick
            used[pick] = True
            left += _gain(pick, rule.weights[row], rule, solution, load)
            _put(pick, rule.weights[row], rule, solution, load)
        violated[start] = _improve(left, rule, solution, load, used, chosen[start])


@njit(cache=True, error_model="numpy")
def _improve(left, rule, solution, load, used, chosen):
    """Exchange rows of a cut while its violation increases; return the violation.

    Invariant: load, used, `left` (left side) and `right` (sum of all weights) are those of chosen.
    """
    right = 0
    for row in range(len(chosen)):
        right += rule.weights[row] * solution.counts[chosen[row]]
    better = True
    while better:
        better = False
        for row in range(len(chosen)):
            old, weight = chosen[row], rule.weights[row]
            kept = _take(old, weight, rule, solution, load)
            rest = right - weight * solution.counts[old]
            # the row keeps its kind unless another one violates the cut by more
            best, pick, gained = kept - right // rule.step + 1e-6, old, kept
            for kind in range(len(solution.counts)):
                if not used[kind]:
                    gain = _gain(kind, weight, rule, solution, load)
                    score = gain - (rest + weight * solution.counts[kind]) // rule.step
                    if score > best:
                        best, pick, gained = score, kind, gain
            left += gained - kept
            right = rest + weight * solution.counts[pick]
            _put(pick, weight, rule, solution, load)
            used[old] = False
            used[pick] = True
            better |= pick != old
            chosen[row] = pick
    return left - right // rule.step
