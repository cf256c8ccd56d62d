"""The Protect screen: the guarantee as sentences, what to expect, the method, and the run.

    left    the promise, levels chosen by hand, differential privacy, advanced options
    right   what to expect, and the card that names the release

The options of a method are its dataclass fields, from which `option_form` draws its controls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from nicegui import background_tasks, ui

from shoal.errors import ShoalError
from shoal.methods.algorithm import Option, about, options_of
from shoal.methods.registry import METHODS
from shoal.rows.choice import runs_on_disk
from shoal.web.project.column_roles import ColumnInfo
from shoal.web.project.feedback import STARTS
from shoal.web.project.guarantee import PRIVATE, RARE, Sentence, not_promised, usual_sentence
from shoal.web.project.lattice import METHOD, ColumnLevels, offer_levels, stated_levels, with_level
from shoal.web.project.project import Project
from shoal.web.project.topics import Topic
from shoal.web.screens.expectations import expectations
from shoal.web.screens.parts import card, intro, live, named, notice, on_change, why
from shoal.web.screens.private_draw import differential_privacy
from shoal.web.text import protect as text

_DEBOUNCE = "debounce=250"
_STARTS = {PRIVATE: STARTS}
_RANGES: dict[str, tuple[int, float, float | None, float]] = {
    # the factor of the shown number, its least and greatest value, and the step
    "l-diversity": (1, 2, None, 1),
    "entropy-l-diversity": (1, 1, None, 1),
    "t-closeness": (1, 0, 1, 0.05),
    RARE: (100, 0, 100, 5),
}


def build(project: Project) -> None:
    """Draw the screen.

    Parameters:
        project: The state to draw.
    """
    intro(text.TITLE, text.LEAD)
    with ui.element("div").classes("s-columns-2"):
        with ui.element("div").classes("s-stack"):
            with card(text.PROMISE):
                _k(project)
                sentences = ui.element("div").classes("s-stack")
                _draw_sentences(project, sentences)

                drawn = [_shown(project)]

                def follow() -> None:
                    if drawn[0] != _shown(project):
                        drawn[0] = _shown(project)
                        _draw_sentences(project, sentences)

                on_change(project, sentences, follow, Topic.GUARANTEE)
                _suppression(project)
            by_hand(project)
            differential_privacy(project)
            _advanced(project)
        with ui.element("div").classes("s-stack s-sticky"):
            with card(text.EXPECT):
                live(project, Topic.FIGURES)(lambda: expectations(project))
            _run_card(project)


def _on_disk(project: Project) -> bool:
    return project.source is not None and project.source.on_disk


def _methods(project: Project) -> dict[str, str]:
    """Return the methods with what they do; on disk, those that need no table in memory."""
    methods = {name: f"{name}: {about(method)}" for name, method in METHODS.items()}
    if not _on_disk(project):
        return methods
    return {name: words for name, words in methods.items() if runs_on_disk(METHODS[name])}


def _k(project: Project) -> None:
    with ui.element("div").classes("s-sentence"):
        ui.label(text.K_BEFORE)
        field = ui.number(value=project.guarantee.k, min=2, step=1, precision=0)
        field.props(f"outlined dense {_DEBOUNCE}").classes("s-number")
        named(field, text.K_LABEL)
        ui.label(text.K_AFTER)

        def changed() -> None:
            if field.value is not None and field.value >= 2:
                project.promise(k=int(field.value))

        field.on_value_change(changed)
    why(text.K_WHY)


def _shown(project: Project) -> tuple[Any, ...]:
    """Return what decides which sentences are drawn; their numbers are changed in place."""
    wanted = project.guarantee
    return wanted.method == PRIVATE, [(s.model, s.column) for s in wanted.sentences]


def _draw_sentences(project: Project, part: ui.element) -> None:
    part.clear()
    with part:
        for place, sentence in enumerate(project.guarantee.in_force):
            _sentence(project, place, sentence)
        _unprotected(project)
        if project.columns.sensitive and project.guarantee.method != PRIVATE:
            _add(project)
        elif project.guarantee.method == PRIVATE:
            why(text.ONLY_SIZES)
        else:
            why(text.NO_SENSITIVE)


def _sentence(project: Project, place: int, sentence: Sentence) -> None:
    before, after, reason = text.SENTENCES[sentence.model]
    with ui.element("div").classes("s-promise"):
        with ui.element("div").classes("s-promise-row"):
            line = ui.element("div").classes("s-sentence")

            def remove() -> None:
                stated = project.guarantee.sentences
                project.promise(sentences=tuple(s for s in stated if s != stated[place]))

            button = ui.button(icon="close", on_click=remove).props("flat round dense")
            named(button, f"{text.REMOVE}: {text.NAMES[sentence.model]}, {sentence.column}")
        with line:
            ui.label(before.format(column=sentence.column))
            factor, low, high, step = _RANGES[sentence.model]
            field = ui.number(value=sentence.value * factor, min=low, max=high, step=step)
            field.props(f"outlined dense {_DEBOUNCE}").classes("s-number")
            named(field, f"{text.NAMES[sentence.model]}: {sentence.column}")
            ui.label(after.format(column=sentence.column))

        def changed() -> None:
            if field.value is not None:
                stated = list(project.guarantee.sentences)
                stated[place] = replace(stated[place], value=field.value / factor)
                project.promise(sentences=tuple(stated))

        field.on_value_change(changed)
        why(reason.format(column=sentence.column))
        _cost(project, sentence)


def _cost(project: Project, sentence: Sentence) -> None:
    """Draw what a sentence costs, and whether it costs the most."""
    label = ui.label().classes("s-small")

    def update() -> None:
        costs = {(each.model, each.column): c for each, c in project.figures.costs.items()}
        cost = costs.get((sentence.model, sentence.column))
        most = len(costs) > 1 and cost is not None and cost == max(costs.values())
        label.text = text.COST_UNKNOWN if cost is None else text.cost(cost, most=most)

    on_change(project, label, update, Topic.FIGURES)
    update()


def _unprotected(project: Project) -> None:
    """Draw which private columns have no sentence, and offer one."""
    for column in not_promised(project.columns, project.guarantee):

        def add(column: ColumnInfo = column) -> None:
            made = usual_sentence(column)
            project.promise(sentences=(*project.guarantee.sentences, made))

        notice(text.not_promised(column.name), "warn", text.PROMISE_IT, add)


def _add(project: Project) -> None:
    with ui.element("div").classes("s-row"):
        model = ui.select(text.NAMES, value="t-closeness", label=text.ADD)
        model.props("outlined dense options-dense").classes("s-grow")
        columns = list(project.columns.sensitive)
        column = ui.select(columns, value=columns[0], label=text.ADD_ABOUT)
        column.props("outlined dense options-dense").classes("s-grow")

        def add() -> None:
            made = Sentence(model.value, column.value, text.STARTS[model.value])
            same = {(s.model, s.column) for s in project.guarantee.sentences}
            if (made.model, made.column) not in same:
                project.promise(sentences=(*project.guarantee.sentences, made))

        ui.button(text.ADD_BUTTON, on_click=add).props("outline no-caps")


def _suppression(project: Project) -> None:
    part = ui.element("div").classes("s-promise")

    def draw() -> None:
        part.clear()
        options = {option.name: option for option in options_of(METHODS[project.guarantee.method])}
        if "max_suppression" not in options:
            return
        chosen = project.guarantee.options.get(
            "max_suppression", options["max_suppression"].default
        )
        if chosen is None:  # the rule of the paper, which Advanced states
            return
        with part:
            with ui.element("div").classes("s-sentence"):
                ui.label(text.SUPPRESSION_BEFORE)
                field = ui.number(value=round(100 * chosen, 4), min=0, max=100, step=1)
                field.props(f"outlined dense {_DEBOUNCE}").classes("s-number")
                named(field, text.SUPPRESSION_LABEL)
                ui.label(text.SUPPRESSION_AFTER)

                def changed() -> None:
                    if field.value is not None and 0 <= field.value <= 100:
                        stated = {**project.guarantee.options, "max_suppression": field.value / 100}
                        project.promise(options=stated)

                field.on_value_change(changed)
            why(text.SUPPRESSION_WHY)

    draw()
    drawn = [project.guarantee.method]

    def again() -> None:
        if drawn[0] != project.guarantee.method:
            drawn[0] = project.guarantee.method
            draw()

    on_change(project, part, again, Topic.GUARANTEE)


def _advanced(project: Project) -> None:
    with (
        ui.expansion(text.ADVANCED).classes("s-card s-advanced"),
        ui.element("div").classes("s-stack"),
    ):
        chosen = ui.select(_methods(project), value=project.guarantee.method, label=text.METHOD)
        chosen.props("outlined dense options-dense").classes("w-full")
        why(text.METHOD_WHY)
        if _on_disk(project):
            why(text.METHODS_ON_DISK)
        form = ui.element("div").classes("s-fields")

        def draw() -> None:
            form.clear()
            wanted = project.guarantee
            with form:
                option_form(
                    METHODS[wanted.method],
                    lambda: project.guarantee.options,
                    lambda options: project.promise(options=options),
                )

        def changed(event: Any) -> None:
            if event.value != project.guarantee.method:
                project.promise(method=event.value, options=dict(_STARTS.get(event.value, {})))

        drawn = [project.guarantee.method]

        def follow() -> None:  # other parts of the screen choose a method, too
            if drawn[0] != project.guarantee.method:
                drawn[0] = project.guarantee.method
                chosen.value = project.guarantee.method
                draw()

        chosen.on_value_change(changed)
        on_change(project, form, follow, Topic.GUARANTEE)
        draw()
        ui.switch(
            text.FORMULAS,
            value=project.guarantee.escape_formulas,
            on_change=lambda event: project.promise(escape_formulas=event.value),
        )
        why(text.FORMULAS_WHY)


def _run_card(project: Project) -> None:
    with card(text.RELEASE):
        name = ui.input(text.NAME, value=project.run_name or f"Release {len(project.runs) + 1}")
        name.props("outlined dense").classes("w-full")
        name.on_value_change(lambda event: setattr(project, "run_name", event.value or ""))
        why(text.NAME_WHY)
        live(project, Topic.RUNS)(lambda: _outcome(project))
        part = ui.element("div")
        running = [any(run.state == "running" for run in project.runs)]

        def follow() -> None:
            last = project.runs[-1].state if project.runs else "done"
            if running[0] and last == "done":
                with part:
                    ui.navigate.to("/release")
            running[0] = last == "running"

        on_change(project, part, follow, Topic.RUNS)


def _outcome(project: Project) -> None:
    """Draw how the last run ended."""
    state = project.runs[-1].state if project.runs else ""
    if state == "done":
        notice(text.DONE, "good", text.SEE, lambda: ui.navigate.to("/release"))
    elif state == "cancelled":
        notice(text.CANCELLED)
    elif state == "failed":
        notice(f"{text.FAILED}: {project.runs[-1].text}", "bad")


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
                why(_form_sentence(option.meaning))


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


def _form_sentence(meaning: str) -> str:
    """Return the meaning of an option as a sentence.

    >>> _form_sentence("share of records that may be suppressed")
    'Share of records that may be suppressed.'
    """
    return f"{meaning[:1].upper()}{meaning[1:].rstrip('.')}.".replace("`", "")


_SHARE = 0.05  # of the rows that may be left out, at first


def by_hand(project: Project) -> None:
    """Draw the switch and, if levels are chosen by hand, a choice for each column.

    Parameters:
        project: The state to draw.
    """
    with card(text.BY_HAND, text.BY_HAND_WHY):
        chosen = ui.switch(text.BY_HAND_SWITCH, value=stated_levels(project.guarantee) is not None)
        body = ui.element("div").classes("s-stack")
        drawn: list[list[str] | None] = [None]  # the columns whose choices are drawn

        async def changed() -> None:
            if chosen.value and stated_levels(project.guarantee) is None:
                await _begin(project, body, lambda: bool(chosen.value))
            elif not chosen.value and stated_levels(project.guarantee) is not None:
                project.promise(method="mondrian", options={})

        def follow() -> None:
            columns = _stated_columns(project)
            if drawn[0] == columns:
                return
            drawn[0] = columns
            chosen.value = columns is not None
            body.clear()
            if columns is not None:
                background_tasks.create(_choices(project, body, lambda: drawn[0] is columns))

        chosen.on_value_change(changed)
        on_change(project, body, follow, Topic.GUARANTEE)
        follow()


def _stated_columns(project: Project) -> list[str] | None:
    stated = stated_levels(project.guarantee)
    return None if stated is None else sorted(stated)


async def _offer(project: Project) -> Any:
    wanted = project.guarantee
    share = float(wanted.options.get("max_suppression", _SHARE))
    return await project.ask(offer_levels, project.table, str(wanted.model), share)


async def _begin(project: Project, body: ui.element, is_wanted: Callable[[], bool]) -> None:
    """Begin with levels that keep the promise, if they are still wanted once they are found."""
    with body:
        why(text.BY_HAND_WAIT)
    try:
        found = await _offer(project)
    except ShoalError as error:
        body.clear()
        with body:
            notice(str(error), "warn")
        return
    if is_wanted():
        options = {"levels": dict(found.start), "max_suppression": _SHARE}
        project.promise(method=METHOD, options=options)
    elif not body.is_deleted:
        body.clear()


async def _choices(project: Project, body: ui.element, is_wanted: Callable[[], bool]) -> None:
    """Draw a choice for each column, unless other choices have replaced these meanwhile."""
    try:
        found = await _offer(project)
    except ShoalError as error:
        if is_wanted() and not body.is_deleted:
            with body:
                notice(str(error), "warn")
        return
    stated = stated_levels(project.guarantee)
    if body.is_deleted or stated is None or not is_wanted():
        return
    with body:
        why(text.BY_HAND_HINT)
        for column in found.columns:
            _column(project, column, min(stated.get(column.column, 0), column.height))


def _column(project: Project, column: ColumnLevels, level: int) -> None:
    with ui.element("div").classes("s-line"):
        ui.label(column.column).classes("s-name")
        words = {
            number: text.level(number, column.height, example)
            for number, example in enumerate(column.examples)
        }

        def changed(event: Any) -> None:
            options = with_level(project.guarantee.options, column.column, event.value)
            project.promise(options=options)

        select = ui.select(words, value=level, on_change=changed)
        select.props("outlined dense options-dense").classes("s-grow")
        named(select, f"{text.BY_HAND}: {column.column}")
