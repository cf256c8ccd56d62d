"""Identifiers recognized by their content, and redaction of free text.

    `KINDS`              patterns, confirmed by check digits where they have any, and a list of
                         frequent first names
    `find_identifiers`   where they are in a text
    `count_identifiers`  how many cells of a column contain one
    `Redact`             a replacement that puts their kind in their place

A best effort, never a guarantee: names of places, rare names, nicknames and misspelled numbers stay
unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.identifiers.codes import distinct_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.imports import requires
from shoal.support.options import check_choice
from shoal.table import encoding
from shoal.table.linked import Replaced

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_FISCAL_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25,
               24, 23)  # fmt: skip
_IBAN_LENGTHS = range(15, 35)
_PHONE_DIGITS = range(7, 16)
_MAX_TEXTS = 20_000  # distinct texts that are examined
_MIN_SCORE = 0.4  # of a Presidio pattern; weaker ones match any number
ENGINES = ("shoal", "presidio")


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text if sign.isdigit()]


def is_iban(text: str) -> bool:
    """Return whether the check digits of an IBAN are right (ISO 13616).

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    plain = text.replace(" ", "")
    if len(plain) not in _IBAN_LENGTHS:
        return False
    moved = plain[4:] + plain[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def is_card(text: str) -> bool:
    """Return whether the check digit of a payment card is right (Luhn).

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = _digits(text)
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_nhs_number(text: str) -> bool:
    """Return whether the check digit of a British NHS number is right.

    >>> is_nhs_number("943 476 5919"), is_nhs_number("943 476 5918")
    (True, False)
    """
    digits = _digits(text)
    check = -sum(weight * digit for weight, digit in zip(range(10, 1, -1), digits, strict=False))
    return len(digits) == 10 and check % 11 == digits[9]


def is_bsn(text: str) -> bool:
    """Return whether a Dutch citizen number passes the eleven test.

    >>> is_bsn("111222333"), is_bsn("111222334")
    (True, False)
    """
    digits = _digits(text)
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    total = sum(weight * digit for weight, digit in zip(weights, digits, strict=False))
    return len(digits) == 9 and total != 0 and total % 11 == 0


def is_nir(text: str) -> bool:
    """Return whether the key of a French social security number is right.

    >>> is_nir("1 84 12 76 451 089 46"), is_nir("1 84 12 76 451 089 47")
    (True, False)
    """
    digits = "".join(map(str, _digits(text)))
    return len(digits) == 15 and 97 - int(digits[:13]) % 97 == int(digits[13:])


def is_dni(text: str) -> bool:
    """Return whether the letter of a Spanish identity number is right.

    >>> is_dni("12345678Z"), is_dni("12345678A"), is_dni("X1234567L")
    (True, False, True)
    """
    plain = text.replace("-", "")
    number = plain[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdigit() and _DNI_LETTERS[int(number) % 23] == plain[-1]


def is_tax_id(text: str) -> bool:
    """Return whether the check digit of a German tax number is right (ISO 7064, mod 11, 10).

    >>> is_tax_id("86 095 742 719"), is_tax_id("86 095 742 718")
    (True, False)
    """
    digits = _digits(text)
    product = 10
    for digit in digits[:10]:
        total = (digit + product) % 10 or 10
        product = 2 * total % 11
    return len(digits) == 11 and (11 - product) % 10 == digits[10]


def is_fiscal_code(text: str) -> bool:
    """Return whether the last letter of an Italian fiscal code is right.

    >>> is_fiscal_code("RSSMRA85T10A562S"), is_fiscal_code("RSSMRA85T10A562T")
    (True, False)
    """
    values = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in text]
    odd = sum(_FISCAL_ODD[value] for value in values[0:15:2])
    return (odd + sum(values[1:15:2])) % 26 == values[15]


def _always(_: str) -> bool:
    return True


def _is_phone(text: str) -> bool:
    return sum(map(str.isdigit, text)) in _PHONE_DIGITS


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

_MAY_PASS = {"payment card", "German tax number", "NHS number", "Dutch citizen number"}


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
    # the texts worth a search: with a digit or @, with two capitalized words, or a web address
    maybe = pc.match_substring_regex(texts, r"[0-9@]|[A-ZÀ-Þ]\pL+ .*[A-ZÀ-Þ]|www\.|://")
    found: dict[str, int] = {}
    for text, count in zip(
        texts.filter(maybe).to_pylist(), counts.filter(maybe).to_pylist(), strict=True
    ):
        for kind in {kind for _, _, kind in find_identifiers(text)}:
            found[kind] = found.get(kind, 0) + count * step
    bare = pc.match_substring_regex(texts, r"^[0-9][0-9 \-]*$")
    numbers = step * (pc.sum(counts.filter(bare)).as_py() or 0)
    for kind in _MAY_PASS & set(found):  # numbers of anything, some of which pass the check
        if 2 * found[kind] < numbers:
            del found[kind]
    order = list(dict.fromkeys(kind.name for kind in KINDS))
    filled = len(plain) - plain.null_count
    return {kind: min(found[kind], filled) for kind in order if kind in found}


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


FIRST_NAMES = frozenset(
    """
    adam ahmed aisha alan albert alejandro alessandro alex alexander alexandra alice alicia ali
    amanda amelia amina ana andrea andreas andrew angela anita ann anna anne antoine anton antonio
    anja barbara beatriz ben benjamin bernd birgit brian camille carla carlos carmen caroline
    catherine charles charlotte chiara christian christina christine christoph christopher claire
    clara claudia cristina daniel daniela david deborah diana diego dieter dominik donald dorothy
    edward elena elias elif elisabeth elizabeth ella emil emily emma eric erik eva fabian fatima
    felix fernando florian francesca francesco francois frank franz frederic friedrich gabriel
    gabriele george georg gerhard giovanni giulia giuseppe grace greta hannah hans harry heike
    heinrich helen helga helmut henry hugo ibrahim ines ingrid irene isabel isabella ivan jack
    jacob jakob james jan jana jane javier jean jennifer jessica joan johan johann johannes john
    jonas jorge jose joseph joshua juan judith julia julian julie jurgen jürgen karen karin karl
    katarzyna katharina katja kenneth kevin klaus laura laurent lea lena leo leon leonie lina linda
    lisa louis louise luca lucas lucia lucy luigi luis luisa lukas magdalena manuel manuela marc
    marco margaret maria marie mario mark marta martha martin martina mary mathilde matteo matthew
    matthias max maximilian maya mehmet mia michael michel michelle miguel mike mohamed mohammed
    monica monika muhammad mustafa nadia nancy natalia natalie nicholas nicolas nicole nina noah
    nora oliver olivia omar oscar pablo pamela patricia patrick paul paula pedro peter petra
    philipp philippe pierre piotr rachel rafael ralf raul rebecca renate richard robert roberto
    rosa ruth ryan sabine samuel sandra sara sarah sebastian sergio silvia simon simone sofia
    sophia sophie stefan stefanie stephanie stephen steven susan susanne sven teresa theresa thomas
    tim timothy tobias tom ulrich ursula uwe valentina vanessa victor victoria vincent walter
    werner william wolfgang yasmin yusuf zoe
    """.split()
)


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
