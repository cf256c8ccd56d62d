# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: states of a sweep over columns, the steps between them, and sums along the steps.

A state is one int64 that packs the number of used rows of each open kind; `profile.py` plans which
bits each count has. The states between two columns are numbered in the order in which `expand`
reaches them. Sums of a state are indexed by that number.

    expand             states before a column → steps → states after it
    push, push_whole   forward: weights of all partial matchings, as floats or exact integers
    pull               backward: weights of all completions, and of the pairs

Each kernel handles one column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit

_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio
_EMPTY = -1


class Choices(NamedTuple):
    """The kinds of rows that the next column can be matched with.

    shifts: (choices,) the lowest bit of the count of each kind in a state.
    fields: (choices,) the largest number that fits there, as a mask. counts: (choices,) rows.
    ending: mask of the counts that close with this column. ended: their value when all rows are
        used, the only one that a step may reach; they are then cleared.
    """

    shifts: Any
    fields: Any
    counts: Any
    ending: int
    ended: int


class Steps(NamedTuple):
    """Steps from the states before a column to those after it.

    source, target: (steps,) the numbers of the states before and after.
    choice: (steps,) the kind of row. free: (steps,) its unused rows before the step.
    Steps of one source are adjacent, and sources ascend.
    """

    source: Any
    target: Any
    choice: Any
    free: Any


@njit(cache=True, nogil=True, error_model="numpy")
def expand(states, choices, steps, table, after_states):
    """List all steps from the states; return their number and that of the states they reach.

    states: (states,) before the column. steps: written, room for one for each state and choice.
    table: (2^b,) scratch, all _EMPTY: a hash table with linear probing, from a state to its number;
        at least twice as large as the number of states that can be reached.
    after_states: written, the states after the column; room for one for each step.
    Invariant: after_states[:reached] are distinct, the table has exactly those, and the first
    `made` steps are complete.
    """
    mask = len(table) - 1
    made, reached = 0, 0
    for source in range(len(states)):
        state = states[source]
        for choice in range(len(choices.shifts)):
            used = (state >> choices.shifts[choice]) & choices.fields[choice]
            if used == choices.counts[choice]:
                continue
            # a kind without a later column must be used up by now; its bits become free again
            after = state + (np.int64(1) << choices.shifts[choice])
            if after & choices.ending != choices.ended:
                continue
            after &= ~choices.ending
            place = np.int64((np.uint64(after) * _HASH) >> np.uint64(32)) & mask
            while table[place] != _EMPTY and after_states[table[place]] != after:
                place = (place + 1) & mask
            if table[place] == _EMPTY:
                table[place] = reached
                after_states[reached] = after
                reached += 1
            steps.source[made] = source
            steps.target[made] = table[place]
            steps.choice[made] = choice
            steps.free[made] = choices.counts[choice] - used
            made += 1
    return made, reached


@njit(cache=True, nogil=True, error_model="numpy")
def push(steps, weights, before, after):
    """Sum the weights of all partial matchings that reach each state.

    weights: (choices,). before: (states,) the same sums before the column. after: written.
    """
    after[:] = 0.0
    for s in range(len(steps.source)):
        weight = weights[steps.choice[s]] * steps.free[s]
        after[steps.target[s]] += before[steps.source[s]] * weight


@njit(cache=True, nogil=True, error_model="numpy")
def pull(steps, weights, ways, after, before, shares, lost):
    """Sum the weights of all completions of each state, and of all matchings through each choice.

    ways: (states before,) from `push`. after: (states after,) the completions after the column.
    before: (states before,) written, the completions before it.
    shares: (choices,) added to, the weight of all matchings that take the choice.
    lost: (choices,) added to, the digits that the additions to `shares` dropped (Neumaier's sum).
    Invariant: shares[c] + lost[c] is the sum of the terms so far to almost twice the precision.
    """
    before[:] = 0.0
    for s in range(len(steps.source)):
        choice, source = steps.choice[s], steps.source[s]
        led = weights[choice] * steps.free[s] * after[steps.target[s]]
        before[source] += led
        # Neumaier: the digits that the smaller addend loses are added up on their own
        added = ways[source] * led
        total = shares[choice] + added
        if shares[choice] >= added:
            lost[choice] += (shares[choice] - total) + added
        else:
            lost[choice] += (added - total) + shares[choice]
        shares[choice] = total


@njit(cache=True, nogil=True, error_model="numpy")
def push_whole(steps, before, after):
    """Count as `push` with weights of 1, in integers of 32-bit digits, lowest digit first.

    before, after: (states, digits) uint64. Sums of products of a digit and `free` stay below 2⁶⁴:
    the free rows of all steps into a state are at most the rows of the matrix. So carries are
    propagated once, at the end.
    """
    digits = before.shape[1]
    after[:] = 0
    for s in range(len(steps.source)):
        source, target = steps.source[s], steps.target[s]
        free = np.uint64(steps.free[s])
        for d in range(digits):
            after[target, d] += before[source, d] * free
    for state in range(len(after)):
        carry = np.uint64(0)
        for d in range(digits):
            total = after[state, d] + carry
            after[state, d] = total & np.uint64(0xFFFFFFFF)
            carry = total >> np.uint64(32)
