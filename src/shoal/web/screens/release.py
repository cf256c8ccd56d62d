"""The screen Release: what came out, what it costs, alternatives, risk, evidence, downloads.

The tabs Before and after, and Risk in words, are drawn here; each other tab has its own module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.project.choices import Candidate
from shoal.web.project.guarantee import PRIVATE, Guarantee
from shoal.web.project.outcomes import ColumnOutcome, Outcome, answers, percent
from shoal.web.project.project import Project
from shoal.web.project.releasing import RunRequest
from shoal.web.project.runs import Run, request_of
from shoal.web.project.studies import Study, assess_risk
from shoal.web.project.topics import Step, Topic
from shoal.web.screens import release_choices, release_evidence, release_lattice
from shoal.web.screens.parts import heading, intro, notice, on_change, study_folder, table, watch
from shoal.web.text import protect
from shoal.web.text import release as text


def build(project: Project) -> None:
    """Draw the screen.

    Parameters:
        project: The state to draw.
    """
    intro(text.TITLE, text.LEAD)
    _Screen(project)


class _Screen:
    """The elements of the screen in one tab."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.name = project.runs[-1].name if project.runs else None
        self.tab = next(iter(text.TABS))
        self.picker = ui.element("div").classes("w-full")
        self.body = ui.element("div").classes("w-full s-stack")
        self.seen: list[tuple[str, str]] = []
        on_change(project, self.body, self._draw_changes, Topic.RUNS)
        self._draw_all()

    @property
    def run(self) -> Run | None:
        """The release that is shown."""
        return next((run for run in self.project.runs if run.name == self.name), None)

    def _draw_changes(self) -> None:
        """Draw the screen again if a release began or ended; progress alone changes nothing."""
        if self.seen != [(run.name, run.state) for run in self.project.runs]:
            self._draw_all()

    def _draw_all(self) -> None:
        self.seen = [(run.name, run.state) for run in self.project.runs]
        self._pick()
        self.body.clear()
        with self.body:
            self._result()

    def _pick(self) -> None:
        self.picker.clear()
        if len(self.project.runs) < 2:
            return
        with self.picker, ui.element("nav").classes("s-releases") as nav:
            nav.props["aria-label"] = text.RELEASES
            for run in self.project.runs:
                button = ui.button(run.name, on_click=lambda run=run: self._open(run.name))
                button.props("no-caps outline" if run.name != self.name else "no-caps")
                if run.name == self.name:
                    button.props["aria-current"] = "true"

    def _open(self, name: str) -> None:
        self.name = name
        self._draw_all()

    def _result(self) -> None:
        run = self.run
        if run is None:
            notice(text.NONE)
            return
        if run.state != "done":
            words = {"running": text.RUNNING, "failed": text.FAILED, "cancelled": text.CANCELLED}
            notice(" ".join([words[run.state], run.text]), "bad" if run.state == "failed" else "")
            return
        try:
            outcome = Outcome.read(run.name, run.files["json"])
        except (ShoalError, OSError, KeyError):
            notice(text.FAILED, "bad")
            return
        request = request_of(self.project, run)
        with ui.element("div").classes("s-result"):
            _hero(outcome, run.guarantee)
            with ui.element("section").classes("s-card"):
                release_evidence.build_files(self.project, run, request)
                refused = (run.summary or {}).get("no_report")
                if refused:
                    notice(text.no_report(str(refused)))
        self._tabs(run, request, outcome)

    def _tabs(self, run: Run, request: RunRequest, outcome: Outcome) -> None:
        project = self.project
        drawn: dict[str, Callable[[], None]] = {
            "columns": lambda: build_columns(outcome),
            "choices": lambda: release_choices.build(project, run, request, self._use),
            "beside": lambda: release_choices.build_beside(self._outcomes()),
            "risk": lambda: build_risk(project, run, request),
            "levels": lambda: release_lattice.build(project, run, request),
            "utility": lambda: release_choices.build_utility(project, run, request, outcome),
            "evidence": lambda: release_evidence.build(project, run, request),
        }
        with ui.element("div").classes("s-card s-study"):
            with ui.tabs().classes("s-tabs") as tabs:
                tabs.props("no-caps align=left outside-arrows mobile-arrows")
                for kind, name in text.TABS.items():
                    ui.tab(kind, label=name)
            holder = ui.element("section").classes("w-full s-stack")

            def show(kind: str) -> None:
                self.tab = kind
                holder.clear()
                with holder:
                    if request.on_disk and kind in text.NOT_ON_DISK:
                        notice(text.NOT_ON_DISK[kind])
                    else:
                        drawn[kind]()

            tabs.set_value(self.tab)
            tabs.on_value_change(lambda event: show(str(event.value)))
            show(self.tab)

    def _outcomes(self) -> dict[str, Outcome]:
        found: dict[str, Outcome] = {}
        for run in self.project.runs:
            if run.state == "done" and "json" in run.files:
                try:
                    found[run.name] = Outcome.read(run.name, run.files["json"])
                except (ShoalError, OSError):
                    continue
        return found

    def _use(self, candidate: Candidate) -> None:
        """Fill in what an alternative needs, and show it on the screen Protect."""
        present = self.run.guarantee if self.run is not None else self.project.guarantee
        self.project.promise(
            k=candidate.k or present.k,
            sentences=present.sentences,
            method=candidate.method,
            options=dict(candidate.options),
        )
        ui.navigate.to(f"/{Step.PROTECT}")


def promise_words(guarantee: Guarantee) -> list[str]:
    """Return the sentences that a release keeps.

    Parameters:
        guarantee: What was asked.
    """
    stated = [protect.sentence(s.model, s.column, s.value) for s in guarantee.in_force]
    return [protect.k_sentence(guarantee.k), *stated]


def _hero(outcome: Outcome, guarantee: Guarantee) -> None:
    with ui.element("section").classes("s-card s-hero"):
        heading(2, text.PROMISE)
        if guarantee.method != PRIVATE:  # whose claim is in the verdict
            with ui.element("ul").classes("s-list s-verdict"):
                for sentence in promise_words(guarantee):
                    with ui.element("li"):
                        ui.label(sentence)
        ui.label(outcome.verdict).classes("s-why")
        with ui.element("dl").classes("s-tiles"):
            for figure in outcome.figures:
                with ui.element("div").classes("s-tile"):
                    with ui.element("dt"):
                        ui.label(figure.label)
                    with ui.element("dd"):
                        ui.label(figure.text).classes("s-big")
                        ui.label(figure.meaning).classes("s-small")
        if outcome.warnings:
            with ui.element("div").classes("s-notice s-warn s-stack"):
                ui.label(text.NOT_COVERED).classes("s-strong")
                with ui.element("ul").classes("s-list"):
                    for warning in outcome.warnings:
                        with ui.element("li"):
                            ui.label(warning[:1].upper() + warning[1:])


_LEAST_SHARE = 0.0001  # of a value that occurs: reports round shares to three decimal places


def build_columns(outcome: Outcome) -> None:
    """Draw all columns of a release.

    Parameters:
        outcome: The release.
    """
    ui.label(text.COLUMNS_WHY).classes("s-why")
    drawn = [c for c in outcome.columns if c.role in ("quasi", "sensitive")]
    others = [c for c in outcome.columns if c.role not in ("quasi", "sensitive")]
    with ui.element("div").classes("s-column-cards"):
        for column in drawn:
            _card(column)
    if others:
        rows = [(column.name, column.treatment) for column in others]
        table(text.UNCHANGED, (text.COLUMN, text.AFTER), rows)


def _card(column: ColumnOutcome) -> None:
    with ui.element("section").classes("s-card s-outcome"):
        heading(3, column.name)
        ui.label(column.treatment).classes("s-small")
        if column.kept is not None:
            _shares(column)
        if not column.bars:
            ui.label(text.NO_BARS).classes("s-why")
            return
        both = any(bar.before is not None for bar in column.bars)
        top = max(max(bar.after, bar.before or 0.0) for bar in column.bars) or 1.0
        heads = (text.VALUES, text.BEFORE, text.AFTER) if both else (text.VALUES, text.AFTER)
        rows: list[tuple[Any, ...]] = [
            (
                bar.label,
                *([lambda bar=bar: _bar(_seen(bar.before), top, "s-before")] if both else []),
                lambda bar=bar: _bar(bar.after if both else _seen(bar.after), top, "s-after"),
            )
            for bar in column.bars
        ]
        table(text.columns_caption(column.name), heads, rows)


def _shares(column: ColumnOutcome) -> None:
    """Draw which share of the cells is kept, coarser and hidden, as one bar with its legend."""
    parts = (
        (text.KEPT, column.kept, "s-kept"),
        (text.COARSER, column.generalized, "s-coarser"),
        (text.HIDDEN, column.hidden, "s-hid"),
    )
    with ui.element("div").classes("s-stackbar").props("aria-hidden=true"):
        for _, share, kind in parts:
            ui.element("span").classes(kind).style(f"flex-grow: {share or 0:.4f}")
    with ui.element("div").classes("s-legend"):
        for label, share, kind in parts:
            with ui.element("span").classes("s-key"):
                ui.element("i").classes(kind).props("aria-hidden=true")
                ui.label(f"{label} {percent(share)}")


def _seen(share: float | None) -> float:
    """Return the share of a value that occurs; one that was rounded to 0 is under 0.1 %."""
    return share or _LEAST_SHARE


def _bar(share: float | None, top: float, kind: str) -> None:
    with ui.element("div").classes("s-bar"):
        ui.element("span").classes(kind).style(f"width: {100 * (share or 0) / top:.1f}%")
        ui.label(percent(share))


def build_risk(project: Project, run: Run, request: RunRequest) -> None:
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
