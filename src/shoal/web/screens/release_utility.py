"""Usefulness: how well a model that learned from the release predicts a chosen column."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from shoal.web.project.outcomes import Outcome, percent
from shoal.web.project.project import Project
from shoal.web.project.releasing import RunRequest
from shoal.web.project.runs import Run
from shoal.web.project.studies import measure_utility
from shoal.web.project.study_runs import Study
from shoal.web.screens.studying import study_folder, table, watch
from shoal.web.text import release as text


def build(project: Project, run: Run, request: RunRequest, outcome: Outcome) -> None:
    """Draw the choice of a column, and the scores.

    Parameters:
        project: The state.
        run: The release.
        request: What was asked for.
        outcome: What came out.
    """
    ui.label(text.UTILITY_WHY).classes("s-why")
    targets = [c.name for c in outcome.columns if c.role in ("sensitive", "insensitive")]
    if not targets:
        ui.label(text.NO_TARGET).classes("s-notice")
        return
    present = project.studies["utility", run.name]
    before = present.key if present is not None and present.key in targets else targets[0]
    target = ui.select(targets, value=before, label=text.TARGET).props("outlined")
    target.classes("s-field")

    def measure() -> None:
        folder = study_folder(project, run)
        chosen = str(target.value)
        project.studies.begin(
            "utility", run.name, measure_utility, request, folder, chosen, key=chosen
        )

    ui.button(text.MEASURE, on_click=measure)

    def draw(study: Study | None) -> None:
        if study is not None and study.result is not None:
            _scores(study.result)

    watch(project, "utility", run, draw)


def _scores(result: dict[str, Any]) -> None:
    regression = result["task"] == "regression"
    best = result["scores"][0]
    kept = best.get("kept")
    if best.get("meaningful") and kept is not None:
        sentence = text.keeps(percent(min(max(kept, 0.0), 1.0)), result["target"])
        ui.label(sentence).classes("s-notice").props("role=status")
    else:
        ui.label(text.not_predictable(result["target"])).classes("s-notice").props("role=status")
    heads = (text.SCORE, text.FROM_RELEASE, text.FROM_RAW, text.MEAN if regression else text.GUESS)
    rows = [
        (
            text.SCORES.get(each["score"], each["score"]),
            _score(each, "value"),
            _score(each, "raw"),
            _score(each, "majority"),
        )
        for each in result["scores"]
    ]
    table(text.TABS["utility"], heads, rows, numbers=(1, 2, 3))


def _score(score: dict[str, Any], name: str) -> str:
    value = score[name]
    if value is None:
        return text.UNDEFINED
    if score["score"] == "accuracy":
        return percent(min(max(float(value), 0.0), 1.0))
    return f"{value:,.3g}"
