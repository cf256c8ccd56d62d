"""Codes of columns: the published answers, and the same as the standard library."""

import hashlib
import hmac

import numpy as np
import pyarrow as pa
import pytest

from shoal.identifiers import hmac_sha256
from shoal.identifiers.hmac_sha256 import ALPHABET, codes, encode

RFC_4231 = [  # test cases 1 to 4 and 7, those with a key of at most 64 bytes or a plain text
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
]


def base32(code):
    number = int(code, 16)
    return "".join(chr(ALPHABET[number >> place & 31]) for place in range(251, 0, -5))


@pytest.fixture
def compiled(monkeypatch):
    monkeypatch.setattr(hmac_sha256, "MIN_COMPILED", 0)


@pytest.mark.parametrize(("key", "text", "code"), RFC_4231)
def test_the_published_answers_come_out_of_the_kernel_too(compiled, key, text, code):
    found = codes(pa.array([text.decode()]), key, 51)
    assert found.to_pylist() == [base32(code)] == [encode(text.decode(), key, 51)]


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
