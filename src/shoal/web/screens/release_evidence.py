"""The tab Evidence of the screen Release, and its card of downloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.evidence.questionnaire import LARGE_AREA, parse_areas
from shoal.web.project.project import Project
from shoal.web.project.releasing import RunRequest
from shoal.web.project.runs import Run
from shoal.web.project.studies import Study, attack_release, write_pack, write_release
from shoal.web.screens.group_dialogs import FilePicker
from shoal.web.screens.parts import heading, named, study_folder, watch
from shoal.web.text import release as text

_LISTS = ("controls", "adversaries")
_NUMBERS = ("maximum_risk", "population")


def build(project: Project, run: Run, request: RunRequest) -> None:
    """Draw the questionnaire, the attacks and the pack.

    Parameters:
        project: The state.
        run: The release.
        request: What was asked for.
    """
    ui.label(text.EVIDENCE_WHY).classes("s-why")
    fields = _questions(project.answers)
    _areas(project)
    problem = ui.label().classes("s-problem").props("role=alert")
    _attacks(project, run, request)
    output = project.workspace / f"{run.folder.name}-evidence.zip"

    def create() -> None:
        project.answers.update({name: str(field.value or "") for name, field in fields.items()})
        answers = read_answers(project.answers)
        if project.areas:
            answers["area_populations"] = dict(project.areas)
        wrong = [name for name, value in answers.items() if value is None]
        problem.set_text(f"{text.QUESTIONS[wrong[0]][0]}: {text.WRONG_NUMBER}" if wrong else "")
        if not wrong:
            folder = study_folder(project, run)
            project.studies.forget("pack", run.name)
            released = run.files["release"]
            project.studies.begin(
                "pack", run.name, write_pack, request, folder, released, output, answers
            )

    heading(3, text.PACK)
    ui.button(text.PACK, on_click=create)

    def draw(study: Study | None) -> None:
        if study is not None and study.result is not None:
            with ui.element("div").classes("s-notice s-good s-stack").props("role=status"):
                offer_file(text.PACK_READY, output, f"{run.name}-evidence.zip")
                ui.label(f"{text.PACK_DIGEST} {study.result['sha256']}").classes("s-code")

    watch(project, "pack", run, draw)


def _questions(answers: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    with ui.element("div").classes("s-questions"):
        for name, (question, hint) in text.QUESTIONS.items():
            made: Any = (
                ui.textarea(question, value=answers.get(name, ""))
                if name in _LISTS
                else ui.input(question, value=answers.get(name, ""))
            )
            made.props("outlined stack-label" + (" autogrow" if name in _LISTS else ""))
            if hint:
                made.props["hint"] = hint
            made.on_value_change(lambda event, name=name: answers.update({name: event.value or ""}))
            fields[name] = made
    return fields


def _areas(project: Project) -> None:
    """Draw the choice of a table with the people of each three-digit area of ZIP codes."""
    heading(3, text.AREAS)
    ui.label(text.AREAS_WHY).classes("s-why")

    def picked(_: str, content: bytes) -> None:
        try:
            project.areas = parse_areas(content.decode("utf-8-sig"), text.AREAS_FILE)
        except UnicodeDecodeError:
            show(text.AREAS_NOT_TEXT, "s-bad")
        except ShoalError as error:
            show(str(error), "s-bad")
        else:
            draw()

    def refused() -> None:
        show(text.AREAS_TOO_LARGE, "s-bad")

    def forget() -> None:
        project.areas = {}
        draw()

    def show(words: str, kind: str) -> None:
        said.clear()
        with said:
            ui.label(words[:1].upper() + words[1:]).classes(f"s-notice {kind}")
            if project.areas:
                ui.button(text.AREAS_REMOVE, on_click=forget).props("flat dense no-caps")

    def draw() -> None:
        said.clear()
        if project.areas:
            large = sum(people > LARGE_AREA for people in project.areas.values())
            show(text.areas(len(project.areas), large), "s-good")

    FilePicker(text.AREAS_PICK, picked, refused)
    said = ui.element("div").classes("w-full s-stack").props("role=status")
    draw()


def read_answers(texts: dict[str, str]) -> dict[str, Any]:
    """Return the answers as a questionnaire takes them; None for a number that is not one.

    Parameters:
        texts: The text of each field.

    >>> read_answers({"purpose": " research ", "controls": "a contract", "maximum_risk": "x"})
    {'purpose': 'research', 'controls': ['a contract'], 'maximum_risk': None}
    """
    found: dict[str, Any] = {}
    for name, raw in texts.items():
        answer = raw.strip()
        if not answer:
            continue
        if name in _LISTS:
            found[name] = [line.strip() for line in answer.splitlines() if line.strip()]
        elif name in _NUMBERS:
            found[name] = _number(answer, whole=name == "population")
        else:
            found[name] = answer
    return found


def _number(answer: str, *, whole: bool) -> float | int | None:
    try:
        return int(answer.replace(",", "").replace(" ", "")) if whole else float(answer)
    except ValueError:
        return None


def _attacks(project: Project, run: Run, request: RunRequest) -> None:
    heading(3, text.ATTACK)
    ui.label(text.ATTACK_WHY).classes("s-why")

    def attack() -> None:
        folder = study_folder(project, run)
        project.studies.begin("attacks", run.name, attack_release, request, folder)

    def draw(study: Study | None) -> None:
        if study is None or study.result is None:
            ui.button(text.ATTACK, on_click=attack).props("outline")
            return
        with ui.element("ul").classes("s-list").props("role=status"):
            for sentence in [*study.result["sentences"], *study.result["notes"]]:
                with ui.element("li"):
                    ui.label(sentence[:1].upper() + sentence[1:])

    watch(project, "attacks", run, draw)


_ICONS = {
    "release": "table_view",
    "report": "description",
    "json": "data_object",
    "command": "terminal",
    "python": "code",
    "schema": "schema",
}


def build_files(project: Project, run: Run, request: RunRequest) -> None:
    """Draw the files of a release.

    Parameters:
        project: The state.
        run: The release.
        request: What was asked for.
    """
    heading(2, text.DOWNLOADS)
    with ui.element("ul").classes("s-files"):
        for kind, (name, why) in text.FILES.items():
            path = run.files.get(kind)
            if path is not None:
                with ui.element("li"):
                    _file(kind, name, why, path, run)
    _parquet(project, run, request)


def _file(kind: str, name: str, why: str, path: Path, run: Run) -> None:
    button = ui.button(on_click=lambda: ui.download.file(path, f"{run.name}-{path.name}")).props(
        "flat no-caps"
    )
    button.classes("s-file-button s-main-file" if kind == "release" else "s-file-button")
    with button:
        ui.icon(_ICONS[kind], size="24px").props("aria-hidden=true")
        with ui.element("span"):
            ui.label(f"{name} ({path.suffix.lstrip('.')})").classes("s-strong")
            ui.label(why).classes("s-small")


def _parquet(project: Project, run: Run, request: RunRequest) -> None:
    if request.on_disk or run.files.get("release", Path()).suffix == ".parquet":
        return
    output = project.workspace / f"{run.folder.name}-release.parquet"

    def make() -> None:
        folder = study_folder(project, run)
        project.studies.begin("parquet", run.name, write_release, request, folder, output, False)

    def draw(study: Study | None) -> None:
        if study is not None and study.result is not None:
            offer_file(text.PARQUET_READY, output, f"{run.name}.parquet")
        else:
            ui.button(text.PARQUET, on_click=make).props("flat dense")

    watch(project, "parquet", run, draw)


def offer_file(label: str, path: Path, name: str) -> None:
    """Draw a button that downloads a file.

    Parameters:
        label: The text of the button.
        path: The file.
        name: The name under which it is saved.
    """
    button = ui.button(label, icon="download", on_click=lambda: ui.download.file(path, name))
    named(button.props("outline"), label)
