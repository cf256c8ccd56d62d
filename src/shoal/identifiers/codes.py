"""Codes of whole columns: HMAC-SHA-256 in Base32, and the texts that they are computed from.

`codes` hashes few or long messages by the standard library and many short ones by a compiled
kernel; both give the same codes (RFC 4231). `distinct_texts` turns identifiers into text, so that
one number joins across files and types.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.support.arrays import Bools
from shoal.table import encoding

ALPHABET = b"abcdefghijklmnopqrstuvwxyz234567"  # Base32 of RFC 4648 in lower case
BITS = 5  # per character
MAX_LENGTH = 51  # characters of a whole code
_MAX_SHORT = 55  # bytes of a message that fits one block with its padding
MIN_COMPILED = 20_000  # messages; fewer are hashed before a kernel is loaded
_BATCH = 1 << 22  # messages, so that the texts of a batch stay below 2 GB
_BLOCK = 64  # bytes
_SAMPLE_CELLS = 100_000
_MIN_DISTINCT = 0.5  # share of the sample for which finding equal texts does not pay

Words = npt.NDArray[np.uint32]


def codes(texts: Any, key: bytes, length: int) -> Any:
    """Return the code of each text in a string array without missing values.

    Parameters:
        texts: An Arrow array of text.
        key: The key.
        length: The number of characters, 5 bits each, at most 51.
    """
    if len(texts) < MIN_COMPILED:
        return pa.array([encode(text, key, length) for text in texts.to_pylist()], pa.string())
    batches = (texts.slice(start, _BATCH) for start in range(0, len(texts), _BATCH))
    return pa.concat_arrays([_batch(batch, key, length) for batch in batches])


def encode(text: str, key: bytes, length: int) -> str:
    r"""Return the code of one text.

    >>> encode("Hi There", b"\x0b" * 20, 10)
    'wa2eyyoy3m'
    """
    number = int.from_bytes(hmac.digest(key, text.encode(), hashlib.sha256), "big")
    places = range(256 - BITS, 256 - BITS * length - 1, -BITS)
    return "".join(chr(ALPHABET[number >> place & 31]) for place in places)


def _batch(texts: Any, key: bytes, length: int) -> Any:
    from shoal.identifiers._sha256 import sign

    plain = texts.cast(pa.large_string())
    offsets = np.frombuffer(plain.buffers()[1], np.int64, len(plain) + 1, 8 * plain.offset)
    buffer = plain.buffers()[2]
    data = np.frombuffer(buffer, np.uint8) if buffer is not None else np.zeros(0, np.uint8)
    characters = np.empty((len(plain), length), np.uint8)
    long: Bools = np.diff(offsets) > _MAX_SHORT
    if long.any():
        return _mixed(plain, long, key, length)
    inner, outer = (_padded(key, pad) for pad in (0x36, 0x5C))
    alphabet = np.frombuffer(ALPHABET, np.uint8)
    sign(data, offsets, inner, outer, _constants(), alphabet, characters)
    # all codes have one length, so their offsets in the buffer are known
    ends = np.arange(0, characters.size + 1, length, dtype=np.int32)
    return pa.StringArray.from_buffers(len(plain), pa.py_buffer(ends), pa.py_buffer(characters))


def _mixed(texts: Any, long: Bools, key: bytes, length: int) -> Any:
    """Return the codes of texts of which some need more than one block."""
    rare = pa.array([encode(t, key, length) for t in texts.filter(pa.array(long)).to_pylist()])
    rest = _batch(texts.filter(pa.array(~long)), key, length)
    place = np.empty(len(texts), np.int64)
    place[long] = np.arange(len(rare))
    place[~long] = len(rare) + np.arange(len(rest))
    return pa.concat_arrays([rare.cast(pa.string()), rest]).take(pa.array(place))


def _padded(key: bytes, pad: int) -> Words:
    """(8,) the state of SHA-256 after the block of the key, padded and masked as HMAC does."""
    from shoal.identifiers._sha256 import LANES, compress

    short = hashlib.sha256(key).digest() if len(key) > _BLOCK else key
    block = bytes(byte ^ pad for byte in short.ljust(_BLOCK, b"\0"))
    state = np.repeat(_fractions(2)[:8, None], LANES, axis=1)
    schedule = np.zeros((64, LANES), np.uint32)
    schedule[:16] = np.frombuffer(block, ">u4")[:, None]
    compress(state, np.empty((8, LANES), np.uint32), schedule, _constants())
    return np.ascontiguousarray(state[:, 0])


@cache
def _constants() -> Words:
    """(64,) the round constants of SHA-256."""
    return _fractions(3)


def _fractions(root: int) -> Words:
    """(64,) the first 32 bits of the fractional part of the square or cube roots of primes."""
    primes = [n for n in range(2, 312) if all(n % d for d in range(2, n))]
    return np.array([_root(p << 32 * root, root) & 0xFFFFFFFF for p in primes], np.uint32)


def _root(number: int, root: int) -> int:
    """Return the largest whole number whose power is at most the given one."""
    low, high = 0, 1 << (number.bit_length() // root + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**root <= number else (low, middle - 1)
    return low


def distinct_texts(cells: Any, column: str) -> tuple[Any, Any]:
    """Return the index of each cell's text, missing if the cell is, and the distinct texts.

    A whole number counts as its digits, also if a frame holds it as a float: 7.0 is 7. An empty
    text counts as missing, as in a file.
    """
    plain = _plain(cells, column)
    encoded = plain.dictionary_encode(null_encoding="mask")
    distinct = encoded.dictionary
    if not encoding.is_text(distinct.type):
        distinct = pa.array(encoding.texts(distinct), pa.string())
    return encoded.indices, distinct


def few_texts(cells: Any, column: str) -> tuple[Any, Any]:
    """Return the index and the distinct texts, or None and all texts if hardly any text repeats."""
    plain = _plain(cells, column)
    step = max(len(plain) // _SAMPLE_CELLS, 1)
    if encoding.is_text(plain.type) and not plain.null_count and len(plain) > _SAMPLE_CELLS:
        sample = plain.take(pa.array(range(0, len(plain), step)))
        if len(sample.unique()) >= _MIN_DISTINCT * len(sample):
            return None, plain
    return distinct_texts(plain, column)


def _plain(cells: Any, column: str) -> Any:
    """Return cells as one array, whole floats as integers and empty texts as missing."""
    plain = encoding.with_missing(cells, column)
    if pa.types.is_floating(plain.type):
        known = plain.drop_null()
        if pc.all(pc.equal(known, pc.floor(known))).as_py() is False:
            raise InputError(
                f"column {column!r}: identifiers are numbers with fractions; turn them into text"
            )
        try:
            plain = plain.cast(pa.int64())
        except pa.ArrowInvalid:
            raise InputError(
                f"column {column!r}: identifiers are numbers too large for exact floats; turn "
                "them into text"
            ) from None
    return plain
