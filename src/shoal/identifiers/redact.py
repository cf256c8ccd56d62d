"""Redaction: identifiers inside free text, replaced by their kind.

A best effort, never a guarantee: it sees patterns and frequent names only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from shoal.core.publishing.replaced import Replaced
from shoal.errors import InputError
from shoal.identifiers.content import mask_identifiers
from shoal.identifiers.plain_text import distinct_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.extras import requires
from shoal.support.options import check_choice

ENGINES = ("shoal", "presidio")
_MIN_SCORE = 0.4  # of a Presidio pattern; weaker ones match any number


@dataclass(frozen=True)
class Redact(Replacement):
    """Free text in which e-mail addresses, numbers, dates and frequent names become their kind.

    What it cannot see stays: rare names, places, nicknames, misspelled numbers, and descriptions
    that fit one person. The guarantee does not cover the text.

    Parameters:
        engine: `shoal` for the patterns that `shoal inspect` counts, or `presidio` to add the
            pattern recognizers of Presidio, without a language model.

    >>> import pyarrow as pa
    >>> notes = pa.array(["Ann Lee, ann@example.org, +49 151 2345678"])
    >>> Redact().publish("note", notes, Context()).cells.to_pylist()
    ['[name], [e-mail address], [phone number]']
    """

    name: ClassVar[str] = "redact"
    links: ClassVar[bool] = False
    engine: str = "shoal"

    def __post_init__(self) -> None:
        check_choice("engine", self.engine, ENGINES)

    def publish(self, column: str, cells: Any, context: Context) -> Replaced:
        """Return the texts of a column without the identifiers that are recognized."""
        indices, texts = distinct_texts(cells, column)
        if not pa.types.is_string(texts.type):
            texts = texts.cast(pa.string())
        made, replaced = mask_identifiers(texts)
        if self.engine == "presidio":
            made, more = _by_presidio(made, column)
            replaced += more
        return Replaced(
            column,
            made.take(indices),
            links=self.links,
            treatment="free text with recognized identifiers replaced; rare names, places and "
            "descriptions of people stay, and the guarantee does not cover it",
            record={"replace": self.name, "engine": self.engine, "replaced": replaced},
        )


def _by_presidio(texts: Any, column: str) -> tuple[Any, int]:
    """Return texts in which Presidio's pattern recognizers find nothing more."""
    with requires("redaction"):
        from presidio_analyzer import PatternRecognizer, predefined_recognizers

    kinds = [each for each in vars(predefined_recognizers).values() if isinstance(each, type)]
    recognizers = []
    for kind in kinds:
        if issubclass(kind, PatternRecognizer) and kind is not PatternRecognizer:
            try:
                recognizers.append(kind())
            except (TypeError, ImportError):  # it needs an argument or another library
                continue
    if not recognizers:
        raise InputError(f"column {column!r}: this version of Presidio has no pattern recognizers")
    made, replaced = [], 0
    for text in texts.to_pylist():
        spans = [
            (found.start, found.end, found.entity_type)
            for each in recognizers
            for found in each.analyze(text, each.supported_entities, None)
            if found.score >= _MIN_SCORE
        ]
        kept, end = [], 0
        for start, stop, kind_name in sorted(spans, key=lambda span: (span[0], -span[1])):
            if start >= end:
                kept += [text[end:start], f"[{kind_name.lower().replace('_', ' ')}]"]
                end, replaced = stop, replaced + 1
        made.append("".join([*kept, text[end:]]))
    return pa.array(made, pa.string()), replaced
