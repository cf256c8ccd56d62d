"""Format-preserving encryption: the length and form of a number stay, the key reverses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.core.publishing.replaced import Replaced
from shoal.errors import InputError
from shoal.identifiers.ff1 import FF1, MIN_NUMBERS
from shoal.identifiers.plain_text import distinct_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.wording import counted

_CODE_POINTS = 0x110000


@dataclass(frozen=True)
class FormatPreserving(Replacement):
    """Encryption by FF1 with AES-256 (NIST SP 800-38G): the format stays, the key reverses it.

    Characters outside the alphabet, such as hyphens, stay where they are. Equal values have equal
    replacements in one domain, and different values have different ones.

    Parameters:
        alphabet: The characters that are encrypted.

    >>> import pyarrow as pa
    >>> from shoal.identifiers import Key
    >>> from shoal.identifiers.replacement import Context
    >>> context = Context(Key.new(), "a study")
    >>> made = FormatPreserving().publish("card", pa.array(["4024-0071-6478"]), context).cells
    >>> [len(part) for part in made[0].as_py().split("-")]
    [4, 4, 4]
    >>> FormatPreserving().reveal("card", made, context).to_pylist()
    ['4024-0071-6478']
    """

    name: ClassVar[str] = "ff1"
    alphabet: str = "0123456789"

    def __post_init__(self) -> None:
        if not isinstance(self.alphabet, str) or len(set(self.alphabet)) != len(self.alphabet):
            raise InputError("alphabet must be text in which each character occurs once")
        if len(self.alphabet) < 2:
            raise InputError("alphabet must have at least 2 characters")

    def publish(self, column: str, cells: Any, context: Context) -> Replaced:
        """Return the encrypted cells of a column."""
        indices, texts = distinct_texts(cells, column)
        made = self._run(column, texts, context, backwards=False)
        return Replaced(
            column,
            made.take(indices),
            links=self.links,
            treatment="replaced by format-preserving encryption: FF1 with AES-256, domain "
            f"{context.domain!r}; the holder of the key can reverse it",
            record={
                "replace": self.name,
                "function": "FF1 with AES-256 (NIST SP 800-38G)",
                "alphabet": len(self.alphabet),
                **context.record,
            },
        )

    def reveal(self, column: str, cells: Any, context: Context) -> Any:
        """Return the decrypted cells of a column."""
        indices, texts = distinct_texts(cells, column)
        return self._run(column, texts, context, backwards=True).take(indices)

    def _run(self, column: str, texts: Any, context: Context, *, backwards: bool) -> Any:
        key = context.derive(column, self.name, self.alphabet)
        ff1 = FF1(key, len(self.alphabet))
        signs = np.array(texts.to_pylist(), dtype=np.str_)
        if not len(signs):
            return texts.cast(pa.string())
        grid = signs.view(np.uint32).reshape(len(signs), -1).copy()  # padded with 0
        digit_of = np.full(_CODE_POINTS, -1, np.int64)
        points = np.array([ord(sign) for sign in self.alphabet], np.uint32)
        digit_of[points] = np.arange(len(points))
        digits = digit_of[grid]
        inside = digits >= 0
        self._check(column, inside.sum(axis=1))
        patterns, which = _patterns(inside)
        for pattern in range(len(patterns)):
            rows = np.flatnonzero(which == pattern)
            places = np.flatnonzero(patterns[pattern])
            block = np.ix_(rows, places)
            run = ff1.decrypt if backwards else ff1.encrypt
            grid[block] = points[run(digits[block])]
        made = grid.view(f"U{grid.shape[1]}").ravel()
        return pa.array(made.tolist(), pa.string())

    def _check(self, column: str, lengths: npt.NDArray[np.int64]) -> None:
        least = next(n for n in range(1, 64) if len(self.alphabet) ** n >= MIN_NUMBERS)
        short = int((lengths < least).sum())
        if short:
            raise InputError(
                f"column {column!r}: {counted(short, 'value has', 'values have')} fewer than "
                f"{least} characters of the alphabet, so the originals could be guessed; use "
                "pseudonym"
            )


def _patterns(inside: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], Any]:
    """Return the distinct rows of a matrix, and which of them each row is."""
    packed = np.ascontiguousarray(np.packbits(inside, axis=1))
    keys = packed.view(f"V{packed.shape[1]}").ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return inside[first], which
