"""Secret keys: made at random, read from a private file, the environment or a command.

A key is never an argument of a command, and its bytes never appear in a repr, an error or a report.
HKDF (RFC 5869) derives an independent key for each purpose and domain.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from shoal.errors import InputError
from shoal.support.files import check_readable, reason, replace_file

_BYTES = 32
_MIN_DISTINCT = 10  # of the bytes of a key; a random key of 32 bytes has about 30
_SECONDS = 60  # that a key command may take
_ADVICE = "make one with `shoal keys new -o key.bin`"


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
        if not isinstance(self.secret, bytes) or len(self.secret) < _BYTES:
            raise InputError(f"a key needs at least {_BYTES} bytes; {_ADVICE}")
        if len(set(self.secret)) < _MIN_DISTINCT:
            raise InputError(f"this key is not random: its bytes repeat; {_ADVICE}")

    def __repr__(self) -> str:
        return f"Key({8 * len(self.secret)} bits)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled: the copy would contain the secret")

    @classmethod
    def new(cls) -> Key:
        """Return a new random key of the operating system's generator."""
        return cls(secrets.token_bytes(_BYTES))

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
                timeout=_SECONDS,
            )
        except OSError as error:
            raise InputError(f"{what} cannot be run ({reason(error)})") from None
        except subprocess.TimeoutExpired:
            raise InputError(f"{what} gave no answer in {_SECONDS} seconds") from None
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


def hkdf(secret: bytes, info: bytes, salt: bytes = b"", length: int = _BYTES) -> bytes:
    """Return bytes derived from a secret by HKDF with SHA-256 (RFC 5869)."""
    extracted = hmac.digest(salt or bytes(_BYTES), secret, hashlib.sha256)
    block = output = b""
    for counter in range(1, -(-length // _BYTES) + 1):
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
