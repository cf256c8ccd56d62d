"""Pseudonyms: the same person has the same code in every table and delivery of one domain.

HMAC-SHA-256 under a key of the domain, truncated: without the key nobody can compute or check a
pseudonym, not even from a list of all people. EDPB, Guidelines 01/2025 on pseudonymisation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.identifiers.codes import BITS, MAX_LENGTH, codes, few_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.options import check_whole
from shoal.support.wording import counted
from shoal.table.linked import Replaced

_MIN_LENGTH = 10


@dataclass(frozen=True)
class Pseudonym(Replacement):
    """Keyed pseudonyms: truncated HMAC-SHA-256 as lower-case Base32.

    Equal texts have equal pseudonyms in one domain, whatever the table and the column; a number
    counts as the text that shows it. Two domains, or two keys, have no pseudonym in common. A
    missing value stays missing.

    Parameters:
        length: Characters of a pseudonym, 5 bits each, from 10 to 51.
        space: Separates numbers of different things, such as `visit`, so that visit 7 and patient 7
            have different pseudonyms; by default there is one space.

    >>> import pyarrow as pa
    >>> from shoal.identifiers import Context, Key
    >>> context = Context(Key.new(), "a study")
    >>> made = Pseudonym().publish("id", pa.array(["ann", "bob", "ann"]), context).cells
    >>> made[0] == made[2], made[0] == made[1], len(made[0].as_py())
    (True, False, 26)
    """

    name: ClassVar[str] = "pseudonym"
    length: int = 26
    space: str = ""

    def __post_init__(self) -> None:
        check_whole("length", self.length, _MIN_LENGTH)
        if self.length > MAX_LENGTH:
            raise InputError(f"length must be at most {MAX_LENGTH}, not {self.length}")
        if not isinstance(self.space, str):
            raise InputError("space must be text")

    def publish(self, column: str, cells: Any, context: Context) -> Replaced:
        """Return the pseudonyms of a column."""
        key = context.derive(column, self.name, *([self.space] if self.space else []))
        indices, texts = few_texts(cells, column)
        made = codes(texts, key, self.length)
        shared = _count_shared(made, texts)
        if shared:
            self.refuse_shared(column, shared)
        # the exact number would count suppressed people
        most = _next_power_of_ten(context.values or len(texts))
        chance = collision_probability(most, self.length)
        return Replaced(
            column,
            made if indices is None else made.take(indices),
            links=self.links,
            treatment=f"replaced by pseudonyms: {BITS * self.length} bits of HMAC-SHA-256, "
            f"domain {context.domain!r}; among up to {most:,} values, two share a pseudonym with "
            f"probability {chance:.1g}",
            record={
                "replace": self.name,
                "function": "HMAC-SHA-256",
                "length": self.length,
                "bits": BITS * self.length,
                "values_up_to": most,
                "collision_probability": chance,
                **({"space": self.space} if self.space else {}),
                **context.record,
            },
        )

    def refuse_shared(self, column: str, shared: int) -> NoReturn:
        """Reject pseudonyms that stand for two texts."""
        raise InputError(
            f"column {column!r}: {counted(shared, 'pseudonym')} would stand for two people; "
            "use a longer length"
        )


def collision_probability(values: int, length: int) -> float:
    """Return an upper bound on the probability that two of the values share a pseudonym.

    >>> collision_probability(10_000_000, 26)
    3.67...e-26
    """
    return min(1.0, values * (values - 1) / 2 * math.ldexp(1.0, -BITS * length))


def _next_power_of_ten(number: int) -> int:
    return int(10 ** len(str(max(number - 1, 1))))


def _count_shared(made: Any, texts: Any) -> int:
    """Count pseudonyms that stand for two texts; only those with an equal start are compared."""
    length = len(made[0].as_py()) if len(made) else 0
    signs = np.frombuffer(made.buffers()[2] or b"", np.uint8)[: length * len(made)]
    cut = np.ascontiguousarray(signs.reshape(-1, length)[:, :8]) if length else signs
    # the first 8 characters as one number: few pseudonyms share them
    starts = cut.view(np.uint64).ravel()
    ordered = np.sort(starts)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return 0
    rows = pa.array(np.flatnonzero(np.isin(starts, twice)))
    pairs = pa.table({"made": made.take(rows), "text": texts.take(rows)})
    distinct = pairs.group_by(["made", "text"]).aggregate([])
    return int(distinct.num_rows - len(distinct.column("made").unique()))
