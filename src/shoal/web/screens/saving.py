"""Save the project: the button in the header and its dialog."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.project import saving
from shoal.web.project.project import Project
from shoal.web.screens.parts import dialog, why
from shoal.web.text import saving as text


def save_button(project: Project) -> None:
    """Draw the button that saves the project; the first time it asks where.

    Parameters:
        project: The project to save.
    """
    with dialog(text.TITLE) as window:
        why(text.LEAD)
        stem = project.source.stem if project.source is not None else "project"
        folder = ui.input(text.FOLDER, value=str(project.folder or saving.home() / stem))
        folder.props("outlined dense").classes("w-full")
        data = ui.switch(text.WITH_DATA)
        why(text.WITH_DATA_WHY)

        def save() -> None:
            try:
                path = Path(folder.value or "").expanduser()
                saving.save(project, path, with_data=bool(data.value))
            except ShoalError as error:
                ui.notify(str(error), type="negative", multi_line=True)
                return
            window.close()
            ui.notify(text.saved(path.name), type="positive")

        with ui.element("div").classes("s-row s-end"):
            ui.button(text.CANCEL, on_click=window.close).props("flat no-caps")
            ui.button(text.SAVE, on_click=save).props("no-caps unelevated")
    label = text.SAVE if project.folder is None else text.saved(project.folder.name)
    ui.button(label, on_click=window.open).props("flat no-caps icon=save")
