"""Secret keys: made at random, read from a private file, the environment or a command; and shares.

A key is never an argument of a command, and its bytes never appear in a repr, an error or a report.
HKDF (RFC 5869) derives an independent key for each purpose and domain.

Any few of several people can restore a key from their shares, fewer learn nothing useful (Shamir,
"How to share a secret", CACM 22(11), 1979, as implemented by PyCryptodome). Each share has a check
value of 128 bits, derived from the whole key and everything else in the share. It can be computed
only with the key, so the shares that restore a key also show whether one was altered.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import re
import secrets
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from shoal.errors import InputError
from shoal.support.files import check_readable, read_text, reason, replace_file
from shoal.support.imports import requires
from shoal.support.options import check_whole

_KEY_BYTES = 32
_MIN_DISTINCT = 10  # of the bytes of a key; a random key of 32 bytes has about 30
_MAX_SECONDS = 60  # that a key command may take
_ADVICE = "make one with `shoal keys new -o key.bin`"
_HALF_BYTES = 16  # that PyCryptodome shares at once
_CHECK_BYTES = 16
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
        secret=f"(?P<secret>[0-9a-f]{{{4 * _HALF_BYTES}}})",
        check=f"(?P<check>[0-9a-f]{{{2 * _CHECK_BYTES}}})",
    ).strip()
)


@dataclass(frozen=True, eq=False, repr=False)
class Key:
    """A secret key of 32 bytes or more; `Key.new`, `Key.read` and the other readers return one.

    The same key and domain always give the same pseudonyms, so keep a key as long as deliveries
    must join, apart from the data, and give it to nobody who receives a release.

    >>> key = Key.new()
    >>> key
    Key(256 bits)
    """

    secret: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) < _KEY_BYTES:
            raise InputError(f"a key needs at least {_KEY_BYTES} bytes; {_ADVICE}")
        if len(set(self.secret)) < _MIN_DISTINCT:
            raise InputError(f"this key is not random: its bytes repeat; {_ADVICE}")

    def __repr__(self) -> str:
        return f"Key({8 * len(self.secret)} bits)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled: the copy would contain the secret")

    @classmethod
    def new(cls) -> Key:
        """Return a new random key of the operating system's generator."""
        return cls(secrets.token_bytes(_KEY_BYTES))

    @classmethod
    def read(cls, path: str | Path) -> Key:
        """Read a key from a file that only its owner can read.

        Parameters:
            path: The file: 32 random bytes or more, or their hexadecimal or Base64 text.

        Returns:
            The key.

        Raises:
            InputError: The file is not a key, or other users can read it.
        """
        path = Path(path)
        check_readable(path)
        if sys.platform != "win32" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InputError(f"{path}: other users can read this key; run  chmod 600 {path}")
        try:
            return cls(_decoded(path.read_bytes()))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def from_environment(cls, name: str) -> Key:
        """Read a key from an environment variable: hexadecimal or Base64 text.

        Parameters:
            name: The name of the variable.

        Returns:
            The key.
        """
        text = os.environ.get(name)
        if not text:
            raise InputError(f"the environment has no variable {name!r} with a key")
        try:
            return cls(_decoded(os.fsencode(text)))
        except InputError as error:
            raise InputError(f"environment variable {name!r}: {error}") from None

    @classmethod
    def from_command(cls, command: Sequence[str]) -> Key:
        """Read a key from the output of a command, such as the client of a key service.

        Parameters:
            command: The program and its arguments; no shell interprets them.

        Returns:
            The key.
        """
        if not command:
            raise InputError("the key command is empty")
        what = f"the key command {command[0]!r}"
        try:
            done = subprocess.run(
                list(command),
                check=False,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_MAX_SECONDS,
            )
        except OSError as error:
            raise InputError(f"{what} cannot be run ({reason(error)})") from None
        except subprocess.TimeoutExpired:
            raise InputError(f"{what} gave no answer in {_MAX_SECONDS} seconds") from None
        if done.returncode:  # its output may contain the key, so it is not shown
            raise InputError(f"{what} failed with exit status {done.returncode}")
        try:
            return cls(_decoded(done.stdout))
        except InputError as error:
            raise InputError(f"{what}: {error}") from None

    def write(self, path: str | Path) -> None:
        """Write the key to a new file that only its owner can read.

        Parameters:
            path: The file, which must not exist: overwriting a key would lose it.
        """
        with replace_file(Path(path), private=True) as temporary:
            temporary.write_bytes(self.secret)

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that distinguish keys and reveal nothing about them."""
        return self.derive("fingerprint")[:4].hex()

    def derive(self, purpose: str, *context: str) -> bytes:
        """Return 32 bytes for a purpose and its context, independent of those for any other."""
        return hkdf(self.secret, b"shoal 1" + _packed(purpose, *context))


def hkdf(secret: bytes, info: bytes, salt: bytes = b"", length: int = _KEY_BYTES) -> bytes:
    """Return bytes derived from a secret by HKDF with SHA-256 (RFC 5869)."""
    extracted = hmac.digest(salt or bytes(_KEY_BYTES), secret, hashlib.sha256)
    block = output = b""
    for counter in range(1, -(-length // _KEY_BYTES) + 1):
        block = hmac.digest(extracted, block + info + bytes([counter]), hashlib.sha256)
        output += block
    return output[:length]


def _packed(*parts: str) -> bytes:
    """Return texts as bytes that no other list of texts has: each has its length before it."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join(len(part).to_bytes(8, "big") + part for part in encoded)


def _decoded(content: bytes) -> bytes:
    """Return the key of a file's content: hexadecimal or Base64 text, or else the bytes."""
    text = content.strip()
    # random bytes are practically never all printable, so such a file must be a key as text
    if not all(32 <= byte < 127 for byte in text):
        return content
    try:
        return bytes.fromhex(text.decode("ascii"))
    except ValueError:
        pass
    try:
        plain = text.translate(bytes.maketrans(b"-_", b"+/"))
        return base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        raise InputError(
            "this text is neither hexadecimal nor Base64; a passphrase can be guessed and is not "
            f"accepted; {_ADVICE}"
        ) from None


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
    if len(key.secret) != 2 * _HALF_BYTES:
        raise InputError("only keys of 32 bytes, as `shoal keys new` makes, can be split")
    halves = [key.secret[:_HALF_BYTES], key.secret[_HALF_BYTES:]]
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
    halves = (slice(_HALF_BYTES), slice(_HALF_BYTES, None))
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
        match = _PATTERN.fullmatch("\n".join(map(str.rstrip, text.strip().splitlines())))
        if match is None:
            raise InputError("a file is not a share of a key, or is damaged")
        number, total, needed = (int(match[name]) for name in ("number", "total", "needed"))
        if not (number <= total <= _MAX_SHARES and _MIN_NEEDED <= needed <= total):
            raise InputError(
                "a share states numbers that `shoal keys split` never writes, so it was altered; "
                "use the original share"
            )
        secret, check = (bytes.fromhex(match[name]) for name in ("secret", "check"))
        return cls(match["fingerprint"], number, total, needed, secret, check)

    def expected_check(self, key: Key) -> bytes:
        """Return the check value that the owner of the key gave this share."""
        numbers = (self.number, self.total, self.needed)
        return key.derive("key share", *map(str, numbers), self.secret.hex())[:_CHECK_BYTES]

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
