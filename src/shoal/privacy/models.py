"""All privacy models, their text form, and the level that classes reach in each.

MODELS, __all__   add a model by its import and its name here
parse             `k-anonymity(5) & l-diversity(3, disease)` to a model; `str(model)` is the way
back. The command line, job files and reports use this text.
profile           the level of every model, whether it was required or not
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

from shoal.errors import InputError, unknown
from shoal.privacy.k_anonymity import (
    FreeformAnonymity,
    KAnonymity,
    KConcealment,
    KKAnonymity,
    KMap,
    KOneAnonymity,
    OneKAnonymity,
)
from shoal.privacy.km_anonymity import KmAnonymity
from shoal.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from shoal.privacy.likeness import AlphaKAnonymity, BetaLikeness, DeltaDisclosure
from shoal.privacy.model import All, Model
from shoal.privacy.risk import AverageRisk, DeltaPresence, Risk
from shoal.privacy.t_closeness import TCloseness
from shoal.table.classes import Classes

__all__ = [  # noqa: RUF022  in the order of the documentation
    "KAnonymity",
    "KmAnonymity",
    "LDiversity",
    "EntropyLDiversity",
    "RecursiveLDiversity",
    "TCloseness",
    "AlphaKAnonymity",
    "DeltaDisclosure",
    "BetaLikeness",
    "Risk",
    "AverageRisk",
    "KMap",
    "DeltaPresence",
    "FreeformAnonymity",
    "KConcealment",
    "KKAnonymity",
    "OneKAnonymity",
    "KOneAnonymity",
]
MODELS: dict[str, type[Model]] = {
    model.name: model for model in (globals()[name] for name in __all__)
}
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

    Options are positional or named. Quote a column or value that contains a comma, an unpaired
    bracket or a quote, with " or '; inside quotes a backslash makes the next character literal.

    Parameters:
        text: One model, or several joined with `&`.

    Returns:
        The model, or `All` of several models.

    Raises:
        InputError: The text is not a valid expression, or an option is out of range.

    >>> print(parse("k-anonymity(5) & t-closeness(0.2, disease, distance=equal)"))
    k-anonymity(k=5) & t-closeness(t=0.2, column=disease, distance=equal)
    """
    scanner = _Scanner(text)
    models = [_model(scanner)]
    while scanner.take(_AND):
        models.append(_model(scanner))
    if scanner.position < len(text):
        raise scanner.expected("'&' or the end")
    joined = tuple(dict.fromkeys(models))
    return joined[0] if len(joined) == 1 else All(joined)


class _Scanner:
    """Reads a text from left to right; its errors state the position, never the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return match

    def expected(self, what: str) -> InputError:
        return InputError(
            f"privacy model: expected {what} at character {self.position + 1}; "
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
    """Read the options up to the closing bracket and convert them to the types of the fields."""
    known = {field.name: field for field in _fields(name)}
    types = get_type_hints(MODELS[name])
    options: dict[str, Any] = {}
    by_name = False  # after an option with a name, all have one
    while not scanner.take(_CLOSE):
        if options and not scanner.take(_COMMA):
            raise scanner.expected("',' or ')'")
        key = scanner.take(_KEY)
        by_name = by_name or key is not None
        if key is None and (by_name or len(options) == len(known)):
            raise InputError(f"{name}: too many options or one without a name; write {_form(name)}")
        option = key[1] if key else list(known)[len(options)]
        if option not in known:
            raise InputError(
                f"{name}: no option {option!r}; write {_form(name)}, "
                "and quote a column whose name contains '='"
            )
        if option in options:
            raise InputError(f"{name}: option {option!r} is given twice")
        options[option] = _typed(_value(scanner), types[option])
    lacking = [f.name for f in known.values() if f.default is MISSING and f.name not in options]
    if lacking:
        raise InputError(f"{name}: option {lacking[0]!r} is required; write {_form(name)}")
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
    """Convert the text to the type of a field; text that does not convert is left to the model.

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
    """Return the signature of a model, with optional fields in square brackets."""
    names = [f.name if f.default is MISSING else f"[{f.name}]" for f in _fields(name)]
    return f"{name}({', '.join(names)})"


def profile(classes: Classes, sensitive: Sequence[str]) -> dict[str, float]:
    """Return the k of the classes and, for each sensitive column, the level of every model.

    Parameters:
        classes: The classes of a table or release.
        sensitive: Names of the sensitive columns.

    Returns:
        The level by key. Keys are `k`, then for a column `disease`: `l(disease)` and
        `entropy-l(disease)`, where higher is better; `t(disease)` with the default distance of
        the column, `alpha(disease)`, the largest share of one value, `delta(disease)`, infinite
        if a class lacks a value, and `beta(disease)` without the enhanced bound, where lower is
        better.
    """
    levels = {"k": KAnonymity(2).level(classes)}
    for column in sensitive:
        for letter, model in _measures(column).items():
            levels[f"{letter}({column})"] = model.level(classes)
    return levels


def _measures(column: str) -> dict[str, Model]:
    """Return the models by letter; `level` ignores the parameters given here."""
    return {
        "l": LDiversity(2, column),
        "entropy-l": EntropyLDiversity(2, column),
        "t": TCloseness(1, column),
        "alpha": AlphaKAnonymity(1, 1, column),
        "delta": DeltaDisclosure(1, column),
        "beta": BetaLikeness(1, column, enhanced=False),
    }
