"""Shares of a key: any few of several people can restore it, fewer learn nothing.

Shamir, "How to share a secret", CACM 22(11), 1979, as implemented by PyCryptodome.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shoal.errors import InputError
from shoal.identifiers.keys import Key
from shoal.support.extras import requires
from shoal.support.files import read_text, replace_file
from shoal.support.options import check_whole

_HEAD = "shoal key share 1"
_HALF = 16  # bytes that PyCryptodome shares at once
_MAX_SHARES = 100


def split_key(key: Key, shares: int, needed: int) -> list[str]:
    """Return the texts of shares, of which some restore the key.

    Parameters:
        key: A key of 32 bytes.
        shares: The number of shares, at most 100.
        needed: How many of them restore the key, at least 2.

    Returns:
        The shares; each states its number and how many are needed.

    >>> shares = split_key(Key.new(), shares=3, needed=2)
    >>> len(shares), join_shares(shares[1:])
    (3, Key(256 bits))
    """
    with requires("identifiers"):
        from Crypto.Protocol.SecretSharing import Shamir
    check_whole("needed", needed, 2)
    check_whole("shares", shares, needed)
    if shares > _MAX_SHARES:
        raise InputError(f"shares must be at most {_MAX_SHARES}, not {shares}")
    if len(key.secret) != 2 * _HALF:
        raise InputError("only keys of 32 bytes, as `shoal keys new` makes, can be split")
    halves = [key.secret[:_HALF], key.secret[_HALF:]]
    left, right = (Shamir.split(needed, shares, half) for half in halves)
    return [
        f"{_HEAD}\nkey {key.fingerprint}\nshare {number} of {shares}\nneeded {needed}\n"
        f"{(one + other).hex()}\n"
        for (number, one), (_, other) in zip(left, right, strict=True)
    ]


def join_shares(shares: Sequence[str]) -> Key:
    """Return the key that shares restore.

    Parameters:
        shares: The texts of different shares of one key, at least as many as are needed.

    Returns:
        The key.

    Raises:
        InputError: Shares are missing, repeated, damaged, or of different keys.

    >>> key = Key.new()
    >>> join_shares(split_key(key, 5, 3)[:3]).fingerprint == key.fingerprint
    True
    """
    with requires("identifiers"):
        from Crypto.Protocol.SecretSharing import Shamir
    parsed = [_parsed(share) for share in shares]
    if not parsed:
        raise InputError("no share of a key is given")
    fingerprint, _, needed, _ = parsed[0]
    if any((each[0], each[2]) != (fingerprint, needed) for each in parsed):
        raise InputError("the shares belong to different keys")
    unique = {number: secret for _, number, _, secret in parsed}
    if len(unique) < needed:
        raise InputError(f"{needed} different shares are needed; {len(unique)} are given")
    chosen = sorted(unique.items())[:needed]
    secret = b"".join(
        Shamir.combine([(number, part[start : start + _HALF]) for number, part in chosen])
        for start in (0, _HALF)
    )
    key = Key(secret)
    if key.fingerprint != fingerprint:
        raise InputError("a share is damaged: the restored key has another fingerprint")
    return key


def write_shares(shares: Sequence[str], output: Path) -> list[Path]:
    """Write shares to NAME.1.share, NAME.2.share, …, each for its owner to read only."""
    paths = [output.with_name(f"{output.name}.{n}.share") for n in range(1, len(shares) + 1)]
    for path, share in zip(paths, shares, strict=True):
        with replace_file(path, private=True) as temporary:
            temporary.write_text(share, encoding="ascii")
    return paths


def read_shares(paths: Sequence[Path]) -> list[str]:
    """Return the texts of share files."""
    return [read_text(path) for path in paths]


def _parsed(share: str) -> tuple[str, int, int, bytes]:
    """Return the fingerprint of the key, the share's number, how many are needed, and the share."""
    try:
        head, key, number, needed, secret = share.split("\n")[:5]
        found = key.split()[1], int(number.split()[1]), int(needed.split()[1])
        if head != _HEAD or len(secret) != 4 * _HALF:
            raise ValueError
        return (*found, bytes.fromhex(secret))
    except (ValueError, IndexError):
        raise InputError("a file is not a share of a key, or is damaged") from None
