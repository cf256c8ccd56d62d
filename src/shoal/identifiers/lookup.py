"""Lookup tables of random tokens, sealed: encrypted and authenticated with the key.

Nothing about a token can be computed, not even with the key; without the table it is meaningless.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.identifiers.codes import ALPHABET, distinct_texts
from shoal.identifiers.keys import Key
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.files import check_readable, check_single_name, locked, replace_file
from shoal.support.imports import requires
from shoal.support.wording import counted, option
from shoal.table.linked import Replaced

# a file is _MAGIC, then a nonce, then the JSON of the tokens, sealed by AES-GCM with the key
_MAGIC = b"shoal lookup 1\n"
_NONCE_BYTES = 12
_LENGTH = 26  # characters of a token, 130 random bits


class Lookup:
    """The tokens of values, by domain, in a sealed file that only its owner can read.

    A new token is in the file, and on the disk, before `Token` publishes it, so a release never
    shows a token that cannot be reversed; a run that fails may leave tokens that no release shows.
    Several processes can use one file: each adds tokens to what the others stored.

    Parameters:
        path: The file; the first token creates it.
        key: The key that seals it.

    Raises:
        InputError: The file is not a lookup table, was changed, or has another key.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from shoal.identifiers import Key
    >>> with TemporaryDirectory() as folder:
    ...     Lookup(Path(folder, "tokens.sealed"), Key.new())
    Lookup(0 tokens)
    """

    def __init__(self, path: str | Path, key: Key) -> None:
        self.path = Path(path).resolve()
        self.tokens: dict[str, dict[str, str]] = {}
        self._key = key
        self._nonce = b""  # of the content that `tokens` is; every content has another
        if self.path.exists():
            self._read()

    def __repr__(self) -> str:
        return f"Lookup({sum(map(len, self.tokens.values())):,} tokens)"

    def token_of(self, domain: str, texts: Any) -> Any:
        """Return the token of each distinct text; new texts get new random tokens, and store them.

        Parameters:
            domain: The domain of the tokens.
            texts: Distinct texts, as an Arrow array.
        """
        values = texts.to_pylist()
        if not values:
            return pa.array([], pa.string())
        with locked(self.path, private=True):
            self._refresh()
            known = self.tokens.setdefault(domain, {})
            new = {text: _draw() for text in values if text not in known}
            if new:
                known |= new
                try:
                    self._write()
                except BaseException:  # nothing may publish a token that is not in the file
                    for text in new:
                        del known[text]
                    raise
        return pa.array([known[text] for text in values], pa.string())

    def value_of(self, domain: str, tokens: Any) -> Any:
        """Return the text behind each token, missing for an unknown token."""
        known = self.tokens.get(domain, {})
        values, codes = (pa.array(list(part), pa.string()) for part in (known, known.values()))
        return values.take(pc.index_in(tokens.cast(pa.string()), value_set=codes))

    def _refresh(self) -> None:
        """Read what other processes stored since."""
        if not self._nonce and not self.path.exists():
            return
        check_readable(self.path)
        with self.path.open("rb") as file:
            head = file.read(len(_MAGIC) + _NONCE_BYTES)
        if head != _MAGIC + self._nonce:
            self._read()

    def _read(self) -> None:
        with requires("identifiers"):
            from cryptography.exceptions import InvalidTag
        check_single_name(self.path)
        check_readable(self.path)
        content = self.path.read_bytes()
        if not content.startswith(_MAGIC):
            raise InputError(f"{self.path}: not a lookup table of Shoal")
        nonce, sealed = content[len(_MAGIC) :][:_NONCE_BYTES], content[len(_MAGIC) + _NONCE_BYTES :]
        try:
            tokens = json.loads(_cipher(self._key).decrypt(nonce, sealed, _MAGIC))
        except (InvalidTag, ValueError):
            raise InputError(f"{self.path}: was changed, or was sealed with another key") from None
        if any(not known.items() <= tokens.get(d, {}).items() for d, known in self.tokens.items()):
            raise InputError(
                f"{self.path}: was replaced by an older copy while it was in use, and lacks tokens "
                "of this run; restore the newest copy and run again"
            )
        self.tokens, self._nonce = tokens, nonce

    def _write(self) -> None:
        check_single_name(self.path)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = _cipher(self._key).encrypt(nonce, json.dumps(self.tokens).encode(), _MAGIC)
        with replace_file(self.path, force=True, update=True, private=True) as temporary:
            temporary.write_bytes(_MAGIC + nonce + sealed)
        self._nonce = nonce
        check_readable(self.path)  # counts as read: no output of this command may replace it


@dataclass(frozen=True)
class Token(Replacement):
    """Random tokens with a sealed lookup table: meaningless without the table.

    A value keeps its token in later deliveries of its domain, because the table is read again.
    """

    name: ClassVar[str] = "token"

    def publish(self, column: str, cells: Any, context: Context) -> Replaced:
        """Return the tokens of a column, and add new ones to the lookup table."""
        context.derive(column, self.name)  # for its checks: the table is sealed with the key
        if context.lookup is None:
            raise InputError(
                f"column {column!r}: tokens need a lookup table; name its file with "
                f"{option('lookup')}"
            )
        indices, texts = distinct_texts(cells, column)
        return Replaced(
            column,
            context.lookup.token_of(context.domain, texts).take(indices),
            links=self.links,
            treatment=f"replaced by random tokens, domain {context.domain!r}; the holder of the "
            "sealed lookup table and its key can reverse them",
            record={"replace": self.name, "length": _LENGTH, **context.record},
        )

    def reveal(self, column: str, cells: Any, context: Context) -> Any:
        """Return the values behind tokens."""
        if context.lookup is None:
            raise InputError(f"column {column!r}: give the lookup table with {option('lookup')}")
        indices, texts = distinct_texts(cells, column)
        values = context.lookup.value_of(context.domain, texts)
        if values.null_count:
            unknown = counted(values.null_count, "token")
            raise InputError(
                f"column {column!r}: {unknown} of {len(values):,} not in the lookup table, domain "
                f"{context.domain!r}; give the table and the domain of this release"
            )
        return values.take(indices)


def _draw() -> str:
    return "".join(chr(ALPHABET[byte & 31]) for byte in secrets.token_bytes(_LENGTH))


def _cipher(key: Key) -> Any:
    with requires("identifiers"):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    return AESGCM(key.derive("lookup table"))
