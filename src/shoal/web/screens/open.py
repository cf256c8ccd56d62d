"""The Open screen: choose a file, check how it is read, and say what identifies a person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import background_tasks, ui

from shoal.errors import ShoalError
from shoal.support.wording import counted
from shoal.web.project import opening, saving
from shoal.web.project.opening import is_spreadsheet
from shoal.web.project.project import Project
from shoal.web.project.topics import Topic
from shoal.web.screens.parts import card, icon, intro, live, named, notice, preview_table, why
from shoal.web.text import open as text

_UPLOAD_SCRIPT = Path(__file__).with_name("upload.js").read_text(encoding="utf-8")
_ACCEPTED = ".csv,.tsv,.txt,.gz,.parquet,.pq,.jsonl,.ndjson,.json,.xlsx,.xlsm,.xlsb,.xls,.ods"
_EXAMPLE_ROWS = 2_000
_SHOWN_ROWS = 12
_NO_NAMES = "the first row looks like data"
_NOTATION = re.compile(r"add (decimal|dates|trim)=(?:'([^']+)'|True)")


def build(project: Project) -> None:
    """Draw the screen.

    Parameters:
        project: The state to draw.
    """
    ui.add_body_html(f"<script>{_UPLOAD_SCRIPT}</script>")
    live(project, Topic.SOURCE)(lambda: _content(project))


def _content(project: Project) -> None:
    if project.source is None:
        intro(text.TITLE, text.LEAD)
        if project.busy:
            _waiting(project.busy)
            return
        if project.problem:
            notice(project.problem, "bad")
        _choose(project)
        _resume(project)
        return
    _opened(project)


def _waiting(what: str) -> None:
    with ui.element("div").classes("s-notice") as element:
        element.props["role"] = "status"
        ui.spinner(size="20px").props("aria-hidden=true")
        ui.label(f"{what}…")


def _choose(project: Project) -> None:
    with card(), ui.element("div").classes("s-choose"):
        with ui.element("label").classes("s-drop") as drop:
            drop.props["for"] = "shoal-file"
            icon("upload_file", "40px")
            ui.label(text.UPLOAD).classes("s-drop-title")
            ui.label(text.UPLOAD_HINT).classes("s-small")
            chosen = named(ui.element("input"), text.UPLOAD)
            chosen.props.update({"type": "file", "id": "shoal-file", "accept": _ACCEPTED})
            with ui.element("span").classes("s-small") as progress:
                progress.props.update({"id": "shoal-upload", "role": "status"})
                progress.props["data-working"] = text.UPLOADING
                progress.props["data-failed"] = text.UPLOAD_FAILED
        with ui.element("div").classes("s-beside"):
            with ui.element("div"):
                path = ui.input(text.PATH).props("outlined dense").classes("w-full")
                why(text.PATH_HINT)
                start = _opener(project, path)
                path.on("keydown.enter", start)
                ui.button(text.OPEN, on_click=start).props("outline no-caps")
            with ui.element("div"):
                why(text.EXAMPLE_HINT)
                button = ui.button(text.EXAMPLE, on_click=lambda: _example(project))
                button.props("outline no-caps")


def _opener(project: Project, path: ui.input) -> Any:
    def start() -> None:
        typed = (path.value or "").strip().strip("'\"")
        if typed:
            background_tasks.create(project.open(Path(typed).expanduser()))

    return start


async def _example(project: Project) -> None:
    project.workspace.mkdir(parents=True, exist_ok=True)
    path = project.workspace / text.EXAMPLE_NAME
    await project.ask(opening.make_example, path, _EXAMPLE_ROWS)
    await project.open(path, name=text.EXAMPLE_NAME, uploaded=True)


def _resume(project: Project) -> None:
    with card(text.RESUME, text.RESUME_LEAD):
        for folder in saving.list_projects():
            with ui.element("div").classes("s-row"):
                icon("folder")
                ui.label(folder.name).classes("s-grow")
                button = ui.button(text.RESUME_BUTTON, on_click=partial(_continue, project, folder))
                named(button.props("outline dense no-caps"), f"{text.RESUME_BUTTON}: {folder.name}")
        with ui.element("div").classes("s-row"):
            typed = ui.input(text.RESUME_PATH).props("outlined dense").classes("s-grow")
            ui.button(
                text.RESUME_BUTTON,
                on_click=lambda: _continue(project, Path(typed.value or "").expanduser()),
            ).props("outline no-caps")


async def _continue(project: Project, folder: Path) -> None:
    try:
        await saving.resume(project, folder)
    except ShoalError as error:
        ui.notify(str(error), type="negative", multi_line=True)


def _opened(project: Project) -> None:
    source = project.source
    assert source is not None
    with ui.element("div").classes("s-row s-between"):
        with ui.element("div"):
            intro(source.name, _size(project))
        ui.button(text.ANOTHER, on_click=project.forget).props("flat no-caps")
    if project.busy:
        _waiting(project.busy)
    if _NO_NAMES in project.problem:
        with notice(
            text.NO_NAMES, "warn", text.NO_NAMES_YES, lambda: _correct(project, header=False)
        ):
            names = ui.button(text.NO_NAMES_NO, on_click=lambda: _correct(project, header=True))
            names.props("flat dense no-caps")
    elif project.problem:
        notice(project.problem, "bad")
    if source.on_disk:
        notice(text.on_disk(source.sampled))
    if source.refused:
        notice(text.refused(", ".join(source.refused)), "warn")
    if source.question is not None:
        _person(project)
    _check(project)
    _settings(project)
    if source.preview.names:
        with card(text.FIRST_ROWS):
            preview_table(source.preview, text.FIRST_ROWS, _SHOWN_ROWS)


def _size(project: Project) -> str:
    source = project.source
    assert source is not None
    rows = source.about or (counted(source.rows, "row") if source.rows is not None else "…")
    width = len(source.preview.names)
    return text.summary(rows, width, source.size) if width else text.size_text(source.size)


def _person(project: Project) -> None:
    source = project.source
    assert source is not None
    assert source.question is not None
    question = source.question
    options = {
        "column": text.person_is(question.column, question.distinct, question.rows),
        "rows": text.PERSON_ROWS,
        "other": text.PERSON_OTHER,
    }
    chosen = "column" if source.person else "rows" if source.rows_are_people else None
    if source.person and source.person != (question.column,):
        chosen = "other"
    with card(text.PERSON, text.PERSON_WHY):

        def answer(value: str) -> None:
            if value == "rows":
                project.set_person(())
            elif value == "column":
                project.set_person((question.column,))
            other.set_visibility(value == "other")

        radio = ui.radio(options, value=chosen, on_change=lambda event: answer(event.value))
        named(radio, text.PERSON)
        other = ui.select(
            list(source.preview.names),
            label=text.PERSON_COLUMN,
            value=source.person[0] if chosen == "other" else None,
            on_change=lambda event: project.set_person((event.value,)) if event.value else None,
        ).props("outlined dense")
        other.set_visibility(chosen == "other")


def _check(project: Project) -> None:
    """Draw what to check in the file, with one click to correct it."""
    source = project.source
    assert source is not None
    coded = _offered(project)
    hints = [hint for hint in project.hints if not _is_settled(project, hint)]
    if not (source.warnings or hints or coded):
        return
    with card(text.CHECK):
        for warning in source.warnings:
            notice(warning, "warn")
        for code, names in _offered(project).items():
            accept = partial(_accept, project, code, names)
            notice(text.codes(code, names), "", text.TREAT_AS_MISSING, accept)
        for hint in hints:
            _hint(project, hint)


def _offered(project: Project) -> dict[str, list[str]]:
    """Return the texts that may mean missing, with the columns that have them."""
    found: dict[str, list[str]] = {}
    for column in project.columns:
        for code in column.offered_codes:
            if code not in column.missing_codes:
                found.setdefault(code, []).append(column.name)
    return found


def _accept(project: Project, code: str, names: list[str]) -> None:
    """Treat a text as missing: a word everywhere, a number only in the columns it was found in."""
    source = project.source
    assert source is not None
    # -9 may be a temperature in another column, while "NA" means missing anywhere
    if not code.lstrip("-").replace(".", "", 1).isdigit():
        _correct(project, missing=(*source.form.get("missing", ()), code))
        return
    for name in names:
        codes = (*project.columns[name].missing_codes, code)
        project.change_columns([name], missing_codes=codes)
    project.touch(Topic.SOURCE)


def _is_settled(project: Project, hint: Mapping[str, Any]) -> bool:
    """Return whether a hint needs no answer, because of its columns or because it is asked."""
    known = [project.columns[name] for name in hint["columns"] if name in project.columns]
    words = str(hint["hint"])
    if words.startswith("cells contain"):
        return all(column.role == "identifier" for column in known)
    if "rows_are_people=" in words:
        return True  # the card about people asks this
    return "missing" in words and any(column.offered_codes for column in known)


def _hint(project: Project, hint: Mapping[str, Any]) -> None:
    columns, words = ", ".join(hint["columns"]), str(hint["hint"])
    found = _NOTATION.search(words)
    said = text.hint(words)
    sentence = f"{columns}: {said}" if columns else said
    if found is None:
        notice(sentence)
        return
    setting, value = found[1], found[2] or True
    notice(sentence, "", text.USE, lambda: _correct(project, **{setting: value}))


def _correct(project: Project, **form: Any) -> None:
    background_tasks.create(project.correct(**form))


def _settings(project: Project) -> None:
    source = project.source
    assert source is not None
    shown = {**source.detected, **source.form}
    with card(text.READ_AS, text.READ_AS_WHY), ui.element("div").classes("s-fields"):
        if len(source.sheets) > 1:
            _choice(project, "sheet", text.SHEET, {s: s for s in source.sheets}, shown.get("sheet"))
        if source.detected or (project.problem and not is_spreadsheet(source.path)):
            delimiter = shown.get("delimiter", ",")
            _choice(
                project,
                "delimiter",
                text.DELIMITER,
                {**text.DELIMITERS, delimiter: text.DELIMITERS.get(delimiter, delimiter)},
                delimiter,
            )
            encoding = shown.get("encoding", "utf-8")
            encodings = {**text.ENCODINGS, encoding: text.ENCODINGS.get(encoding, encoding)}
            _choice(project, "encoding", text.ENCODING, encodings, encoding)
            _choice(project, "header", text.HEADER, text.HEADERS, shown.get("header", True))
            _choice(project, "trim", text.TRIM, text.TRIMS, shown.get("trim", False))
            _choice(project, "decimal", text.DECIMAL, text.DECIMALS, shown.get("decimal", "."))
            _choice(project, "dates", text.DATES, text.DATE_FORMS, shown.get("dates", ""))
        missing = ui.input(text.MISSING, value=", ".join(shown.get("missing", ())))
        missing.props("outlined dense").tooltip(text.MISSING_HINT)

        def changed() -> None:
            codes = tuple(each.strip() for each in (missing.value or "").split(",") if each.strip())
            if codes != tuple(shown.get("missing", ())):
                _correct(project, missing=codes)

        missing.on("blur", changed)
        missing.on("keydown.enter", changed)


def _choice(project: Project, name: str, label: str, options: dict[Any, str], value: Any) -> None:
    select = ui.select(
        options,
        label=label,
        value=value if value in options else None,
        on_change=lambda event: _correct(project, **{name: event.value}),
    )
    select.props("outlined dense options-dense")
