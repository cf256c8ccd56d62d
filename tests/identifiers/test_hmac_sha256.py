"""Codes of columns: the published answers, and the same as the standard library."""

import base64
import hashlib
import hmac

import numpy as np
import pyarrow as pa
import pytest

from shoal.identifiers import codes as hmac_sha256
from shoal.identifiers.codes import codes, encode

RFC_4231 = [  # all test cases: key, message, and as much of the code as the RFC prints
    (
        b"\x0b" * 20,
        b"Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    ),
    (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    (
        bytes(range(1, 26)),
        b"\xcd" * 50,
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ),
    (b"\x0c" * 20, b"Test With Truncation", "a3b6167473100ee06e0c796c2955552b"),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (
        b"\xaa" * 131,
        b"This is a test using a larger than block-size key and a larger than block-size data. "
        b"The key needs to be hashed before being used by the HMAC algorithm.",
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
    ),
]


def base32(code):
    """The whole characters of a code, by the standard library (RFC 4648)."""
    return base64.b32encode(bytes.fromhex(code)).decode().lower()[: len(code) * 4 // 5]


def texts_of(message):
    """A column with these bytes, which need not be a text."""
    ends = np.array([0, len(message)], np.int32)
    return pa.StringArray.from_buffers(1, pa.py_buffer(ends), pa.py_buffer(message))


@pytest.fixture
def compiled(monkeypatch):
    monkeypatch.setattr(hmac_sha256, "MIN_COMPILED", 0)


@pytest.mark.parametrize(("key", "message", "code"), RFC_4231)
def test_the_published_answers_come_out_of_the_kernel_too(compiled, key, message, code):
    expected = base32(code)
    found = codes(texts_of(message), key, len(expected))
    assert found.to_pylist() == [expected]
    if message.isascii():
        assert encode(message.decode(), key, len(expected)) == expected


def test_every_length_of_message_gives_the_code_of_the_standard_library(compiled):
    texts = ["x" * size for size in range(130)] + ["ü" * size for size in range(40)] + [""]
    key = bytes(range(32))
    expected = [base32(hmac.new(key, t.encode(), hashlib.sha256).hexdigest()) for t in texts]
    assert codes(pa.array(texts), key, 51).to_pylist() == expected


def test_a_slice_of_a_column_gives_the_same_codes(compiled):
    texts = pa.array([f"p{number}" for number in range(100)])
    key = bytes(range(32))
    assert codes(texts.slice(37, 20), key, 26).equals(codes(texts, key, 26).slice(37, 20))


def test_batches_join_without_a_gap(compiled, monkeypatch):
    texts, key = pa.array([f"p{number}" for number in range(100)]), bytes(range(32))
    whole = codes(texts, key, 26)
    monkeypatch.setattr(hmac_sha256, "_BATCH", 33)
    assert codes(texts, key, 26).equals(whole)


def test_codes_do_not_collide_and_use_all_characters_evenly(compiled):
    found = codes(pa.array([str(number) for number in range(100_000)]), bytes(range(32)), 10)
    assert len(set(found.to_pylist())) == 100_000
    counts = np.bincount(np.frombuffer("".join(found.to_pylist()).encode(), np.uint8))
    counts = counts[counts > 0]
    expected = 1_000_000 / 32
    assert len(counts) == 32
    assert float(((counts - expected) ** 2 / expected).sum()) < 80  # chi-squared, 31 degrees
