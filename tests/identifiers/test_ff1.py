"""FF1: the answers that NIST publishes, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError

pytest.importorskip("cryptography")
from shoal.identifiers.format_preserving import FF1

CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
KEY = "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94"
TWEAK, OTHER = "39383736353433323130", "3737373770717273373737"
SAMPLES = [  # the FF1 samples of NIST's examples with intermediate values
    (16, 10, "", "0123456789", "2433477484"),
    (16, 10, TWEAK, "0123456789", "6124200773"),
    (16, 36, OTHER, "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    (24, 10, "", "0123456789", "2830668132"),
    (24, 10, TWEAK, "0123456789", "2496655549"),
    (24, 36, OTHER, "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
    (32, 10, "", "0123456789", "6657667009"),
    (32, 10, TWEAK, "0123456789", "1001623463"),
    (32, 36, OTHER, "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
]


def digits(text):
    return np.array([[CHARACTERS.index(sign) for sign in text]], dtype=np.int64)


@pytest.mark.parametrize(("size", "radix", "tweak", "plain", "cipher"), SAMPLES)
def test_the_published_answers(size, radix, tweak, plain, cipher):
    ff1 = FF1(bytes.fromhex(KEY)[:size], radix, bytes.fromhex(tweak))
    assert np.array_equal(ff1.encrypt(digits(plain)), digits(cipher))
    assert np.array_equal(ff1.decrypt(digits(cipher)), digits(plain))


@given(st.sampled_from([2, 10, 36, 256, 60_000]), st.integers(2, 60), st.integers(0, 2**32))
def test_decryption_reverses_encryption_for_any_radix_and_length(radix, length, seed):
    if radix**length < 10**6:
        length = 20
    numbers = np.random.default_rng(seed).integers(0, radix, (5, length))
    ff1 = FF1(bytes.fromhex(KEY), radix, b"tweak")
    made = ff1.encrypt(numbers)
    assert made.min() >= 0
    assert made.max() < radix
    assert np.array_equal(ff1.decrypt(made), numbers)


def test_short_and_long_halves_agree_where_both_apply(monkeypatch):
    numbers = np.random.default_rng(1).integers(0, 10, (50, 16))
    fast = FF1(bytes.fromhex(KEY), 10).encrypt(numbers)
    monkeypatch.setattr("shoal.identifiers.format_preserving._FAST_BITS", 0)
    assert np.array_equal(FF1(bytes.fromhex(KEY), 10).encrypt(numbers), fast)


def test_numbers_that_can_all_be_tried_are_refused():
    with pytest.raises(InputError, match="can be guessed"):
        FF1(bytes.fromhex(KEY), 10).encrypt(digits("12345"))
