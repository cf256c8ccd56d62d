"""Output of all commands: tables, notes, progress bars, JSON, and streams that always print.

A name of a file, column or value can never control the terminal: control characters are escaped on
the way out. A character that the terminal's encoding lacks is spelled out. A failing output stream
raises `OutputFailed`; a failing error stream is ignored, because no message could be printed.

    emit            results for people on the output stream, or as JSON
    grid, verdict   the tables and lines that results consist of
    note, notes     remarks on the error stream, also for Python warnings
    bars            the progress of long work, on a terminal
    guarded         both streams, wrapped for the time of a command
"""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast
from unicodedata import category

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from shoal._compat.kernel_files import KernelsNotKept, has_kernels_beside, has_kernels_in
from shoal.errors import InputError
from shoal.support.wording import counted, plain, without_secrets

if TYPE_CHECKING:
    from shoal.support.progress import Progress


class PlainConsole(Console):
    """A console on which names of files, columns and values cannot control the terminal.

    Control characters, escape sequences, marks that reorder text and characters that cannot be
    seen are shown as escapes, and so are line breaks inside a text. Names have no markup or emoji.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text with escapes, so that tables have room for them."""
        # line breaks at both ends are spacing of the caller; those inside come from names and
        # values
        start, end = len(text) - len(text.lstrip("\n")), len(text.rstrip("\n"))
        inside = escaped(text[start:end], line_breaks=True)
        return super().render_str(text[:start] + inside + text[max(start, end) :], **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Yield what is printed; texts that were not rendered from strings are escaped here."""
        for segment in super().render(renderable, options):
            if segment.control:  # written by rich, for progress bars
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)


class PlainGrid(Grid):
    """A table whose cells are one line each."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row; line breaks in names and values are shown as escapes."""
        shown = (
            escaped(each, line_breaks=True) if isinstance(each, str) else each for each in cells
        )
        super().add_row(*shown, **options)


def escaped(text: str, *, line_breaks: bool = False) -> str:
    """Return a text with the characters escaped that a terminal would obey or cannot show."""
    if text.isprintable():
        return text
    return "".join(
        each
        if each.isprintable() or (each == "\n" and not line_breaks) or category(each) == "Zs"
        else ascii(each)[1:-1]
        for each in text
    )


out = PlainConsole(soft_wrap=False)
err = PlainConsole(stderr=True, soft_wrap=True)


def emit(as_json: bool, data: Mapping[str, Any], show: Callable[[], None]) -> None:
    """Print data as JSON, or call `show` to print it for people."""
    if as_json:
        text = json.dumps(plain(data), indent=2, ensure_ascii=False)
        # ASCII escapes mean the same to a JSON parser and cannot control a terminal
        if escaped(text) != text or not encodable(text, sys.stdout):
            text = json.dumps(plain(data), indent=2).replace("\x7f", "\\u007f")
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    else:
        show()


def discard_unwritten() -> None:
    """Discard the text of a failed print, which rich would print before the next one."""
    with suppress(OutputFailed), out.capture():
        pass


def one_line(message: object) -> str:
    """Return a message on one line, with control characters escaped and addresses masked."""
    return without_secrets(escaped(" ".join(str(message).splitlines())))


def grid(*headings: str, title: str | None = None) -> PlainGrid:
    """Return an empty table in the common style; without any heading it has no header."""
    table = PlainGrid(
        title=title,
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
        show_header=any(headings),
    )
    for heading in headings:
        table.add_column(escaped(heading, line_breaks=True), overflow="fold")
    return table


def verdict(model: str, kept: bool, outcome: str, warnings: Sequence[str] = ()) -> Text:
    """Return a model with its outcome, green only if it holds without warnings."""
    colour = "red" if not kept else "yellow" if warnings else "green"
    if kept and warnings:
        outcome += f", with {counted(len(warnings), 'warning')}"
    return Text.assemble((escaped(model, line_breaks=True), "bold"), "  ", (outcome, colour))


def show_warnings(
    warnings: Sequence[str], console: Console | None = None, *, heading: str = ""
) -> None:
    """Print risks that a guarantee does not cover, one indented line each, below a heading."""
    if warnings and heading:
        (console or out).print(heading)
    for each in warnings:
        line = Text.assemble(("warning: ", "yellow"), one_line(each))
        (console or out).print(Padding(line, (0, 0, 0, 2)))


def note(message: str) -> None:
    """Print a note on the error stream."""
    err.print(f"note: {one_line(message)}")


@contextmanager
def announce_compilation(*, quiet: bool = False) -> Iterator[None]:
    """Print a note if a kernel is compiled inside, unless an earlier command has printed it."""
    if quiet:
        yield
        return
    from shoal._compat.numba import listen_to_compilation
    from shoal.support.compiling import are_kept

    announced = False

    def announce() -> None:
        nonlocal announced
        if not announced and are_kept():
            note_compilation()
        announced = True

    with listen_to_compilation(announce):
        yield


def announce_compilation_of(methods: Sequence[str]) -> None:
    """Print a note before other processes run the methods, if any has uncompiled kernels."""
    if not all(is_compiled(method) for method in methods):
        note_compilation()


def note_compilation() -> None:
    """Print why this run takes longer, once for all commands."""
    from shoal.support.compiling import is_first_compilation

    if is_first_compilation():
        note(
            "kernels are compiled when they are first used, which takes up to half a minute; "
            "`shoal warm` compiles all of them now"
        )


def is_compiled(method: str) -> bool:
    """Return whether the kernels of the method's family are stored, or there are none."""
    from shoal.methods.registry import METHODS

    if method not in METHODS or has_installed_kernels():
        return True
    folder = Path(str(sys.modules[METHODS[method].__module__].__file__)).parent
    kernels = [path for path in folder.glob("_*.py") if path.name != "__init__.py"]
    # numba stores kernels in this folder, or else next to the module
    stated = os.environ.get("NUMBA_CACHE_DIR")
    if stated:
        return not kernels or has_kernels_in(Path(stated), folder)
    # if the folder is read-only, numba caches elsewhere: print no note
    settled = not kernels or not os.access(folder, os.W_OK)
    return settled or has_kernels_beside(folder)


def has_installed_kernels() -> bool:
    """Return whether Shoal was installed with compiled kernels that fit this platform."""
    from shoal.support.compiling import installed_kernels

    return installed_kernels() is not None


@contextmanager
def noting_unkept_kernels() -> Iterator[None]:
    """Print the warning that compiled kernels cannot be cached as a note."""
    show = warnings.showwarning

    def showwarning(
        message: Warning | str, category: type[Warning], *place: Any, **more: Any
    ) -> None:
        if issubclass(category, KernelsNotKept):
            note(str(message))
        else:
            show(one_line(message), category, *place, **more)

    with warnings.catch_warnings():
        warnings.showwarning = showwarning
        yield


@contextmanager
def notes(*, unless: type[Warning] | None = None) -> Iterator[None]:
    """Print Python warnings raised inside as notes, each once, except those of a class."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if unless is not None:
            warnings.simplefilter("ignore", unless)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        note(message)


@contextmanager
def bars() -> Iterator[None]:
    """Draw the progress reported inside, on the error stream of a terminal."""
    if not err.is_terminal:  # older versions of rich print an empty line
        yield
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    from shoal.support.progress import listening

    spinner = SpinnerColumn("dots" if encodable("⠋", sys.stderr) else "line")
    columns = (
        spinner,
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=err, transient=True) as drawn:
        tasks: dict[str, Any] = {}

        def listener(event: Progress) -> None:
            # a stage is announced by its first event, and its total may change later
            if event.stage not in tasks:
                stage = escaped(event.stage, line_breaks=True)
                tasks[event.stage] = drawn.add_task(stage, total=event.total)
            drawn.update(tasks[event.stage], completed=event.done, total=event.total)

        with listening(listener):
            yield


@contextmanager
def about(file: Path) -> Iterator[None]:
    """Prefix the file to the message of an input error raised inside."""
    try:
        yield
    except InputError as error:
        error.args = (f"{file}: {error}", *error.args[1:])
        raise


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names separated by commas, the first few if there are many."""
    first = ", ".join(names[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most:,} more"


def shown(text: str) -> str:
    """Return a text as the output stream prints it, so that column widths are right."""
    return text if encodable(text, sys.stdout) else spelled(text, sys.stdout)


def number(value: float) -> str:
    """Return a number with four significant digits and thousands separators."""
    if math.isinf(value):
        return shown("∞" if value > 0 else "-∞")
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.4g}"


def share(value: float) -> str:
    """Return a share from 0 to 1 with four decimal places."""
    return f"{value:.4f}"


CLOSED_PIPE = 141  # the exit status of a program ended by SIGPIPE
_FAILED = 4
_SPELLINGS = str.maketrans(
    {
        "∞": "inf",
        "×": "x",
        "·": "*",
        "≥": ">=",
        "≤": "<=",
        "≠": "!=",
        "≈": "~",
        "±": "+/-",
        "−": "-",
        "–": "-",
        "—": "-",
        "…": "...",
        "→": "->",
        "✓": "yes",
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "′": "'",
        "²": "^2",
        "√": "sqrt",
        "½": "1/2",
        "α": "alpha",
        "β": "beta",
        "γ": "gamma",
        "δ": "delta",
        "Δ": "Delta",
        "ε": "epsilon",
        "θ": "theta",
        "λ": "lambda",
        "π": "pi",
        "Σ": "sum",
        "Ψ": "Psi",
        "─": "-",
        "━": "-",
        "│": "|",
    }
)


class OutputFailed(Exception):  # noqa: N818
    """The output stream cannot be written to.

    status: the exit status of a command whose output stream failed.
    """

    def __init__(self, error: OSError | ValueError) -> None:
        number = error.errno if isinstance(error, OSError) else errno.EBADF
        self.status = CLOSED_PIPE if number == errno.EPIPE else _FAILED
        super().__init__(
            f"the output stream cannot be written to ({os.strerror(number or errno.EIO)}); "
            "the output files of the command were written"
        )


@contextmanager
def guarded() -> Iterator[None]:
    """Guard both streams inside the block; a stream closed from the start discards its input."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        output, errors = _Output(sys.stdout or nowhere), _Stream(sys.stderr or nowhere)
        with redirect_stdout(cast(TextIO, output)), redirect_stderr(cast(TextIO, errors)):
            yield


def encodable(text: str, stream: Any) -> bool:
    """Return whether the stream's encoding has every character of a text."""
    escaped = getattr(stream, "errors", None) == "surrogateescape"  # for names of files
    try:
        text.encode(_encoding(stream), "surrogateescape" if escaped else "strict")
    except UnicodeEncodeError:
        return False
    return True


def spelled(text: str, stream: Any) -> str:
    """Return a text in the characters that the stream's encoding has."""
    lacking = {ord(sign): sign for sign in set(text) if not encodable(sign, stream)}
    return text.translate(
        {
            code: _SPELLINGS.get(code) or sign.encode("ascii", "backslashreplace").decode()
            for code, sign in lacking.items()
        }
    )


def _encoding(stream: Any) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


class _Stream:
    """A text stream with a guarded `write` and `flush`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text; characters that the encoding lacks are spelled out."""
        if not encodable(text, self._stream):
            text = spelled(text, self._stream)
        try:
            return self._stream.write(text)
        except (OSError, ValueError) as error:  # ValueError: the stream is closed
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._fail(error)

    def _fail(self, error: OSError | ValueError) -> None:
        """Discard the buffer, which would fail again when the interpreter exits."""
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


class _Output(_Stream):
    def _fail(self, error: OSError | ValueError) -> None:
        super()._fail(error)
        raise OutputFailed(error) from None
