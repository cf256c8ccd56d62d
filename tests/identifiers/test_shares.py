"""Shares of a key: enough of them restore it, fewer do not."""

import itertools

import pytest

from shoal.errors import InputError

pytest.importorskip("Crypto")
from shoal.identifiers import Key, join_shares, split_key

KEY = Key(bytes(range(32)))


def test_any_three_of_five_shares_restore_the_key():
    shares = split_key(KEY, 5, 3)
    for some in itertools.combinations(shares, 3):
        assert join_shares(some).secret == KEY.secret


def test_too_few_repeated_damaged_or_foreign_shares_are_refused():
    shares = split_key(KEY, 3, 2)
    changed = shares[1].replace(shares[1].split("\n")[4], "00" * 32)
    for wrong, said in [
        ([], "no share"),
        (shares[:1], "2 different shares are needed; 1 are given"),
        ([shares[0]] * 2, "2 different shares"),
        ([shares[0], changed], "damaged"),
        ([shares[0], "text"], "damaged"),
        ([shares[0], split_key(Key.new(), 3, 2)[1]], "different keys"),
    ]:
        with pytest.raises(InputError, match=said):
            join_shares(wrong)


@pytest.mark.parametrize(("shares", "needed"), [(3, 1), (2, 3), (101, 2)])
def test_impossible_numbers_of_shares_are_refused(shares, needed):
    with pytest.raises(InputError):
        split_key(KEY, shares, needed)
