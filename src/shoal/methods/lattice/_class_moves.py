# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the keys of class tables, and moving them from one node of a lattice to a coarser one.

Layout of a row: a key of one or more words and a count. A word has a field for each of some
attributes, as wide as the attribute's groups at the table's node require; an attribute with a
single group has no bits. A count has people in the bits from `size_at` up and records in the bits
below; if every record is a different person, `size_at` is 0 and the count is both.

One attribute leads: its groups are in the highest bits, and the rows of every table are in the
order of these groups. As groups at a higher level are ranges of groups, the classes of a node are
complete as soon as the rows of their leading group are read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit

WORD_BITS = 62  # of a key; tests use fewer
CHUNK_BITS = 14  # attributes that are moved together
BLOCK = 256  # rows whose new keys are computed together


class Levels(NamedTuple):
    """The levels of each attribute, from a corner of the lattice up.

    order: (attributes,) attributes, the leading one first.
    domain, bits: (attributes, levels) number of groups, and width of their field.
    entropy: (attributes, levels) of the distribution of records over the groups.
    step_first: (attributes, levels) start in `steps` of the map from level l − 1 to level l.
    steps: group at level l − 1 → group at level l, map after map.
    gain_first: (attributes, levels) start in `gains` of the groups of a level.
    gains: how much more a record of the group loses if it is suppressed.
    word_bits: most bits of a word.
    """

    order: Any
    domain: Any
    bits: Any
    entropy: Any
    step_first: Any
    steps: Any
    gain_first: Any
    gains: Any
    word_bits: int


class Demand(NamedTuple):
    """What classes must meet: at least k people; at most `limit` records may be suppressed.

    size_at: the bit of a count from which people are counted.
    most: number of classes above which more records than the limit are in small ones.
    """

    k: int
    limit: int
    size_at: int
    most: int


class Store(NamedTuple):
    """Tables of classes, and scratch for the next one.

    keys, counts: rows of all tables; a row has `words` words in `keys`.
    node: (tables, attributes) the node of each table.
    first_key, first, rows, words: (tables,) start in `keys` and in `counts`, rows, words of a row.
    by_rows: (tables,) tables, the shortest first. used: (tables,) when each was last read.
    debt: (tables,) reads for nodes with far fewer classes, since a table was last made from it.
    tables, clock, reads, refused: (1,) number of tables, counted nodes, rows read so far, and
        tables that found no room.
    to_keys, to_counts: the classes of the last counted node.
    slots: hash table: the count of nodes in the upper 32 bits, a class in the lower ones.
    dense: counts by cell, all 0 between calls; a cell is a combination of groups.
    suffix: the key of each combination of groups of the last attributes.
    fields: (7, attributes) word, shift and mask of each attribute in the old and in the new key,
        and by how much a group raises the new key or the cell.
    moves: for each chunk of old fields, the part of a word of the new key, or of the cell.
    chunk_word, chunk_shift, chunk_mask, chunk_first: (attributes,) where a chunk is in the old key,
        and its start in `moves`.
    word_chunks: (attributes + 1,) the first chunk of each word of the new key.
    block: (attributes, BLOCK) the words of the new keys of some rows.
    """

    keys: Any
    counts: Any
    node: Any
    first_key: Any
    first: Any
    rows: Any
    words: Any
    by_rows: Any
    used: Any
    debt: Any
    tables: Any
    clock: Any
    reads: Any
    refused: Any
    to_keys: Any
    to_counts: Any
    slots: Any
    dense: Any
    suffix: Any
    fields: Any
    moves: Any
    chunk_word: Any
    chunk_shift: Any
    chunk_mask: Any
    chunk_first: Any
    word_chunks: Any
    block: Any


@njit(cache=True, error_model="numpy", nogil=True)
def lay_out(levels, node, word, shift, mask):
    """Write the field of each attribute in a key of a node; returns the number of words."""
    at, used = 0, 0
    # from the last attribute up, so that the leading one gets the highest bits of the last word
    for i in range(len(node) - 1, -1, -1):
        j = levels.order[i]
        bits = levels.bits[j, node[j]]
        if used + bits > levels.word_bits:
            # a field never spans two words
            at += 1
            used = 0
        word[j], shift[j], mask[j] = at, used, (np.int64(1) << bits) - 1
        used += bits
    return at + 1


@njit(cache=True, error_model="numpy", nogil=True)
def count_cells(levels, node, most):
    """Return the number of combinations of groups of a node, or a number above `most`."""
    cells = np.int64(1)
    for j in range(len(node)):
        cells *= levels.domain[j, node[j]]
        if cells > most:
            break
    return cells


@njit(cache=True, error_model="numpy", nogil=True)
def bits_of(levels, node):
    """Return the bits of a key of a node."""
    bits = np.int64(0)
    for j in range(len(node)):
        bits += levels.bits[j, node[j]]
    return bits


@njit(cache=True, error_model="numpy", nogil=True)
def move_group(levels, j, old, new, code):
    """Return the group at a level of an attribute's group at a lower level."""
    group = np.int64(code)
    for level in range(old + 1, new + 1):
        group = levels.steps[levels.step_first[j, level] + group]
    return group


@njit(cache=True, error_model="numpy", nogil=True)
def plan_moves(levels, store, source, node, by_cell):
    """Fill `fields`, `chunks` and `moves` for a roll-up to a node; returns the words of a key.

    A chunk is one attribute, or neighbours that share their words and are narrow together, so that
    one look into `moves` gives the new fields of them all. Attributes with a single group at the
    node need no chunk.
    Invariant: chunks before `chunk` are complete; the current one covers old bits from chunk_shift
    to `end`, and its part of `moves` begins at chunk_first and ends at `at`.

    by_cell: move to cells instead of keys.
    """
    fields, old, place = store.fields, store.node[source], store.fields[6]
    lay_out(levels, old, fields[0], fields[1], fields[2])
    words, cells = lay_out(levels, node, fields[3], fields[4], fields[5]), np.int64(1)
    for i in range(len(node) - 1, -1, -1):
        j = levels.order[i]
        place[j] = cells if by_cell else np.int64(1) << fields[4, j]
        if by_cell:
            cells *= levels.domain[j, node[j]]
    widest = 2
    # a chunk has at most about a quarter as many moves as the source has rows, so filling is cheap
    while widest < CHUNK_BITS and (4 << widest) < store.rows[source]:
        widest += 1
    chunk, at, end, to_word = -1, np.int64(0), np.int64(0), 0
    store.word_chunks[0] = 0
    for i in range(len(node) - 1, -1, -1):
        j = levels.order[i]
        if levels.bits[j, node[j]] == 0:
            continue
        word, shift, bits = fields[0, j], fields[1, j], levels.bits[j, old[j]]
        new_word = 0 if by_cell else fields[3, j]
        joins = chunk >= 0 and new_word == to_word and word == store.chunk_word[chunk]
        if joins and shift + bits - store.chunk_shift[chunk] <= widest:
            begin, lowest = store.chunk_first[chunk], store.chunk_shift[chunk]
            period, down = np.int64(1) << (end - lowest), shift - lowest
            grown = begin + (np.int64(1) << (shift + bits - lowest))
            while at < grown:  # fields so far repeat for each group of this attribute
                store.moves[at] = store.moves[at - period]
                at += 1
            for code in range(levels.domain[j, old[j]]):
                # each old group of this attribute raises the entries of all combinations below it
                part = move_group(levels, j, old[j], node[j], code) * place[j]
                first = begin + (np.int64(code) << down)
                for move in range(first, first + (np.int64(1) << down)):
                    store.moves[move] += part
        else:
            chunk += 1
            if new_word != to_word:
                to_word = new_word
                store.word_chunks[to_word] = chunk
            store.chunk_word[chunk], store.chunk_shift[chunk] = word, shift
            store.chunk_first[chunk] = at
            for code in range(levels.domain[j, old[j]]):
                part = move_group(levels, j, old[j], node[j], code)
                store.moves[at + code] = part * place[j]
            # the field may be wider than its groups; such values never occur
            for code in range(levels.domain[j, old[j]], np.int64(1) << bits):
                store.moves[at + code] = 0
            at += np.int64(1) << bits
        end = shift + bits
        store.chunk_mask[chunk] = (np.int64(1) << (end - store.chunk_shift[chunk])) - 1
    # words without a chunk: all their attributes have a single group
    for word in range(to_word + 1, words + 1):
        store.word_chunks[word] = chunk + 1
    return words


@njit(cache=True, error_model="numpy", nogil=True)
def move_rows(store, source, begin, end, words):
    """Write the new keys, or the cells, of some rows of a table to `block`."""
    width, keys, moves = store.words[source], store.keys, store.moves
    for word in range(words):
        block = store.block[word]
        for i in range(end - begin):
            block[i] = 0
        # a new key is the sum of the parts that its chunks contribute
        for chunk in range(store.word_chunks[word], store.word_chunks[word + 1]):
            shift, mask = store.chunk_shift[chunk], store.chunk_mask[chunk]
            first = store.chunk_first[chunk]
            at = store.first_key[source] + begin * width + store.chunk_word[chunk]
            for i in range(end - begin):
                block[i] += moves[first + ((keys[at + i * width] >> shift) & mask)]
