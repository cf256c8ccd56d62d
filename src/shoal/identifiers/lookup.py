"""Lookup tables of random tokens, sealed: encrypted and authenticated with the key.

Nothing about a token can be computed, not even with the key; without the table it is meaningless.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.publishing.replaced import Replaced
from shoal.errors import InputError
from shoal.identifiers.hmac_sha256 import ALPHABET
from shoal.identifiers.keys import Key
from shoal.identifiers.plain_text import distinct_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.extras import requires
from shoal.support.files import check_readable, replace_file
from shoal.support.wording import option

_MAGIC = b"shoal lookup 1\n"
_NONCE = 12  # bytes
_LENGTH = 26  # characters of a token, 130 random bits


@dataclass(eq=False)
class Lookup:
    """The tokens of values, by domain; `Token` adds to it, `write` seals it.

    Parameters:
        tokens: For each domain, the token of each value.

    >>> from shoal.identifiers import Key
    >>> Lookup()
    Lookup(0 tokens)
    """

    tokens: dict[str, dict[str, str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Lookup({sum(map(len, self.tokens.values())):,} tokens)"

    def token_of(self, domain: str, texts: Any) -> Any:
        """Return the token of each distinct text; new texts get new random tokens."""
        known = self.tokens.setdefault(domain, {})
        return pa.array([known.get(t) or known.setdefault(t, _draw()) for t in texts.to_pylist()])

    def value_of(self, domain: str, tokens: Any) -> Any:
        """Return the text behind each token, missing for an unknown token."""
        known = self.tokens.get(domain, {})
        values, codes = (pa.array(list(part), pa.string()) for part in (known, known.values()))
        return values.take(pc.index_in(tokens.cast(pa.string()), value_set=codes))

    @classmethod
    def read(cls, path: str | Path, key: Key) -> Lookup:
        """Open a sealed table.

        Parameters:
            path: The file.
            key: The key that sealed it.

        Returns:
            The table.

        Raises:
            InputError: The file is not a lookup table, was changed, or has another key.
        """
        with requires("identifiers"):
            from cryptography.exceptions import InvalidTag
        path = Path(path)
        check_readable(path)
        content = path.read_bytes()
        if not content.startswith(_MAGIC):
            raise InputError(f"{path}: not a lookup table of Shoal")
        nonce, sealed = content[len(_MAGIC) :][:_NONCE], content[len(_MAGIC) + _NONCE :]
        try:
            return cls(json.loads(_cipher(key).decrypt(nonce, sealed, _MAGIC)))
        except (InvalidTag, ValueError):
            raise InputError(f"{path}: was changed, or was sealed with another key") from None

    def write(self, path: str | Path, key: Key) -> None:
        """Seal the table and write it, for its owner to read only.

        Parameters:
            path: The file; an older table there is replaced.
            key: The key that opens it.
        """
        nonce = secrets.token_bytes(_NONCE)
        sealed = _cipher(key).encrypt(nonce, json.dumps(self.tokens).encode(), _MAGIC)
        with replace_file(Path(path), force=True, update=True, private=True) as temporary:
            temporary.write_bytes(_MAGIC + nonce + sealed)


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
        return context.lookup.value_of(context.domain, texts).take(indices)


def _draw() -> str:
    return "".join(chr(ALPHABET[byte & 31]) for byte in secrets.token_bytes(_LENGTH))


def _cipher(key: Key) -> Any:
    with requires("identifiers"):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    return AESGCM(key.derive("lookup table"))
