"""Plain hashes of identifiers, refused where all values can be tried.

A hash without a key hides nothing that can be listed: an attacker who hashes all phone numbers
finds each of them.
Marx et al., "Hashing of personally identifiable information is not sufficient", 2018.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from shoal.core.publishing.replaced import Replaced
from shoal.errors import InputError
from shoal.identifiers.plain_text import distinct_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.wording import counted

_MIN_BITS = 80  # guesses that nobody can make
_WORD_BITS = 18.0  # 260,000 words and names
_GUESSES_PER_SECOND = 1e10  # SHA-256 on one graphics card
_RUN = re.compile(r"[0-9A-Za-z]+")


@dataclass(frozen=True)
class Hash(Replacement):
    """SHA-256 without a key, for values that are random themselves, such as UUIDs.

    Values that can be listed are refused with the number of guesses; use `pseudonym` for them.
    """

    name: ClassVar[str] = "hash"

    def publish(self, column: str, cells: Any, context: Context) -> Replaced:
        """Return the hashes of a column."""
        indices, texts = distinct_texts(cells, column)
        values = texts.to_pylist()
        bits = [guess_bits(text) for text in values]
        weak = [each for each in bits if each < _MIN_BITS]
        if weak:
            guesses = 2.0 ** max(weak)
            raise InputError(
                f"column {column!r}: hashes of {counted(len(weak), 'value')} can be reversed with "
                f"at most {_rounded(guesses)} guesses, {_duration(guesses)} on one graphics card; "
                "use replace: pseudonym, which needs a key"
            )
        made = pa.array([hashlib.sha256(text.encode()).hexdigest() for text in values], pa.string())
        return Replaced(
            column,
            made.take(indices),
            links=self.links,
            treatment="replaced by SHA-256 without a key: anyone who knows a value can find it",
            record={"replace": self.name, "function": "SHA-256", "guess_bits": _MIN_BITS},
        )


def guess_bits(text: str) -> float:
    """Return the logarithm to base 2 of the guesses that find a text of this form.

    A run of digits takes 10 guesses per digit, a word a dictionary, and a run of mixed hexadecimal
    digits 16 per character.

    >>> round(guess_bits("555-0199")), round(guess_bits("Maria Schmidt"))
    (23, 36)
    >>> round(guess_bits("4f3c2a1b-9d8e-4f7a-b6c5-0123456789ab"))
    128
    """
    return sum(map(_run_bits, _RUN.findall(text)))


def _run_bits(run: str) -> float:
    if run.isdigit():
        return len(run) * math.log2(10)
    if run.isalpha():
        return min(_WORD_BITS, len(run) * math.log2(26))
    hexadecimal = re.fullmatch(r"[0-9a-f]+|[0-9A-F]+", run)
    return len(run) * math.log2(16 if hexadecimal else 36)


def _rounded(guesses: float) -> str:
    return f"{guesses:,.0f}" if guesses < 1e6 else f"{guesses:.0e}".replace("e+", "e")


def _duration(guesses: float) -> str:
    seconds = guesses / _GUESSES_PER_SECOND
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600)):
        if seconds >= length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {seconds:,.0f} seconds" if seconds >= 1 else "less than a second"
