# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: count the classes of single nodes, each from the smallest stored table of a finer node.

Layout of a row: a key of one or more words and a count. A word has a field for each of some
attributes, as wide as the attribute's groups at the table's node require; an attribute with a
single group has no bits. A count has people in the bits from `size_at` up and records in the bits
below; if every record is a different person, `size_at` is 0 and the count is both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit

WORD_BITS = 62  # of a key; tests use fewer
CHUNK_BITS = 12  # attributes that are moved together
DENSE_BITS = 18  # keys of up to so many bits may index an array
BLOCK = 256  # rows whose new keys are computed together
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Levels(NamedTuple):
    """The levels of each attribute, from a corner of the lattice up.

    domain, bits: (attributes, levels) number of groups, and width of their field.
    step_first: (attributes, levels) start in `steps` of the map from level l − 1 to level l.
    steps: group at level l − 1 → group at level l, map after map.
    gain_first: (attributes, levels) start in `gains` of the groups of a level.
    gains: how much more a record of the group loses if it is suppressed.
    word_bits: most bits of a word.
    """

    domain: Any
    bits: Any
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
    tables, clock, reads, refused: (1,) number of tables, counted nodes, rows read so far, and
        tables that found no room.
    to_keys, to_counts: the classes of the last counted node.
    slots: hash table: the count of nodes in the upper 32 bits, a class in the lower ones.
    dense: (1 << DENSE_BITS,) counts by key, all 0 between calls.
    fields: (6, attributes) word, shift and mask of each attribute in the old and in the new key.
    moves: for each chunk of old fields, the part of a word of the new key.
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
    tables: Any
    clock: Any
    reads: Any
    refused: Any
    to_keys: Any
    to_counts: Any
    slots: Any
    dense: Any
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
    """Write the field of each attribute in a key of a node; returns words and all bits."""
    at, used, total = 0, 0, 0
    for j in range(len(node)):
        bits = levels.bits[j, node[j]]
        if used + bits > levels.word_bits:
            at += 1
            used = 0
        word[j], shift[j], mask[j] = at, used, (np.int64(1) << bits) - 1
        used += bits
        total += bits
    return at + 1, total


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
def move_group(levels, j, old, new, code):
    """Return the group at a level of an attribute's group at a lower level."""
    group = np.int64(code)
    for level in range(old + 1, new + 1):
        group = levels.steps[levels.step_first[j, level] + group]
    return group


@njit(cache=True, error_model="numpy", nogil=True)
def plan_moves(levels, store, source, node):
    """Fill `fields`, `chunks` and `moves` for a roll-up to a node; returns words and bits of a key.

    A chunk is one attribute, or neighbours that share their words and are narrow together, so that
    one look into `moves` gives the new fields of them all. Attributes with a single group at the
    node need no chunk.
    Invariant: chunks before `chunk` are complete; the current one covers old bits from chunk_shift
    to `end`, and its part of `moves` begins at chunk_first and ends at `at`.
    """
    fields, old = store.fields, store.node[source]
    lay_out(levels, old, fields[0], fields[1], fields[2])
    words, total = lay_out(levels, node, fields[3], fields[4], fields[5])
    widest = 2
    while widest < CHUNK_BITS and (4 << widest) < store.rows[source]:
        widest += 1
    chunk, at, end, to_word = -1, np.int64(0), np.int64(0), 0
    store.word_chunks[0] = 0
    for j in range(len(node)):
        if levels.bits[j, node[j]] == 0:
            continue
        word, shift, bits = fields[0, j], fields[1, j], levels.bits[j, old[j]]
        joins = chunk >= 0 and fields[3, j] == to_word and word == store.chunk_word[chunk]
        if joins and shift + bits - store.chunk_shift[chunk] <= widest:
            begin, lowest = store.chunk_first[chunk], store.chunk_shift[chunk]
            period, down = np.int64(1) << (end - lowest), shift - lowest
            grown = begin + (np.int64(1) << (shift + bits - lowest))
            while at < grown:  # fields so far repeat for each group of this attribute
                store.moves[at] = store.moves[at - period]
                at += 1
            for code in range(levels.domain[j, old[j]]):
                part = move_group(levels, j, old[j], node[j], code) << fields[4, j]
                first = begin + (np.int64(code) << down)
                for i in range(first, first + (np.int64(1) << down)):
                    store.moves[i] += part
        else:
            chunk += 1
            if fields[3, j] != to_word:
                to_word = fields[3, j]
                store.word_chunks[to_word] = chunk
            store.chunk_word[chunk], store.chunk_shift[chunk] = word, shift
            store.chunk_first[chunk] = at
            for code in range(levels.domain[j, old[j]]):
                part = move_group(levels, j, old[j], node[j], code)
                store.moves[at + code] = part << fields[4, j]
            for code in range(levels.domain[j, old[j]], np.int64(1) << bits):
                store.moves[at + code] = 0
            at += np.int64(1) << bits
        end = shift + bits
        store.chunk_mask[chunk] = (np.int64(1) << (end - store.chunk_shift[chunk])) - 1
    for word in range(to_word + 1, words + 1):
        store.word_chunks[word] = chunk + 1
    return words, total


@njit(cache=True, error_model="numpy", nogil=True)
def move_rows(store, source, begin, end, words):
    """Write the new keys of some rows of a table to `block`."""
    width, keys, moves = store.words[source], store.keys, store.moves
    for word in range(words):
        block = store.block[word]
        for i in range(end - begin):
            block[i] = 0
        for chunk in range(store.word_chunks[word], store.word_chunks[word + 1]):
            shift, mask = store.chunk_shift[chunk], store.chunk_mask[chunk]
            first = store.chunk_first[chunk]
            at = store.first_key[source] + begin * width + store.chunk_word[chunk]
            for i in range(end - begin):
                block[i] += moves[first + ((keys[at + i * width] >> shift) & mask)]


@njit(cache=True, error_model="numpy", nogil=True)
def count_dense(store, source, size):
    """Count classes whose keys are below `size` with an array; returns their number."""
    dense, rows, first, keys = store.dense, store.rows[source], store.first[source], store.block[0]
    for begin in range(0, rows, BLOCK):
        stop = min(begin + BLOCK, rows)
        move_rows(store, source, begin, stop, 1)
        for row in range(begin, stop):
            dense[keys[row - begin]] += store.counts[first + row]
    end = 0
    for key in range(size):
        if dense[key] != 0:
            store.to_keys[end], store.to_counts[end] = key, dense[key]
            dense[key] = 0
            end += 1
    return end


@njit(cache=True, error_model="numpy", nogil=True)
def count_hashed(store, source, to_words, most):
    """Count classes with a hash table of open addresses, until there are more than `most`.

    Returns their number. Invariant: the classes before `end` are those of the rows before `row`;
    each is in the first free slot at or after the slot of its hash.
    """
    first, slots, block = store.first[source], store.slots, store.block
    rows, to_keys, end = store.rows[source], store.to_keys, np.int64(0)
    bits = 4
    while (1 << bits) < 2 * rows:
        bits += 1
    down, last = np.uint64(64 - bits), (1 << bits) - 1
    stamp = store.clock[0] << 32
    for begin in range(0, rows, BLOCK):
        if end > most:
            break
        stop = min(begin + BLOCK, rows)
        move_rows(store, source, begin, stop, to_words)
        for row in range(begin, stop):
            at, mixed = row - begin, np.uint64(0)
            for word in range(to_words):
                key = np.uint64(block[word, at])
                mixed = (mixed ^ (mixed >> np.uint64(29)) ^ key) * _MIX
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
    return end


@njit(cache=True, error_model="numpy", nogil=True)
def count_node(levels, store, demand, source, node, lost, whole):
    """Count the classes of a node from a stored table; returns their number and suppressed records.

    Writes to `lost` by how much suppression raises the loss of each attribute, summed over records,
    unless more than the limit are suppressed.

    whole: count all classes even if more than the limit are suppressed; otherwise the number of
        suppressed records is then one above the limit, and the number of classes is too small.
    """
    store.clock[0] += 1
    store.used[source] = store.clock[0]
    store.reads[0] += store.rows[source]
    words, total = plan_moves(levels, store, source, node)
    if total <= DENSE_BITS and (1 << total) <= 4 * store.rows[source] + 64 and words == 1:
        end = count_dense(store, source, 1 << total)
    else:
        end = count_hashed(store, source, words, store.rows[source] if whole else demand.most)
        if end > demand.most and not whole:
            return end, demand.limit + 1, words
    records, suppressed = (np.int64(1) << demand.size_at) - 1, np.int64(0)
    if demand.size_at == 0:
        records = np.int64(-1)
    for j in range(len(node)):
        lost[j] = 0.0
    for row in range(end):
        if store.to_counts[row] >> demand.size_at < demand.k:
            suppressed += store.to_counts[row] & records
    if 0 < suppressed <= demand.limit:
        for row in range(end):
            if store.to_counts[row] >> demand.size_at < demand.k:
                weight = store.to_counts[row] & records
                for j in range(len(node)):
                    key = store.to_keys[row * words + store.fields[3, j]]
                    code = (key >> store.fields[4, j]) & store.fields[5, j]
                    lost[j] += weight * levels.gains[levels.gain_first[j, node[j]] + code]
    return end, suppressed, words


@njit(cache=True, error_model="numpy", nogil=True)
def keep_table(store, node, rows, words):
    """Store the classes of the node that was counted last, if there is room."""
    table = store.tables[0]
    first_key = first = np.int64(0)
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
    at = table
    while at > 0 and store.rows[store.by_rows[at - 1]] > rows:
        store.by_rows[at] = store.by_rows[at - 1]
        at -= 1
    store.by_rows[at] = table
    store.tables[0] = table + 1
