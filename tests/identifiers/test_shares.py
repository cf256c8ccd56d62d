"""Shares of a key: enough of them restore it, fewer do not, and an altered one is noticed."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.errors import InputError

pytest.importorskip("Crypto")
from shoal.identifiers import Key, join_shares, split_key

KEY = Key(bytes(range(32)))


def test_any_three_of_five_shares_restore_the_key():
    shares = split_key(KEY, 5, 3)
    for some in [*itertools.combinations(shares, 3), shares]:
        assert join_shares(some).secret == KEY.secret


def times(one, other):
    """Multiply in GF(2^128), modulo x^128 + x^7 + x^2 + x + 1."""
    product = 0
    for bit in reversed(range(128)):
        product <<= 1
        product ^= ((product >> 128) * ((1 << 128) | 0x87)) ^ (one if other >> bit & 1 else 0)
    return product


def inverse(number):
    """Return the power 2^128 - 2 of a number: its inverse, as the field has 2^128 elements."""
    power = 1
    for _ in range(127):
        number = times(number, number)
        power = times(power, number)
    return power


def at_zero(points):
    """Lagrange's formula: the value at zero of the polynomial through some points."""
    total = 0
    for x, value in points:
        for other in {each for each, _ in points} - {x}:
            value = times(value, times(other, inverse(x ^ other)))  # noqa: PLW2901
        total ^= value
    return total


def test_shamirs_formula_alone_restores_a_key_from_its_shares():
    """So that a key does not depend on one library, nor on this version of Shoal."""
    assert times(inverse(0xABC), 0xABC) == 1
    points = [], []
    for share in split_key(KEY, 5, 3)[1:4]:
        number = int(re.search(r"share (\d+) of", share)[1])
        secret = bytes.fromhex(re.search(r"^([0-9a-f]{64})$", share, re.MULTILINE)[1])
        for half, part in zip(points, (secret[:16], secret[16:]), strict=True):
            half.append((number, int.from_bytes(part, "big")))
    assert b"".join(at_zero(half).to_bytes(16, "big") for half in points) == KEY.secret


def test_the_ends_of_lines_do_not_matter():
    shares = split_key(KEY, 2, 2)
    pasted = [" \n" + share.replace("\n", " \r\n") + "\n" for share in shares]
    assert join_shares(pasted).secret == KEY.secret


def test_the_check_value_has_128_bits_and_is_that_of_one_share():
    checks = [re.search(r"check ([0-9a-f]+)\n", share)[1] for share in split_key(KEY, 5, 3)]
    assert [len(check) for check in checks] == [32] * 5
    assert len(set(checks)) == 5


def test_too_few_repeated_or_foreign_shares_are_refused():
    shares = split_key(KEY, 3, 2)
    for wrong, said in [
        ([], "no share"),
        (shares[:1], "2 different shares are needed; 1 are given"),
        ([shares[0]] * 2, "2 different shares"),
        ([shares[0], "text"], "damaged"),
        ([shares[0], split_key(Key.new(), 3, 2)[1]], "different keys"),
        ([shares[0], split_key(KEY, 3, 2)[0], shares[1]], "two different shares have one number"),
        ([shares[0], split_key(KEY, 4, 2)[1]], "different numbers of shares"),
        ([shares[0], split_key(KEY, 3, 3)[1]], "different numbers of shares"),
        ([shares[0], split_key(KEY, 3, 2)[1]], "at least one of the shares was altered"),
    ]:
        with pytest.raises(InputError, match=said):
            join_shares(wrong)


@pytest.mark.parametrize("number", [0, -1, 4, 101, 2**128, "01", "+1", "1.0", "٣"])
@pytest.mark.parametrize("others", [1, 2])
def test_a_number_that_is_never_written_is_refused(number, others):
    shares = split_key(KEY, 3, 2)
    forged = shares[0].replace("share 1 of", f"share {number} of")
    with pytest.raises(InputError, match=r"damaged|never writes"):
        join_shares([forged, *shares[1 : 1 + others]])


def test_a_share_that_is_the_key_does_not_join():
    forged = re.sub(r"\n[0-9a-f]{64}\n", f"\n{KEY.secret.hex()}\n", split_key(KEY, 3, 2)[0])
    with pytest.raises(InputError, match="damaged"):
        join_shares([forged.replace("share 1", "share 0"), split_key(KEY, 3, 2)[1]])


@pytest.mark.parametrize(("total", "needed"), [(3, 0), (3, 1), (3, 4), (101, 2), (0, 0), (3, -1)])
def test_totals_that_are_never_written_are_refused(total, needed):
    altered = [
        share.replace("of 3", f"of {total}").replace("needed 2", f"needed {needed}")
        for share in split_key(KEY, 3, 2)
    ]
    with pytest.raises(InputError, match=r"damaged|never writes"):
        join_shares(altered)


def test_numbers_that_are_altered_in_all_shares_are_noticed():
    for old, new in [("of 3", "of 4"), ("needed 2", "needed 3"), ("key 2e", "key 2f")]:
        altered = [share.replace(old, new) for share in split_key(KEY, 3, 2)]
        assert altered[0] != split_key(KEY, 3, 2)[0]
        with pytest.raises(InputError, match="altered"):
            join_shares(altered)


def test_a_forged_share_among_more_than_are_needed_is_named():
    shares = split_key(KEY, 4, 2)
    digits = shares[3].split("\n")[4]
    with pytest.raises(InputError, match="share 4 was altered or forged"):
        join_shares([*shares[:2], shares[3].replace(digits, digits[::-1])])


@examples(100)
@given(data=st.data())
def test_no_changed_character_of_a_share_is_overlooked(data):
    shares = split_key(KEY, 3, 2)
    number = data.draw(st.integers(0, 2))
    text = shares[number]
    place = data.draw(st.integers(0, len(text) - 2))
    sign = data.draw(st.sampled_from("0123456789abcdef -\n"))
    changed = text[:place] + sign + text[place + 1 :]
    given_shares = [changed, *(share for share in shares if share is not text)]
    if changed == text:
        assert join_shares(given_shares).secret == KEY.secret
    else:
        with pytest.raises(InputError):
            join_shares(given_shares)


@pytest.mark.parametrize(("shares", "needed"), [(3, 1), (2, 3), (101, 2)])
def test_impossible_numbers_of_shares_are_refused(shares, needed):
    with pytest.raises(InputError):
        split_key(KEY, shares, needed)
