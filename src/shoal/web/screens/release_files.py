"""Downloads: the released table, its report, and the recipe that repeats it."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from shoal.web.project.project import Project
from shoal.web.project.releasing import RunRequest
from shoal.web.project.runs import Run
from shoal.web.project.studies import write_release
from shoal.web.project.study_runs import Study
from shoal.web.screens.parts import heading, named
from shoal.web.screens.studying import study_folder, watch
from shoal.web.text import release as text

_ICONS = {
    "release": "table_view",
    "report": "description",
    "json": "data_object",
    "command": "terminal",
    "python": "code",
    "schema": "schema",
}


def build(project: Project, run: Run, request: RunRequest) -> None:
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
