"""The server of the web app: starts on this computer, prints its address, stops on Ctrl-C.

One browser may use it: the one that opens the printed address first.

    bind        a port on this computer only, under a random name below .localhost: cookies ignore
                ports, so pages of other programs would receive those of a shared name
    configure   logs with the kind and the place of an error, never a message that may hold cells
    build       the app behind its guard
    _Server     runs until a signal, and ends even while a computation blocks it
"""

from __future__ import annotations

import asyncio
import errno
import html
import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import threading
import traceback
import warnings
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.support.imports import requires
from shoal.web import jobs
from shoal.web.guard import Access, Guard
from shoal.web.project.project import Project
from shoal.web.project.topics import Topic
from shoal.web.text.common import PRODUCT
from shoal.web.uploads import Workspace, open_workspace

if TYPE_CHECKING:
    from types import FrameType


with requires("web"):
    import nicegui
    import uvicorn
    from fastapi import FastAPI
    from nicegui import background_tasks, ui

    from shoal.web import uploads
    from shoal.web.screens import layout


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
            say(f"Shoal is running at {access.address} (works once; Ctrl-C stops it)")
            if browser:
                _open_browser(access, workspace)

        server.when_started = announce
        jobs.use_workspace(workspace.path)
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
            jobs.keep_spare()

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
        # a signal wakes the watching thread through this pair, also while the main thread computes
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


_OWN = "shoal"


class DiscreetFormatter(logging.Formatter):
    """Formats a record without its message, unless Shoal wrote it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line: what happened and where.

        >>> record = logging.LogRecord("uvicorn", 40, "server.py", 7, "Alice is 31", (), None)
        >>> DiscreetFormatter().format(record)
        'shoal web: error in uvicorn (server.py:7)'
        """
        if record.exc_info and record.exc_info[1] is not None:
            return f"shoal web: {describe(record.exc_info[1])}"
        if isinstance(record.msg, BaseException):
            return f"shoal web: {describe(record.msg)}"
        if record.name.partition(".")[0] == _OWN:
            return f"shoal web: {record.getMessage()}"
        level = record.levelname.lower()
        return f"shoal web: {level} in {record.name} ({record.filename}:{record.lineno})"


def describe(error: BaseException) -> str:
    """Return the kind of an error and the last place in Shoal that it passed.

    >>> describe(ValueError("Alice is 31"))
    'ValueError'
    """
    places = [
        f"{frame.f_globals['__name__']}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).startswith("shoal.")
    ]
    return f"{type(error).__name__} at {places[-1]}" if places else type(error).__name__


def configure() -> None:
    """Send every log, warning and uncaught error of this process through the formatter.

    With SHOAL_TRACEBACK=1 they are shown in full, which may print cells.
    """
    if os.environ.get("SHOAL_TRACEBACK"):
        logging.basicConfig(level=logging.WARNING)
        return
    handler = logging.StreamHandler()
    handler.setFormatter(DiscreetFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in list(logging.root.manager.loggerDict):  # libraries come with handlers of their own
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.access").disabled = True
    logging.raiseExceptions = False  # would print the arguments of a malformed record
    warnings.showwarning = _show_warning
    sys.excepthook = _show_error
    sys.unraisablehook = lambda fault: _show(fault.exc_value)
    threading.excepthook = lambda fault: _show(fault.exc_value)


def _show(error: BaseException | None) -> None:
    if error is not None:
        sys.stderr.write(f"shoal web: {describe(error)}\n")


def _show_error(
    _: type[BaseException], error: BaseException, __: TracebackType | None = None
) -> None:
    _show(error)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    sys.stderr.write(f"shoal web: {category.__name__} ({os.path.basename(filename)}:{lineno})\n")  # noqa: PTH119


_LOOPBACK = "127.0.0.1"
_ATTEMPTS = 20


def bind(port: int = 0) -> tuple[list[socket.socket], int]:
    """Return sockets that listen on this computer only, and their port.

    Both loopback addresses are taken, so that no other program can answer under the app's name.

    Parameters:
        port: The port; 0 for any free one.

    >>> sockets, port = bind()
    >>> sorted({socket.getsockname()[0] for socket in sockets} - {"::1"}), port > 1023
    (['127.0.0.1'], True)
    >>> for each in sockets:
    ...     each.close()
    """
    for _ in range(_ATTEMPTS):
        first = _listen(socket.AF_INET, _LOOPBACK, port)
        chosen = int(first.getsockname()[1])
        if not _has_ipv6():
            return [first], chosen
        try:
            return [first, _listen(socket.AF_INET6, "::1", chosen)], chosen
        except InputError:
            first.close()
            if port:
                raise
    raise InputError("no free port was found; choose one with --port N")


def host_name() -> str:
    """Return a new name under .localhost, or 127.0.0.1 where the browser may not resolve it."""
    name = f"shoal-{secrets.token_hex(8)}.localhost"
    return name if sys.platform != "darwin" or _resolves_here(name) else _LOOPBACK


def _resolves_here(name: str) -> bool:
    """Return whether the system resolves a name to this computer; Safari asks the system."""
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(name, None)}
    except OSError:
        return False
    return found <= {_LOOPBACK, "::1"}


def _has_ipv6() -> bool:
    if not socket.has_ipv6:
        return False
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def _listen(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if sys.platform == "win32":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:  # a port may be used again right after a stop
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError as error:
        made.close()
        if error.errno == errno.EACCES:
            raise InputError(
                f"port {port} is reserved by the system; choose --port 1024 or more"
            ) from None
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} is used by another program; choose another with --port N, or leave "
                "the option out for a free one"
            ) from None
        raise InputError(f"port {port} cannot be opened; choose another with --port N") from None
    return made
