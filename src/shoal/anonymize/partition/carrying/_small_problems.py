# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: groupings of a few records that no move and no swap improves."""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition._boxes import (
    add_record,
    box_width,
    copy_ids,
    empty_box,
    width_with,
)
from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def cut_order(points, k, boxes, ids, least, cut):
    """Group neighbours as well as the records' order allows; return the number of groups.

    ids: (records,) receives the group of each record. boxes: Boxes, of which box 0 is scratch.
    least, cut: (records + 1,) scratch: the least loss of the first records, −1 if they cannot be
        divided into groups, and where their last group begins.
    Invariant: least[:begin + 1] is final; box 0 covers the records begin … end − 1.
    """
    count = len(ids)
    least[0] = 0
    for end in range(1, count + 1):
        least[end] = -1
    for begin in range(count - k + 1):
        if least[begin] < 0:
            continue
        empty_box(boxes, 0)
        for end in range(begin + 1, min(begin + 2 * k, count + 1)):
            add_record(points, boxes, 0, end - 1)
            if end - begin < k:
                continue
            loss = least[begin] + (end - begin) * box_width(points, boxes, 0)
            if least[end] < 0 or loss < least[end]:
                least[end], cut[end] = loss, begin
    end, groups = count, 0
    while end > 0:
        for i in range(cut[end], end):
            ids[i] = groups
        end = cut[end]
        groups += 1
    return groups


@njit(cache=True, error_model="numpy")
def fill_group(points, boxes, ids, group):
    """Fill the box of a group, and those of the group without each of its records.

    boxes: (records + groups) boxes: the group of record i without it at i, then the groups.
    """
    count = len(ids)
    empty_box(boxes, count + group)
    for i in range(count):
        if ids[i] != group:
            continue
        add_record(points, boxes, count + group, i)
        empty_box(boxes, i)
        for j in range(count):
            if ids[j] == group and j != i:
                add_record(points, boxes, i, j)


@njit(cache=True, error_model="numpy")
def descend(points, copy, k, boxes, ids, groups, sizes, widths):
    """Move and swap records while the loss falls; return it. At least two records in a group.

    copy: (records,) equal numbers for equal records. boxes: as in `fill_group`.
    ids: (records,) the grouping, which is improved in place; groups: its number of groups.
    sizes, widths: (groups,) scratch.
    Invariant: boxes, sizes and widths are those of ids.
    """
    count = len(ids)
    for group in range(groups):
        fill_group(points, boxes, ids, group)
        widths[group] = box_width(points, boxes, count + group)
        sizes[group] = 0
    for i in range(count):
        sizes[ids[i]] += 1
    better = True
    while better:
        better = False
        for i in range(count):
            better |= improve(points, copy, k, boxes, ids, groups, sizes, widths, i)
    total = np.int64(0)
    for group in range(groups):
        total += sizes[group] * widths[group]
    return total


@njit(cache=True, error_model="numpy")
def improve(points, copy, k, boxes, ids, groups, sizes, widths, i):
    """Make the best move or swap of record i if it lowers the loss; return whether it did.

    Arguments as in `descend`. Invariant: `best` is the lowest change of the loss tried so far, 0
    for none; `into` and `partner` describe it.
    """
    own, count = ids[i], len(ids)
    best, partner, into = np.int64(0), -1, -1
    if sizes[own] > k:
        saved = sizes[own] * widths[own] - (sizes[own] - 1) * box_width(points, boxes, i)
        for other in range(groups):
            if other == own or sizes[other] > 2 * k - 2:
                continue
            change = (sizes[other] + 1) * width_with(points, boxes, count + other, i) - saved
            change -= sizes[other] * widths[other]
            if change < best:
                best, into = change, other
    for j in range(count):
        other = ids[j]
        if other == own or copy[j] == copy[i]:
            continue
        change = sizes[own] * (width_with(points, boxes, i, j) - widths[own])
        if change - sizes[other] * widths[other] >= best:
            continue
        change += sizes[other] * (width_with(points, boxes, j, i) - widths[other])
        if change < best:
            best, partner, into = change, j, other
    if into < 0:
        return False
    ids[i] = into
    if partner >= 0:
        ids[partner] = own
    else:
        sizes[own] -= 1
        sizes[into] += 1
    for group in (np.int64(own), np.int64(into)):
        fill_group(points, boxes, ids, group)
        widths[group] = box_width(points, boxes, count + group)
    return True


@njit(cache=True, error_model="numpy")
def shake(points, copy, k, boxes, ids, loss, groups, sizes, widths, trial, rounds, seed):
    """Swap a few records at random and descend again, for some rounds; keep improvements.

    Other arguments as in `descend`. loss: the loss of ids. trial: (records,) scratch.
    seed: the same seed gives the same grouping. Returns the loss.
    Invariant: ids is the best grouping so far, and `loss` its loss.
    """
    count, state = np.uint64(len(ids)), np.uint64(seed)
    for _ in range(rounds):
        copy_ids(ids, trial)
        for _ in range(3):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            i = np.int64((state >> np.uint64(33)) % count)
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            j = np.int64((state >> np.uint64(33)) % count)
            trial[i], trial[j] = trial[j], trial[i]
        found = descend(points, copy, k, boxes, trial, groups, sizes, widths)
        if found < loss:
            loss = found
            copy_ids(trial, ids)
    return loss
