"""Forms that follow from the options of a method, which are its dataclass fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from shoal.anonymize.algorithm import Option, options_of
from shoal.web.screens.parts import why
from shoal.web.text import protect as text


def option_form(
    method: type[Any],
    chosen: Callable[[], Mapping[str, Any]],
    on_change: Callable[[dict[str, Any]], None],
) -> None:
    """Draw a control for each option of a method.

    Parameters:
        method: The class of the method.
        chosen: Returns the options that differ from their defaults at present.
        on_change: Receives all options that differ from their defaults after a change.
    """

    def changed(option: Option, value: Any) -> None:
        current = dict(chosen())
        if value == option.default:
            current.pop(option.name, None)
        else:
            current[option.name] = value
        on_change(current)

    for option in options_of(method):
        with ui.element("div").classes("s-option"):
            _control(option, chosen().get(option.name, option.default), changed)
            if option.meaning:
                why(_sentence(option.meaning))


def _control(option: Option, value: Any, changed: Callable[[Option, Any], None]) -> None:
    label = option.name.replace("_", " ")
    kinds = set(option.type.split(" | "))
    if option.choices:
        ui.select(
            {each: str(each) for each in option.choices},
            label=label,
            value=value,
            on_change=lambda event: changed(option, event.value),
        ).props("outlined dense options-dense")
    elif option.type == "bool":
        ui.switch(label, value=bool(value), on_change=lambda event: changed(option, event.value))
    elif kinds <= {"int", "float", "None"}:
        field = ui.number(label, value=value).props("outlined dense debounce=400")
        field.props["step"] = "1" if "float" not in kinds else "any"

        def number(whole: bool = "float" not in kinds) -> None:
            given = field.value
            changed(option, int(given) if whole and given is not None else given)

        field.on_value_change(number)
    elif kinds <= {"str", "None"}:
        typed = ui.input(label, value=value or "").props("outlined dense debounce=400")
        typed.on_value_change(lambda event: changed(option, event.value or None))
    else:
        shown = "" if value is None else json.dumps(value, default=str)
        ui.input(label, value=shown).props("outlined dense readonly")
        why(text.ONLY_PYTHON)


def _sentence(meaning: str) -> str:
    """Return the meaning of an option as a sentence.

    >>> _sentence("share of records that may be suppressed")
    'Share of records that may be suppressed.'
    """
    return f"{meaning[:1].upper()}{meaning[1:].rstrip('.')}.".replace("`", "")
