"""The language of an evidence page: one file of texts for each, with numbers and dates to match.

Sentences that figures come with are written in English where they are computed. Their patterns are
the phrases of the English file, so that a sentence is recognized and said in another language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import yaml
from markupsafe import Markup

from shoal.errors import unknown

_FOLDER = "languages"
_FIELD = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"-?\d{1,3}(,\d{3})+|-?\d+(\.\d+)?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
# fields that are not translated
_NAMES = frozenset({"column", "columns", "domain", "kind", "locale", "name", "value"})
_PERCENT = re.compile(r"(\d+) %")


@dataclass(frozen=True)
class Language:
    """Texts, numbers and dates in one language.

    Parameters:
        code: Its code: `en`, `de` or `fr`.
        words: The content of its file.
        english: The content of the English file, whose phrases are recognized.
    """

    code: str
    words: Mapping[str, Any]
    english: Mapping[str, Any]

    @classmethod
    def read(cls, code: str) -> Language:
        """Read a language.

        Raises:
            InputError: There is no such language.

        >>> Language.read("de").number(1234.5)
        '1.234,5'
        """
        if code not in codes():
            raise unknown("no language", code, codes())
        return cls(code, _read(code), _read("en"))

    def text(self, key: str, **values: Any) -> str:
        """Return a translated text of the page with its placeholders filled in, not escaped."""
        return str(self.words["page"][key]).format(**values)

    def say(self, sentence: str) -> str:
        """Return a computed sentence in this language; one that is not known is marked as English.

        >>> Language.read("fr").say("fewer than 5")
        'moins de 5'
        """
        if (said := self._said(sentence)) is not None:
            return said
        if self.code == "en":
            return sentence
        return Markup('<span lang="en">{}</span>').format(sentence)

    def _said(self, sentence: str) -> str | None:
        for pattern, key in self._patterns:
            if (match := pattern.fullmatch(sentence)) is not None:
                values = {
                    name: text if name in _NAMES else self._value(text)
                    for name, text in match.groupdict().items()
                }
                return str(self.words["phrases"][key]).format(**values)
        # sentences are joined by semicolons: each part must be known
        parts = [self._said(part) for part in sentence.split("; ")] if "; " in sentence else [None]
        return None if None in parts else self._listed(map(str, parts))

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """Patterns of the English phrases, those with the most text of their own first."""
        phrases = self.english["phrases"]
        order = sorted(phrases, key=lambda key: -len(_FIELD.sub("", phrases[key])))
        return [(_pattern(phrases[key]), key) for key in order]

    def _value(self, text: str) -> str:
        """Return a part of a sentence: a number, a phrase, or a name that is not translated."""
        if _NUMBER.fullmatch(text):
            return self._digits(text)
        if (percent := _PERCENT.fullmatch(text)) is not None:
            return f"{percent[1]}{' ' if self.code == 'en' else chr(160)}%"
        return self._said(text) or text

    def _listed(self, parts: Iterable[str]) -> str:
        return ("\u202f; " if self.code == "fr" else "; ").join(parts)

    def number(self, value: float) -> str:
        """Return a number with the separators of the language."""
        whole = isinstance(value, float) and value.is_integer()
        return self._digits(f"{int(value) if whole else value:,}")

    def _digits(self, text: str) -> str:
        signs = {",": self.words["thousands"], ".": self.words["decimal"]}
        return "".join(signs.get(sign, sign) for sign in text)

    def date(self, text: str) -> str:
        """Return a date such as 2027-06-30 in words; any other text is returned unchanged.

        >>> Language.read("de").date("2027-06-30"), Language.read("fr").date("in spring")
        ('30. Juni 2027', 'in spring')
        """
        match = _DATE.fullmatch(text)
        if match is None or not 1 <= int(match[2]) <= len(self.words["months"]):
            return text
        year, month, day = map(int, match.groups())
        name = self.words["months"][month - 1]
        return str(self.words["date"]).format(year=year, name=name, day=day)

    def value(self, figure: Any) -> str:
        """Return any figure: a number, yes or no, a computed text, or a list of texts."""
        if figure is None:
            return "–"
        if isinstance(figure, bool):
            return self.text("is_true" if figure else "is_false")
        if isinstance(figure, int | float):
            return self.number(figure)
        if isinstance(figure, str):
            return self._said(figure) or self.date(figure)
        return self._listed(self.value(each) for each in figure)


def codes() -> list[str]:
    """Return the codes of all languages.

    >>> codes()
    ['de', 'en', 'fr']
    """
    folder = files("shoal.evidence").joinpath(_FOLDER)
    return sorted(file.name.partition(".")[0] for file in folder.iterdir())


def _read(code: str) -> Mapping[str, Any]:
    file = files("shoal.evidence").joinpath(_FOLDER, f"{code}.yaml")
    words: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return words


def _pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase; a field that occurs twice has the same text in both."""
    parts, seen = [], set()
    for place, part in enumerate(_FIELD.split(phrase)):
        if place % 2 == 0:
            parts.append(re.escape(part))
        else:
            parts.append(f"(?P={part})" if part in seen else f"(?P<{part}>.+?)")
            seen.add(part)
    return re.compile("".join(parts), re.DOTALL)
