"""Identifiers recognized by their content: patterns, confirmed by check digits where they have any.

Only patterns and a short list of names are known: names of places, rare names, nicknames and
misspelled numbers stay unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values import encoding
from shoal.identifiers.check_digits import (
    is_bsn,
    is_card,
    is_dni,
    is_fiscal_code,
    is_iban,
    is_nhs_number,
    is_nir,
    is_tax_id,
)
from shoal.identifiers.first_names import FIRST_NAMES

_MAX_TEXTS = 20_000  # distinct texts that are examined
_FEW_DIGITS = 7  # of a phone number
_MOST_DIGITS = 15


def _always(_: str) -> bool:
    return True


def _is_phone(text: str) -> bool:
    return _FEW_DIGITS <= sum(map(str.isdigit, text)) <= _MOST_DIGITS


def _is_address(text: str) -> bool:
    return all(int(part) < 256 for part in text.split("."))


def _is_name(text: str) -> bool:
    return text.split(maxsplit=1)[0].casefold() in FIRST_NAMES


@dataclass(frozen=True)
class Kind:
    """A kind of identifier: how it is written, and what confirms it.

    Parameters:
        name: What it is, in words.
        pattern: A regular expression that RE2 and Python share.
        confirm: Whether a match is one, such as a test of its check digits.
    """

    name: str
    pattern: str
    confirm: Callable[[str], bool] = _always

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each identifier in a text.

        A match may begin before an identifier ("Patient Ann Lee") or end after it (a card and its
        date), so one that is not confirmed is tried again with an earlier end, then later in the
        text.
        """
        pattern, start = re.compile(self.pattern), 0
        while found := pattern.search(text, start):
            start = found.start()
            ends = [found.end()] if self.confirm is _always else _word_ends(text, *found.span())
            for end in ends:
                if pattern.fullmatch(text, start, end) and self.confirm(text[start:end]):
                    yield start, end
                    start = end
                    break
            else:
                start += 1


def _word_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the ends of words and numbers in a part of a text, the last one first."""
    for stop in range(end, start, -1):
        if not (text[stop - 1].isalnum() and text[stop : stop + 1].isalnum()):
            yield stop


_EMAIL = r"[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)*\.[A-Za-z]{2,}"
_ISO_DATE = r"\b[0-9]{4}-[01][0-9]-[0-3][0-9]\b"
_OTHER_DATE = r"\b[0-3]?[0-9][./][01]?[0-9][./](?:19|20)?[0-9]{2}\b"
_MONTH = (  # in English, German, French, Spanish, Italian and Dutch, most of them abbreviated
    r"(?:jan|feb|f[ée]v|mar|mär|maa|apr|avr|abr|may|mai|mag|mei|jun|juin|giu|jul|juil|lug|aug|aoû|"
    r"ago|sep|set|oct|okt|ott|nov|dec|dez|d[ée]c|dic|ene|gen|jän)[a-zß-ÿ]*\.?"
)
_DAY, _YEAR = r"[0-3]?[0-9](?:\.|st|nd|rd|th|er|º)?", r"(?:19|20)[0-9]{2}\b"
_LONG_DATE = (
    rf"(?i:\b{_DAY} (?:de |of )?{_MONTH},? (?:de |del )?{_YEAR}|\b{_MONTH} {_DAY},? {_YEAR})"
)
_NIR = r"\b[12](?: ?[0-9]{2}){3}(?: ?[0-9]{3}){2} ?[0-9]{2}\b"
_FISCAL_CODE = r"\b[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]\b"
_PHONES = (
    r"(?:\+|\b00)[1-9][0-9]{0,2}(?:[ \-/.]?\(?[0-9]{1,5}\)?){2,6}",
    r"\b0[1-9][0-9]{1,4}[ \-/][0-9][0-9 \-/]{3,12}\b",
    r"\b0[1-9](?:[ .\-][0-9]{2}){4}\b",
    r"\(0[1-9][0-9]{1,4}\)[ \-/]?[0-9][0-9 \-/]{3,12}\b",
    r"\(?\b[0-9]{3}\)?[ \-.][0-9]{3}[\-.][0-9]{4}\b",
)
_WORD = r"(?:[A-ZÀ-Þ]['’])?[A-ZÀ-Þ][a-zß-ÿ]+(?:['’\-]?[A-ZÀ-Þ][a-zß-ÿ]+)*"
_PARTICLE = r"(?:van der |van den |van de |van |von der |von |de la |de |da |di |del )?"
_NAME = rf"\b{_WORD} (?:[A-Z]\. )?{_PARTICLE}{_WORD}"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herrn?|Frau|Mme|Mlle|Monsieur|Madame|Sra?|Srta|Señora?|Doña|Sig|"
    r"Sig\.ra|Signora?|Dott|Dhr|Mevr|Mevrouw|Meneer)"
)
_TITLED_NAME = rf"\b{_TITLE}\.? (?:(?:Dr|Prof|med)\.? )*(?:[A-Z]\. )?{_PARTICLE}{_WORD}"

KINDS = (  # the first kind that fits a part of a text wins
    Kind("e-mail address", _EMAIL),
    Kind("web address", r"\b(?:https?://|www\.)[^\s\"'<>]+"),
    Kind("IBAN", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}\b", is_iban),
    Kind("IP address", r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b", _is_address),
    Kind("IP address", r"\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b"),
    Kind("position", r"-?[0-9]{1,3}\.[0-9]{3,}\s*[,;]\s*-?[0-9]{1,3}\.[0-9]{3,}"),
    Kind("date", f"{_ISO_DATE}|{_OTHER_DATE}|{_LONG_DATE}"),
    Kind("payment card", r"\b[0-9](?:[ \-]?[0-9]){12,18}\b", is_card),
    Kind("French social security number", _NIR, is_nir),
    Kind("Italian fiscal code", _FISCAL_CODE, is_fiscal_code),
    Kind("Spanish identity number", r"\b[XYZ0-9][0-9]{7}-?[A-Z]\b", is_dni),
    Kind("German tax number", r"\b[1-9][0-9](?: ?[0-9]{3}){3}\b", is_tax_id),
    Kind("NHS number", r"\b[0-9]{3}[ \-]?[0-9]{3}[ \-]?[0-9]{4}\b", is_nhs_number),
    Kind("US social security number", r"\b[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}\b"),
    Kind("Dutch citizen number", r"\b[0-9]{9}\b", is_bsn),
    Kind("phone number", "|".join(_PHONES), _is_phone),
    Kind("name", _NAME, _is_name),
    Kind("name", _TITLED_NAME),
)


def find_identifiers(text: str) -> list[tuple[int, int, str]]:
    """Return the start, end and kind of each identifier in a text, in order, without overlaps.

    >>> find_identifiers("ask ann@example.org on 2024-03-09")
    [(4, 19, 'e-mail address'), (23, 33, 'date')]
    """
    found: list[tuple[int, int, str]] = []
    for kind in KINDS:
        for start, end in kind.find(text):
            if all(end <= other or start >= stop for other, stop, _ in found):
                found.append((start, end, kind.name))
    return sorted(found)


def count_identifiers(cells: Any) -> dict[str, int]:
    """Return how many cells of a column contain an identifier, by kind; never a value.

    If a column has more than 20,000 distinct texts, the counts are estimated from as many of them.

    Parameters:
        cells: An Arrow array of text; other types contain none.

    Returns:
        The number of cells by kind.

    >>> import pyarrow as pa
    >>> count_identifiers(pa.array(["ann@example.org", "call 0151 2345678", "fine", None]))
    {'e-mail address': 1, 'phone number': 1}
    """
    plain = encoding.combined(cells, "")
    if not encoding.is_text(plain.type):
        return {}
    values = pc.value_counts(plain.drop_null())
    step = -(-len(values) // _MAX_TEXTS) or 1
    values = values.take(pa.array(range(0, len(values), step), pa.int64()))
    texts, counts = values.field("values"), values.field("counts")
    maybe = pc.or_kleene(pc.match_substring_regex(texts, r"[0-9@]"), _may_name(texts))
    found: dict[str, int] = {}
    for text, count in zip(
        texts.filter(maybe).to_pylist(), counts.filter(maybe).to_pylist(), strict=True
    ):
        for kind in {kind for _, _, kind in find_identifiers(text)}:
            found[kind] = found.get(kind, 0) + count * step
    order = list(dict.fromkeys(kind.name for kind in KINDS))
    filled = len(plain) - plain.null_count
    return {kind: min(found[kind], filled) for kind in order if kind in found}


def _may_name(texts: Any) -> Any:
    """Return which texts have two words with capitals, or a web address."""
    return pc.match_substring_regex(texts, r"[A-ZÀ-Þ]\pL+ .*[A-ZÀ-Þ]|www\.|://")


def mask_identifiers(texts: Any) -> tuple[Any, int]:
    """Return texts with each identifier replaced by its kind, and how many were replaced."""
    made, replaced = [], 0
    for text in texts.to_pylist():
        parts, end = [], 0
        for start, stop, kind in find_identifiers(text):
            parts += [text[end:start], f"[{kind}]"]
            end, replaced = stop, replaced + 1
        made.append("".join([*parts, text[end:]]))
    return pa.array(made, pa.string()), replaced
