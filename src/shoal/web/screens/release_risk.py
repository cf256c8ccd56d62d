"""Risk in words: what an attacker can find, depending on what they know."""

from __future__ import annotations

from nicegui import ui

from shoal.web.project.project import Project
from shoal.web.project.releasing import RunRequest
from shoal.web.project.risk_words import answers
from shoal.web.project.runs import Run
from shoal.web.project.studies import assess_risk
from shoal.web.project.study_runs import Study
from shoal.web.screens.parts import heading
from shoal.web.screens.studying import study_folder, watch
from shoal.web.text import release as text


def build(project: Project, run: Run, request: RunRequest) -> None:
    """Draw the questions and their answers.

    Parameters:
        project: The state.
        run: The release.
        request: What was asked for.
    """
    ui.label(text.RISK_WHY).classes("s-why")
    present = project.studies["risk", run.name]
    quasi = list((run.summary or {}).get("quasi", ()))
    before = present.key if present is not None and isinstance(present.key, tuple) else quasi
    boxes = {}
    with ui.element("fieldset").classes("s-checks"):
        with ui.element("legend"):
            ui.label(text.KNOWS)
        for name in quasi:
            boxes[name] = ui.checkbox(name, value=name in before)
    problem = ui.label().classes("s-problem").props("role=alert")

    def ask() -> None:
        known = tuple(name for name, box in boxes.items() if box.value)
        problem.set_text("" if known else text.NOTHING_KNOWN)
        if known:
            folder = study_folder(project, run)
            project.studies.begin("risk", run.name, assess_risk, request, folder, known, key=known)

    ui.button(text.ASSESS, on_click=ask)

    def draw(study: Study | None) -> None:
        if study is not None and study.result is not None:
            _answers(study.result)

    watch(project, "risk", run, draw)


def _answers(result: dict[str, dict[str, object]]) -> None:
    with ui.element("div").classes("s-answers").props("role=status"):
        for answer in answers(result["inside"], result["outside"]):
            with ui.element("section").classes("s-answer"):
                heading(3, answer.question)
                ui.label(answer.figure).classes("s-big")
                ui.label(answer.sentence).classes("s-why")
    heading(3, text.ASSUMPTIONS)
    with ui.element("ul").classes("s-list"):
        listed = [*result["inside"]["assumptions"], result["inside"]["guarantee"]]  # type: ignore[misc]
        for sentence in listed:
            with ui.element("li"):
                ui.label(str(sentence))
