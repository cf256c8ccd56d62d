"""Format-preserving encryption by FF1: the length and form of a number stay, the key reverses it.

A Feistel network of ten rounds over the two halves of a number, with AES as its round function:

    A │ B  ─→  B │ A + F(B)  ─→ … ten times; decryption walks back

All numbers of one length are encrypted together, one call of AES per round.
NIST SP 800-38G, "Recommendation for block cipher modes of operation: methods for format-preserving
encryption", 2016, and its draft Revision 1, 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.errors import InputError
from shoal.identifiers.codes import distinct_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.imports import requires
from shoal.support.wording import counted
from shoal.table.linked import Replaced

_CODE_POINTS = 0x110000
MIN_NUMBERS = 10**6  # that one length must have, by SP 800-38G Revision 1
MAX_RADIX = 1 << 16
_ROUNDS = 10
_BLOCK = 16  # bytes
_FAST_BITS = 32  # of a half; sums and remainders then fit 64 bits

Digits = npt.NDArray[np.int64]
Halves = npt.NDArray[Any]  # uint64, or Python's own integers for long numbers


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
        # (texts, longest) code points, padded with 0; digits are −1 outside the alphabet
        grid = signs.view(np.uint32).reshape(len(signs), -1).copy()
        digit_of = np.full(_CODE_POINTS, -1, np.int64)
        points = np.array([ord(sign) for sign in self.alphabet], np.uint32)
        digit_of[points] = np.arange(len(points))
        digits = digit_of[grid]
        inside = digits >= 0
        self._check(column, inside.sum(axis=1))
        # texts with characters of the alphabet in the same places are encrypted together
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


class FF1:
    """Encryption of numbers of any length in one radix.

    Parameters:
        key: An AES key of 16, 24 or 32 bytes.
        radix: The number of digits, from 2 to 65,536.
        tweak: Bytes that need not be secret; another tweak gives another permutation.
    """

    def __init__(self, key: bytes, radix: int, tweak: bytes = b"") -> None:
        with requires("identifiers"):
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        if not 2 <= radix <= MAX_RADIX:
            raise InputError(f"the radix must be from 2 to {MAX_RADIX:,}")
        self._aes = Cipher(algorithms.AES(key), modes.ECB())
        self.radix, self.tweak = radix, tweak

    def __repr__(self) -> str:
        return f"FF1(radix={self.radix})"

    def encrypt(self, digits: Digits) -> Digits:
        """Return (numbers, length) digits of the encrypted numbers."""
        return self._run(digits, range(_ROUNDS), 1)

    def decrypt(self, digits: Digits) -> Digits:
        """Return (numbers, length) digits of the numbers that `encrypt` was given."""
        return self._run(digits, range(_ROUNDS - 1, -1, -1), -1)

    def _run(self, digits: Digits, rounds: Sequence[int], sign: int) -> Digits:
        numbers, length = digits.shape
        if self.radix**length < MIN_NUMBERS:
            raise InputError(
                f"numbers of {length} characters from {self.radix} can be guessed: FF1 needs at "
                f"least {MIN_NUMBERS:,} of them"
            )
        if not numbers:
            return digits.copy()
        left = length // 2
        sizes = (left, length - left)
        width = -(-((self.radix ** sizes[1] - 1).bit_length()) // 8)  # bytes of a half, b
        taken = 4 * -(-width // 4) + 4  # bytes of a round's output, d
        first = self._first_block(length, left)
        moduli = [self.radix**size for size in sizes]
        fast = moduli[1] <= 1 << _FAST_BITS
        kind = np.uint64 if fast else object
        a = _numbers(digits[:, :left], self.radix, kind)
        b = _numbers(digits[:, left:], self.radix, kind)
        for step in rounds:
            # encryption: (A, B) → (B, A + F(B)); decryption: (A, B) → (B − F(A), A)
            modulus = moduli[step % 2]
            mixed = self._round(b if sign > 0 else a, step, width, taken, first, fast)
            if sign > 0:
                a, b = b, (a + mixed % modulus) % modulus
            else:
                a, b = (b + (modulus - mixed % modulus)) % modulus, a
        return np.hstack([_digits(a, self.radix, sizes[0]), _digits(b, self.radix, sizes[1])])

    def _first_block(self, length: int, left: int) -> bytes:
        """Return AES of the block that all numbers of one length share, P."""
        head = bytes([1, 2, 1]) + self.radix.to_bytes(3, "big") + bytes([_ROUNDS, left % 256])
        block = head + length.to_bytes(4, "big") + len(self.tweak).to_bytes(4, "big")
        return bytes(self._aes.encryptor().update(block))

    def _round(
        self, half: Halves, step: int, width: int, taken: int, first: bytes, fast: bool
    ) -> Halves:
        """Return the number that one round derives from each half."""
        padding = -(len(self.tweak) + width + 1) % _BLOCK
        head = np.frombuffer(self.tweak + bytes(padding) + bytes([step]), np.uint8)
        message = np.empty((len(half), len(head) + width), np.uint8)
        message[:, : len(head)] = head
        message[:, len(head) :] = _bytes(half, width)
        state = np.broadcast_to(np.frombuffer(first, np.uint8), (len(half), _BLOCK))
        for start in range(0, message.shape[1], _BLOCK):
            state = self._cipher(state ^ message[:, start : start + _BLOCK])
        blocks = [state]
        for count in range(1, -(-taken // _BLOCK)):
            counter = np.frombuffer(count.to_bytes(_BLOCK, "big"), np.uint8)
            blocks.append(self._cipher(state ^ counter))
        output = np.ascontiguousarray(np.hstack(blocks)[:, :taken])
        if fast:
            return output[:, -8:].copy().view(">u8").ravel().astype(np.uint64)
        return np.array([int.from_bytes(row.tobytes(), "big") for row in output], dtype=object)

    def _cipher(self, blocks: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        made = self._aes.encryptor().update(np.ascontiguousarray(blocks).tobytes())
        return np.frombuffer(made, np.uint8).reshape(-1, _BLOCK)


def _numbers(digits: Digits, radix: int, kind: Any) -> Halves:
    total: Halves = np.zeros(len(digits), dtype=kind)
    for column in digits.T:
        total = total * kind(radix) + column.astype(kind) if kind is np.uint64 else (
            total * radix + column.astype(object)
        )  # fmt: skip
    return total


def _digits(numbers: Halves, radix: int, size: int) -> Digits:
    digits = np.empty((len(numbers), size), np.int64)
    rest = numbers
    for place in range(size - 1, -1, -1):  # the last digit first
        digits[:, place] = (rest % radix).astype(np.int64)
        rest = rest // radix
    return digits


def _bytes(numbers: Halves, width: int) -> npt.NDArray[np.uint8]:
    """(numbers, width) the big-endian bytes of each number."""
    if numbers.dtype == np.uint64:
        whole = numbers.astype(">u8").view(np.uint8).reshape(-1, 8)
        return whole[:, 8 - width :]
    packed = b"".join(number.to_bytes(width, "big") for number in numbers.tolist())
    return np.frombuffer(packed, np.uint8).reshape(-1, width)
