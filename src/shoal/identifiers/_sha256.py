# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: HMAC-SHA-256 of many short messages, 16 at a time (FIPS 180-4, RFC 2104).

Every array has the messages of a batch as its last axis, so that the loops over it become vector
instructions. HMAC of a message of up to 55 bytes takes two compressions, because the compressions
of the two padded keys are done once, by the caller.
"""

from __future__ import annotations

import numpy as np

from shoal.support.compiling import njit

LANES = 16  # messages per batch


@njit(cache=True, nogil=True, error_model="numpy")
def _rotate(word, bits):
    """Return a 32-bit word rotated to the right."""
    return (word >> np.uint32(bits)) | (word << np.uint32(32 - bits))


@njit(cache=True, nogil=True, error_model="numpy")
def compress(state, registers, schedule, constants):
    """Add one block per message to the states.

    state: (8, LANES) hash values, changed in place.
    registers: (8, LANES) scratch. Register a of round t is row −t modulo 8, so nothing is moved.
    schedule: (64, LANES) the block in its first 16 rows; the others are scratch.
    constants: (64,) the round constants.
    """
    # rows 0 … row − 1 of the schedule are complete
    for row in range(16, 64):
        for lane in range(LANES):
            early, late = schedule[row - 15, lane], schedule[row - 2, lane]
            low = _rotate(early, 7) ^ _rotate(early, 18) ^ (early >> np.uint32(3))
            high = _rotate(late, 17) ^ _rotate(late, 19) ^ (late >> np.uint32(10))
            schedule[row, lane] = schedule[row - 16, lane] + low + schedule[row - 7, lane] + high
    for row in range(8):
        for lane in range(LANES):
            registers[row, lane] = state[row, lane]
    for step in range(64):
        # each round renames the registers by one instead of moving them: the new a and e are
        # written where h and d were
        a = (64 - step) & 7
        b, c, d, e = (a + 1) & 7, (a + 2) & 7, (a + 3) & 7, (a + 4) & 7
        f, g, h = (a + 5) & 7, (a + 6) & 7, (a + 7) & 7
        constant = constants[step]
        for lane in range(LANES):
            first, second, third = registers[a, lane], registers[b, lane], registers[c, lane]
            fifth, sixth, seventh = registers[e, lane], registers[f, lane], registers[g, lane]
            high = _rotate(fifth, 6) ^ _rotate(fifth, 11) ^ _rotate(fifth, 25)
            choice = seventh ^ (fifth & (sixth ^ seventh))
            sum1 = registers[h, lane] + high + choice + constant + schedule[step, lane]
            low = _rotate(first, 2) ^ _rotate(first, 13) ^ _rotate(first, 22)
            majority = (first & second) | (third & (first | second))
            registers[d, lane] += sum1
            registers[h, lane] = sum1 + low + majority
    for row in range(8):
        for lane in range(LANES):
            state[row, lane] += registers[row, lane]


@njit(cache=True, nogil=True, allocates=True, error_model="numpy")
def sign(data, offsets, inner, outer, constants, alphabet, characters):
    """Write the first characters of the MAC of each message in Base32.

    data, offsets: (bytes,), (messages + 1,) the messages, each of at most 55 bytes.
    inner, outer: (8,) states after the padded key, for both hashes of HMAC.
    alphabet: (32,) bytes.
    characters: (messages, length) bytes, written here; 5 bits each, at most 51.
    """
    messages, length = characters.shape
    # state, registers, schedule: as in `compress`, used for all batches
    state = np.empty((8, LANES), np.uint32)
    registers = np.empty((8, LANES), np.uint32)
    schedule = np.empty((64, LANES), np.uint32)
    for start in range(0, messages, LANES):
        used = min(LANES, messages - start)  # the other lanes hold zeros and are ignored
        schedule[:16] = 0
        for lane in range(used):
            begin = offsets[start + lane]
            size = offsets[start + lane + 1] - begin
            for place in range(size):
                shift = np.uint32(24 - 8 * (place & 3))
                schedule[place >> 2, lane] |= np.uint32(data[begin + place]) << shift
            # padding: a bit, zeros, and the length in bits with the block of the key
            schedule[size >> 2, lane] |= np.uint32(0x80) << np.uint32(24 - 8 * (size & 3))
            schedule[15, lane] = np.uint32(8 * (64 + size))
        for row in range(8):
            for lane in range(LANES):
                state[row, lane] = inner[row]
        compress(state, registers, schedule, constants)
        # the second hash: its message is the first hash, its state that of the outer key
        for row in range(8):
            for lane in range(LANES):
                schedule[row, lane] = state[row, lane]
                schedule[row + 8, lane] = 0
                state[row, lane] = outer[row]
        for lane in range(LANES):
            schedule[8, lane] = np.uint32(0x80000000)
            schedule[15, lane] = np.uint32(8 * (64 + 32))
        compress(state, registers, schedule, constants)
        for lane in range(used):
            for place in range(length):
                # bits 5·place … 5·place + 4 of the MAC, which may span two words
                bit = 5 * place
                word, skipped = bit >> 5, bit & 31
                pair = np.uint64(state[word, lane]) << np.uint64(32)
                if word < 7:
                    pair |= np.uint64(state[word + 1, lane])
                value = (pair >> np.uint64(59 - skipped)) & np.uint64(31)
                characters[start + lane, place] = alphabet[value]
