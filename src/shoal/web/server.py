"""The server of the web app: starts on this computer, prints its address, stops on Ctrl-C.

One browser may use it: the one that opens the printed address first.
"""

from __future__ import annotations

import asyncio
import html
import os
import shutil
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.support.extras import requires
from shoal.web import job_process, jobs
from shoal.web.discreet_logging import configure
from shoal.web.guard import Access, Guard
from shoal.web.listening import bind, host_name
from shoal.web.project.project import Project
from shoal.web.project.topics import Topic
from shoal.web.text.common import PRODUCT
from shoal.web.workspace import Workspace, open_workspace

with requires("web"):
    import nicegui
    import uvicorn
    from fastapi import FastAPI
    from nicegui import background_tasks, ui

    from shoal.web import uploads
    from shoal.web.screens import layout

if TYPE_CHECKING:
    from types import FrameType

_STOPPED = Path(__file__).parent / "screens" / "stopped.js"
_GRACE_SECONDS = 2  # for open connections, once the server stops
_LAST_SECONDS = 4.0  # after which a server that does not stop is ended
_RECONNECT_SECONDS = 60.0  # a busy page or a sleeping computer comes back without a reload
_MAX_MESSAGE = 4 * 2**20  # bytes of a websocket message


def serve(
    source: Path | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    memory: str | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Run the web app until it is interrupted.

    Parameters:
        source: A file to open at the start; it is read where it is.
        port: The port to listen on; 0 for any free one.
        browser: Open the address in the user's browser.
        memory: The memory for a table, such as `4GB`; rows of a larger table stay on disk.
        say: Receives the line with the address.

    Raises:
        InputError: The port is taken.
        OutputError: There is no folder for temporary files.
    """
    sockets, chosen = bind(port)
    access = Access(f"{host_name()}:{chosen}")
    os.umask(0o077)
    configure()
    _disable_telemetry()
    with open_workspace() as workspace:
        server = _Server(build(workspace, access, source, memory), workspace)

        def announce() -> None:
            say(f"Shoal is open at {access.address} (works once; Ctrl-C stops it)")
            if browser:
                _open_browser(access, workspace)

        server.when_started = announce
        job_process.use_workspace(workspace.path)
        try:
            server.run_until_stopped(sockets)
        finally:
            jobs.stop_all()


def build(
    workspace: Workspace, access: Access, source: Path | None, memory: str | None = None
) -> Guard:
    """Return the whole app behind its guard."""
    project = Project(workspace.path, memory=memory)

    def get_ready(topic: Topic) -> None:
        idle = project.source is not None and not jobs.running()
        if topic is Topic.FIGURES and idle:  # the analyst has had its turn
            job_process.keep_spare()

    def open_upload(upload: uploads.Upload) -> None:
        opening = project.open(upload.path, name=upload.name, uploaded=True)
        background_tasks.create(opening)

    async def start() -> None:
        if source is not None:
            background_tasks.create(project.open(source.absolute()))

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.router.routes.append(uploads.Uploads(workspace, open_upload).route)
    layout.register(project)
    ui.add_body_html(f"<script>{_STOPPED.read_text(encoding='utf-8')}</script>", shared=True)
    # Quasar's bar for requests has no name, which screen readers need
    nicegui.app.config.quasar_config["loadingBar"] = {"skipHijack": True}
    project.subscribe(get_ready)
    nicegui.app.on_startup(start)
    nicegui.app.on_shutdown(project.close)
    ui.run_with(
        app,
        title=PRODUCT,
        language="en-US",
        dark=None,
        reconnect_timeout=_RECONNECT_SECONDS,
        binding_refresh_interval=None,
        show_welcome_message=False,
    )
    return Guard(app, access, {uploads.PATH: uploads.MAX_BYTES})


def _disable_telemetry() -> None:
    """Switch off what a library would send if the environment asks for it."""
    os.environ.pop("FASTAPI_OTEL_AUTO_CONFIGURE", None)
    os.environ["OTEL_SDK_DISABLED"] = "true"


def _open_browser(access: Access, workspace: Workspace) -> None:
    """Open the address through a private file, so that no command line shows the token."""
    path, descriptor = workspace.new_file(".html")
    address = html.escape(access.address, quote=True)
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Shoal</title>'
        f'<meta http-equiv="refresh" content="0;url={address}">'
        f'<p><a href="{address}">Open Shoal</a></p></html>'
    )
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(page)

    def start() -> None:
        with suppress(Exception):  # the printed address remains
            webbrowser.open(path.as_uri())

    threading.Thread(target=start, daemon=True).start()


class _Server(uvicorn.Server):
    """A server that ends within seconds of Ctrl-C, also while a computation blocks it."""

    def __init__(self, app: Guard, workspace: Workspace) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                ws="wsproto",
                ws_max_size=_MAX_MESSAGE,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                lifespan="on",
            )
        )
        self.when_started: Callable[[], None] = lambda: None
        self._workspace = workspace
        self._asked = False

    def run_until_stopped(self, sockets: list[socket.socket]) -> None:
        """Serve until a signal arrives."""
        asyncio.run(self.serve(sockets))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce the address."""
        await super().startup(sockets)
        if self.started:
            self.when_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on Ctrl-C, on a request to end and when the terminal closes."""
        names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
        signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
        before = {number: signal.signal(number, self._stop) for number in signals}
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        woken = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        watch = threading.Thread(target=self._watch, args=(ours,), daemon=True)
        watch.start()
        try:
            yield
        finally:
            signal.set_wakeup_fd(woken)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, _: FrameType | None) -> None:
        if self._asked and number == signal.SIGINT:
            self.force_exit = True  # a second Ctrl-C does not wait for connections
        self._asked = self.should_exit = True

    def _watch(self, signals: socket.socket) -> None:
        """End the process if it does not stop; works while the main thread computes."""
        if not signals.recv(1):
            return
        self.should_exit = True
        threading.Event().wait(_LAST_SECONDS)
        jobs.stop_all()
        shutil.rmtree(self._workspace.path, ignore_errors=True)
        sys.stderr.flush()
        os._exit(0)
