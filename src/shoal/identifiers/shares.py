"""Shares of a key: any few of several people can restore it, fewer learn nothing useful.

Shamir, "How to share a secret", CACM 22(11), 1979, as implemented by PyCryptodome. Each share has a
check value of 128 bits, derived from the whole key and everything else in the share. It can be
computed only with the key, so the shares that restore a key also show whether one was altered.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import InputError
from shoal.identifiers.keys import Key
from shoal.support.extras import requires
from shoal.support.files import read_text, replace_file
from shoal.support.options import check_whole

_HALF = 16  # bytes that PyCryptodome shares at once
_CHECK = 16  # bytes of a check value
_MIN_NEEDED, _MAX_SHARES = 2, 100
_TEXT = """\
shoal key share 1
key {fingerprint}
share {number} of {total}
needed {needed}
{secret}
check {check}
"""
_PATTERN = re.compile(
    _TEXT.format(
        fingerprint="(?P<fingerprint>[0-9a-f]{8})",
        number="(?P<number>[1-9][0-9]{0,2})",
        total="(?P<total>[1-9][0-9]{0,2})",
        needed="(?P<needed>[1-9][0-9]{0,2})",
        secret=f"(?P<secret>[0-9a-f]{{{4 * _HALF}}})",
        check=f"(?P<check>[0-9a-f]{{{2 * _CHECK}}})",
    ).strip()
)


@dataclass(frozen=True, repr=False)
class _Share:
    """One share as its text states it."""

    fingerprint: str
    number: int
    total: int
    needed: int
    secret: bytes
    check: bytes

    @classmethod
    def read(cls, text: str) -> _Share:
        """Return the share of a text; spaces at the ends of lines do not matter."""
        found = _PATTERN.fullmatch("\n".join(map(str.rstrip, text.strip().splitlines())))
        if found is None:
            raise InputError("a file is not a share of a key, or is damaged")
        number, total, needed = (int(found[name]) for name in ("number", "total", "needed"))
        if not (number <= total <= _MAX_SHARES and _MIN_NEEDED <= needed <= total):
            raise InputError(
                "a share states numbers that `shoal keys split` never writes, so it was altered; "
                "use the original share"
            )
        secret, check = (bytes.fromhex(found[name]) for name in ("secret", "check"))
        return cls(found["fingerprint"], number, total, needed, secret, check)

    def expected_check(self, key: Key) -> bytes:
        """Return the check value that the owner of the key gave this share."""
        numbers = (self.number, self.total, self.needed)
        return key.derive("key share", *map(str, numbers), self.secret.hex())[:_CHECK]

    def text(self, key: Key) -> str:
        """Return the text of the share, with its check value."""
        return _TEXT.format(
            fingerprint=self.fingerprint,
            number=self.number,
            total=self.total,
            needed=self.needed,
            secret=self.secret.hex(),
            check=self.expected_check(key).hex(),
        )


def split_key(key: Key, shares: int, needed: int) -> list[str]:
    """Return the texts of shares, of which some restore the key.

    Parameters:
        key: A key of 32 bytes.
        shares: The number of shares, at most 100.
        needed: How many of them restore the key, at least 2.

    Returns:
        The shares; each states its number, how many there are, and how many are needed.

    >>> shares = split_key(Key.new(), shares=3, needed=2)
    >>> len(shares), join_shares(shares[1:])
    (3, Key(256 bits))
    """
    with requires("identifiers"):
        from Crypto.Protocol.SecretSharing import Shamir
    check_whole("needed", needed, _MIN_NEEDED)
    check_whole("shares", shares, needed)
    if shares > _MAX_SHARES:
        raise InputError(f"shares must be at most {_MAX_SHARES}, not {shares}")
    if len(key.secret) != 2 * _HALF:
        raise InputError("only keys of 32 bytes, as `shoal keys new` makes, can be split")
    halves = [key.secret[:_HALF], key.secret[_HALF:]]
    left, right = (Shamir.split(needed, shares, half) for half in halves)
    return [
        _Share(key.fingerprint, number, shares, needed, one + other, b"").text(key)
        for (number, one), (_, other) in zip(left, right, strict=True)
    ]


def join_shares(shares: Sequence[str]) -> Key:
    """Return the key that shares restore.

    Parameters:
        shares: The texts of different shares of one key, at least as many as are needed.

    Returns:
        The key.

    Raises:
        InputError: Shares are missing, repeated, altered, or of different keys.

    >>> key = Key.new()
    >>> join_shares(split_key(key, 5, 3)[:3]).fingerprint == key.fingerprint
    True
    """
    with requires("identifiers"):
        from Crypto.Protocol.SecretSharing import Shamir
    given = [_Share.read(share) for share in shares]
    if not given:
        raise InputError("no share of a key is given")
    if len({each.fingerprint for each in given}) > 1:
        raise InputError("the shares belong to different keys; give the shares of one key")
    if len({(each.total, each.needed) for each in given}) > 1:
        raise InputError(
            "the shares state different numbers of shares: they were made at different times, or "
            "one was altered; give the shares that were made together"
        )
    unique = {each.number: each for each in given}
    if any(each != unique[each.number] for each in given):
        raise InputError("two different shares have one number: one was altered or forged")
    needed = given[0].needed
    if len(unique) < needed:
        raise InputError(f"{needed} different shares are needed; {len(unique)} are given")
    chosen = sorted(unique.items())[:needed]
    halves = (slice(_HALF), slice(_HALF, None))
    secret = b"".join(
        Shamir.combine([(number, each.secret[half]) for number, each in chosen]) for half in halves
    )
    try:
        key = Key(secret)
    except InputError:  # not random: no key that was split has these bytes
        raise _altered(list(unique)) from None
    wrong = [
        number
        for number, each in unique.items()
        if not hmac.compare_digest(each.check, each.expected_check(key))
    ]
    if wrong or key.fingerprint != given[0].fingerprint:
        raise _altered(wrong)
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


def _altered(wrong: Sequence[int]) -> InputError:
    which = f"share {wrong[0]}" if len(wrong) == 1 else "at least one of the shares"
    return InputError(f"{which} was altered or forged; use the shares as they were written")
