# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: count the classes of single nodes, each from the smallest stored table of a finer node.

    find_source   the shortest stored table that a node can be counted from
    count_node    its classes, by cell if it has few combinations of groups, else by hashing
    add_source    a further stored table, if the source is too long for the nodes counted from it

Counting stops as soon as too many records are in small classes: rows come in the order of their
leading group, so the classes of all groups before the current one are complete. Layouts are those
of `_class_moves.py`.
"""

from __future__ import annotations

import numpy as np

from shoal.methods.lattice._class_moves import BLOCK, bits_of, count_cells, move_rows, plan_moves
from shoal.support.compiling import njit

DENSE = 1 << 22  # most cells that may be counted in an array
CELLS_A_ROW = 4  # cells that take as long as a row in a hash table
CHECKS = 64  # times that complete classes are looked at
SUFFIXES = 4096  # combinations of the last attributes whose keys are listed
_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, error_model="numpy", nogil=True)
def count_dense(levels, store, demand, source, cells, wanted):
    """Add up counts by cell, until too many records are in small classes.

    Returns the number of classes, of records in small ones, and of cells that may not be 0, and
    whether all rows were read.
    Invariant: the cells before `scanned` are complete, and are those of `end` classes.

    wanted: go on if there are no more classes than this.
    """
    dense, rows, first, at = store.dense, store.rows[source], store.first[source], store.block[0]
    size_at, end, suppressed = demand.size_at, np.int64(0), np.int64(0)
    records = (np.int64(1) << size_at) - 1 if size_at else np.int64(-1)
    # `place` is the number of cells of one leading group
    place, scanned = store.fields[6, levels.order[0]], np.int64(0)
    between, check = rows // CHECKS + 1, rows // CHECKS
    for begin in range(0, rows, BLOCK):
        stop = min(begin + BLOCK, rows)
        move_rows(store, source, begin, stop, 1)
        for row in range(begin, stop):
            dense[at[row - begin]] += store.counts[first + row]
        if stop < rows and stop < check:
            continue
        check = stop + between
        # the cells of the current leading group may still grow, those before it are complete
        complete = cells if stop == rows else at[stop - 1 - begin] // place * place
        for cell in range(scanned, complete):
            count = dense[cell]
            end += count != 0
            suppressed += (count & records) * (count >> size_at < demand.k)
        scanned = complete
        if suppressed > demand.limit and end > wanted:
            # infeasible, and too long to be listed: cells beyond the current leading group are
            # still 0
            store.reads[0] += stop
            return end, suppressed, min(complete + place, cells), stop == rows
    store.reads[0] += rows
    return end, suppressed, cells, True


@njit(cache=True, error_model="numpy", nogil=True)
def list_classes(levels, store, node, cells):
    """Write the classes that were counted by cell to `to_keys` and `to_counts`; clears the cells.

    Invariant: `base` is the key of the cell `begin`; the attributes from `split` on have the keys
    in `suffix`, and the groups of those before it are counted up in fields[0] like an odometer.
    """
    shift, group, dense, order = store.fields[4], store.fields[0], store.dense, levels.order
    split, width, end = len(node), np.int64(1), 0
    store.suffix[0] = 0
    # take in attributes from the last one while their combinations fit in the list
    while split > 0:
        j = order[split - 1]
        domain = levels.domain[j, node[j]]
        if width * domain > len(store.suffix) or (width > 1 and width * domain > SUFFIXES):
            break
        split -= 1
        for i in range(width, width * domain):
            store.suffix[i] = store.suffix[i % width] | ((i // width) << shift[j])
        width *= domain
    for i in range(split):
        group[i] = 0
    base = np.int64(0)
    for begin in range(0, cells, width):
        for i in range(width):
            count = dense[begin + i]
            if count != 0:
                store.to_keys[end], store.to_counts[end] = base | store.suffix[i], count
                dense[begin + i] = 0
                end += 1
        i = split - 1
        while i >= 0 and group[i] + 1 == levels.domain[order[i], node[order[i]]]:
            # carry: this attribute starts over, the one before it goes up
            base -= group[i] << shift[order[i]]
            group[i] = 0
            i -= 1
        if i >= 0:
            group[i] += 1
            base += np.int64(1) << shift[order[i]]


@njit(cache=True, error_model="numpy", nogil=True)
def count_hashed(levels, store, demand, source, to_words, wanted):
    """Count classes with a hash table of open addresses, until too many records are in small ones.

    Returns the number of classes, of records in small ones, and whether all rows were read.
    Invariants: the classes before `end` are those of the rows before `row`; each is in the first
    free slot at or after the slot of its hash. The classes before `scanned` are complete.

    wanted: go on if there are no more classes than this.
    """
    first, slots, block = store.first[source], store.slots, store.block
    rows, to_keys, end = store.rows[source], store.to_keys, np.int64(0)
    size_at, suppressed, scanned = demand.size_at, np.int64(0), np.int64(0)
    records = (np.int64(1) << size_at) - 1 if size_at else np.int64(-1)
    lead = levels.order[0]
    word_at, shift = store.fields[3, lead], store.fields[4, lead]
    mask, between, check = store.fields[5, lead], rows // CHECKS + 1, rows // CHECKS
    bits = 4
    # at least twice as many slots as rows, so probes stay short
    while (1 << bits) < 2 * rows:
        bits += 1
    down, last = np.uint64(64 - bits), (1 << bits) - 1
    # entries of earlier nodes have a lower stamp and count as free: the table is never cleared
    stamp = store.clock[0] << 32
    for begin in range(0, rows, BLOCK):
        stop = min(begin + BLOCK, rows)
        move_rows(store, source, begin, stop, to_words)
        for row in range(begin, stop):
            at, mixed = row - begin, np.uint64(0)
            for word in range(to_words):
                key = np.uint64(block[word, at])
                mixed = (mixed ^ (mixed >> np.uint64(29)) ^ key) * _MIX
            # the high bits of a product are mixed best
            slot = np.int64(mixed >> down)
            while True:
                held = slots[slot]
                if held < stamp:  # of an earlier node: free
                    slots[slot] = stamp | end
                    for word in range(to_words):
                        to_keys[end * to_words + word] = block[word, at]
                    store.to_counts[end] = store.counts[first + row]
                    end += 1
                    break
                other, same = (held - stamp) * to_words, True
                for word in range(to_words):
                    same = same and to_keys[other + word] == block[word, at]
                if same:
                    store.to_counts[held - stamp] += store.counts[first + row]
                    break
                slot = (slot + 1) & last
        if end > demand.most and end > wanted:
            # so many classes cannot all be large enough
            store.reads[0] += stop
            return end, demand.limit + 1, False
        if stop < rows and stop < check:
            continue
        check = stop + between
        group = (block[word_at, stop - 1 - begin] >> shift) & mask
        while scanned < end:
            if stop < rows and (to_keys[scanned * to_words + word_at] >> shift) & mask == group:
                break
            count = store.to_counts[scanned]
            suppressed += (count & records) * (count >> size_at < demand.k)
            scanned += 1
        if suppressed > demand.limit and end > wanted:
            store.reads[0] += stop
            return end, suppressed, stop == rows
    store.reads[0] += rows
    return end, suppressed, True


@njit(cache=True, error_model="numpy", nogil=True)
def count_node(levels, store, demand, source, node, lost, wanted):
    """Count the classes of a node from a stored table, until too many records are in small ones.

    Returns the number of classes, of suppressed records, of words of a key, and whether the
    numbers are complete; if they are not, more than the limit are suppressed. Writes to `lost` by
    how much suppression raises the loss of each attribute, summed over records, unless more than
    the limit are suppressed or `lost` is empty.

    wanted: count all classes, and list them, if they are no more than this.
    """
    store.clock[0] += 1
    store.used[source] = store.clock[0]
    for j in range(len(lost)):
        lost[j] = 0.0
    most = min(np.int64(len(store.dense)), CELLS_A_ROW * store.rows[source] + 64)
    cells = count_cells(levels, node, most)
    # an array of cells is faster than hashing unless most cells would stay empty
    by_cell = cells <= most and bits_of(levels, node) <= levels.word_bits
    words = plan_moves(levels, store, source, node, by_cell)
    if by_cell:
        end, suppressed, used, complete = count_dense(levels, store, demand, source, cells, wanted)
        if end <= wanted or (len(lost) and 0 < suppressed <= demand.limit):
            list_classes(levels, store, node, cells)
        else:
            for cell in range(used):
                store.dense[cell] = 0
    else:
        end, suppressed, complete = count_hashed(levels, store, demand, source, words, wanted)
    if len(lost) and 0 < suppressed <= demand.limit:
        size_at = demand.size_at
        records = (np.int64(1) << size_at) - 1 if size_at else np.int64(-1)
        for row in range(end):
            if store.to_counts[row] >> size_at < demand.k:
                weight = store.to_counts[row] & records
                for j in range(len(node)):
                    key = store.to_keys[row * words + store.fields[3, j]]
                    code = (key >> store.fields[4, j]) & store.fields[5, j]
                    lost[j] += weight * levels.gains[levels.gain_first[j, node[j]] + code]
    return end, suppressed, words, complete


STORED = 0.6  # a table is stored if it has at most this share of the rows of its source
SHORT = 0.15  # a source is too long if a node has less than this share of its rows
GROWTH = 0.7  # share of the rows of a source that a table made from it may have
ROOM = 0.5  # share of the room for stored tables that one of them may take
OWED = 3  # a table is made when a source was read so many times for nodes that are much shorter


@njit(cache=True, error_model="numpy", nogil=True)
def find_source(store, node):
    """Return the shortest stored table whose node is not above this one in any attribute."""
    for i in range(store.tables[0]):
        table = store.by_rows[i]
        fits = True
        for j in range(len(node)):
            if store.node[table, j] > node[j]:
                fits = False
                break
        if fits:
            return table
    return -1


@njit(cache=True, error_model="numpy", nogil=True)
def keep_table(store, node, rows, words):
    """Store the classes of the node that was counted last, if there is room."""
    table = store.tables[0]
    first_key = first = np.int64(0)
    # a new table goes behind all others; only `make_room` moves tables
    for i in range(table):
        first_key = max(first_key, store.first_key[i] + store.rows[i] * store.words[i])
        first = max(first, store.first[i] + store.rows[i])
    if (
        table == len(store.rows)
        or first_key + rows * words > len(store.keys)
        or first + rows > len(store.counts)
    ):
        store.refused[0] += 1
        return
    for i in range(rows * words):
        store.keys[first_key + i] = store.to_keys[i]
    for i in range(rows):
        store.counts[first + i] = store.to_counts[i]
    for j in range(len(node)):
        store.node[table, j] = node[j]
    store.first_key[table], store.first[table] = first_key, first
    store.rows[table], store.words[table], store.used[table] = rows, words, store.clock[0]
    store.debt[table] = 0
    # insert it into the list by rows, behind tables of the same length
    at = table
    while at > 0 and store.rows[store.by_rows[at - 1]] > rows:
        store.by_rows[at] = store.by_rows[at - 1]
        at -= 1
    store.by_rows[at] = table
    store.tables[0] = table + 1


@njit(cache=True, error_model="numpy", nogil=True)
def lower(levels, node, growth, to):
    """Write a node below another one that has at most about `growth` times as many classes.

    The level that adds the least entropy is lowered first, so that as many as possible are lower.
    """
    for j in range(len(node)):
        to[j] = node[j]
    left = np.log(growth)
    while True:
        best, least = -1, left
        for j in range(len(node)):
            if to[j] > 0:
                # classes grow at most by the factor e to the power of the entropy that a lower
                # level adds
                more = levels.entropy[j, to[j] - 1] - levels.entropy[j, to[j]]
                if more <= least:
                    best, least = j, more
        if best < 0:
            return
        to[best] -= 1
        left -= least


@njit(cache=True, error_model="numpy", nogil=True)
def add_source(levels, store, demand, source, node, rows, below, lost):
    """Store a table between a source and a node with few rows, if the source is read too often.

    Returns the suppressed records of the new table's node, or a number above the limit.

    rows: number of classes of the node. below: set to the node of the new table. lost: as for
        `count_node`, for that node.
    """
    if rows >= SHORT * store.rows[source]:
        return demand.limit + 1
    # a table is made only after the reads that it would have shortened have paid for it
    store.debt[source] += 1
    if store.debt[source] < OWED:
        return demand.limit + 1
    store.debt[source] = 0
    room = ROOM * (len(store.counts) - store.rows[0])
    growth = min(GROWTH * store.rows[source], room) / max(rows, 1)
    if growth <= 1.0:
        return demand.limit + 1
    lower(levels, node, growth, below)
    for j in range(len(node)):
        # the table can be no finer than its source
        below[j] = max(below[j], store.node[source, j])
    wanted = np.int64(min(STORED * store.rows[source], room))
    made, suppressed, words, complete = count_node(
        levels, store, demand, source, below, lost, wanted
    )
    if complete and made <= wanted:
        keep_table(store, below, made, words)
    return suppressed
