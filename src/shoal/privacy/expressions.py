"""Privacy models as text: `k-anonymity(5) & l-diversity(3, disease)`.

What the command line, the job file and the report write and read; `str(model)` is such a text.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

from shoal.errors import InputError, unknown
from shoal.privacy.model import All, Model
from shoal.privacy.models import MODELS

_EXAMPLE = "k-anonymity(5) & l-diversity(3, disease)"

_NAME = re.compile(r"\s*([A-Za-z][\w-]*)\s*")
_OPEN = re.compile(r"\(\s*")
_CLOSE = re.compile(r"\)\s*")
_COMMA = re.compile(r",\s*")
_AND = re.compile(r"&\s*")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=\s*")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"\s*|'((?:[^'\\]|\\.)*)'\s*""", re.DOTALL)
_BARE = re.compile(r"""(?!["'])((?:[^,()]|\([^()]*\))+)""")  # brackets in it are paired


def parse(text: str) -> Model:
    """Return the model that an expression describes.

    Options go by position or by name. A column or value with a comma, an unpaired bracket or a
    quote in it is quoted, by " or '; a backslash there makes the next character literal.

    >>> print(parse("k-anonymity(5) & t-closeness(0.2, disease, distance=equal)"))
    k-anonymity(k=5) & t-closeness(t=0.2, column=disease, distance=equal)
    """
    scanner = _Scanner(text)
    models = [_model(scanner)]
    while scanner.take(_AND):
        models.append(_model(scanner))
    if scanner.place < len(text):
        raise scanner.expected("'&' or the end")
    joined = tuple(dict.fromkeys(models))
    return joined[0] if len(joined) == 1 else All(joined)


class _Scanner:
    """Reads a text from left to right; its errors say where, never what."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.place)
        if found:
            self.place = found.end()
        return found

    def expected(self, what: str) -> InputError:
        return InputError(
            f"privacy model: expected {what} at character {self.place + 1}; "
            f"write it like  {_EXAMPLE}"
        )


def _model(scanner: _Scanner) -> Model:
    named = scanner.take(_NAME)
    if not named:
        raise scanner.expected(f"one of {', '.join(MODELS)}")
    name = named[1]
    if name not in MODELS:
        raise unknown("no privacy model", name, MODELS)
    if not scanner.take(_OPEN):
        raise scanner.expected(f"'(', as in {_form(name)},")
    options = _options(scanner, name)
    try:
        return MODELS[name](**options)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _options(scanner: _Scanner, name: str) -> dict[str, Any]:
    """Read the options up to the closing bracket, in the types of the model's fields."""
    known = {field.name: field for field in _fields(name)}
    types = get_type_hints(MODELS[name])
    options: dict[str, Any] = {}
    by_name = False
    while not scanner.take(_CLOSE):
        if options and not scanner.take(_COMMA):
            raise scanner.expected("',' or ')'")
        key = scanner.take(_KEY)
        by_name = by_name or key is not None
        if key is None and (by_name or len(options) == len(known)):
            raise InputError(f"{name}: an option too many or without its name; write {_form(name)}")
        option = key[1] if key else list(known)[len(options)]
        if option not in known:
            raise InputError(
                f"{name}: no option {option!r}; write {_form(name)}, "
                "and a column with '=' in its name in quotes"
            )
        if option in options:
            raise InputError(f"{name}: option {option!r} is given twice")
        options[option] = _typed(_value(scanner), types[option])
    lacking = [f.name for f in known.values() if f.default is MISSING and f.name not in options]
    if lacking:
        raise InputError(f"{name}: option {lacking[0]!r} is not given; write {_form(name)}")
    return options


def _value(scanner: _Scanner) -> str:
    quoted = scanner.take(_QUOTED)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted[1] or quoted[2] or "", flags=re.DOTALL)
    bare = scanner.take(_BARE)
    if not bare or not bare[1].strip():
        raise scanner.expected("a value")
    return bare[1].strip()


def _typed(text: str, wanted: Any) -> Any:
    """Return the text as a value of a field; what does not fit stays text, for the model to refuse.

    >>> _typed("5", int), _typed("5", str), _typed("five", int)
    (5, '5', 'five')
    """
    if wanted is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    for read in {int: (int, float), float: (float,)}.get(wanted, ()):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _fields(name: str) -> tuple[Field[Any], ...]:
    return fields(MODELS[name])  # type: ignore[arg-type]  # every model is a dataclass


def _form(name: str) -> str:
    """Show how a model is written, optional fields in square brackets."""
    told = [f.name if f.default is MISSING else f"[{f.name}]" for f in _fields(name)]
    return f"{name}({', '.join(told)})"
