"""What every command shares: printing, progress bars, notes."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from shoal.cli.streams import encodable, spelled
from shoal.core.wording import counted
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.progress import Progress


# names of files and columns are shown as they are: no markup in them, no emoji codes
out = Console(highlight=False, soft_wrap=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def emit(as_json: bool, data: Mapping[str, Any], show: Callable[[], None]) -> None:
    """Print data as JSON, or let `show` draw it."""
    if as_json:
        text = json.dumps(plain(data), indent=2, ensure_ascii=False)
        if not encodable(text, sys.stdout):
            text = json.dumps(plain(data), indent=2)
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    else:
        show()


def one_line(message: object) -> str:
    """Return a message without line breaks and control signs that a name in it may hold."""
    return "".join(sign if sign.isprintable() else " " for sign in str(message))


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; infinity and NaN become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def grid(*headings: str, title: str | None = None) -> Grid:
    """Return an empty table in the house's look; without any heading it has no such line."""
    table = Grid(
        title=title,
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
        show_header=any(headings),
    )
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def verdict(model: str, kept: bool, told: str, warnings: Sequence[str] = ()) -> Text:
    """Return a model with its outcome, green only if nothing beside it needs attention."""
    colour = "red" if not kept else "yellow" if warnings else "green"
    if kept and warnings:
        told += f", with {counted(len(warnings), 'warning')}"
    return Text.assemble((model, "bold"), "  ", (told, colour))


def show_warnings(
    warnings: Sequence[str], console: Console | None = None, *, heading: str = ""
) -> None:
    """Print what a guarantee does not cover, one indented line each, below a heading."""
    if warnings and heading:
        (console or out).print(heading)
    for each in warnings:
        line = Text.assemble(("warning: ", "yellow"), one_line(each))
        (console or out).print(Padding(line, (0, 0, 0, 2)))


def note(message: str) -> None:
    """Tell the user something in passing."""
    err.print(f"note: {one_line(message)}")


def say_compiling() -> None:
    """Say why this run takes longer."""
    note("compiling the kernels once, up to half a minute; later runs start at once")


@contextmanager
def compiling_told(*, quiet: bool = False) -> Iterator[None]:
    """Say so once, when a kernel has to be compiled inside and can be kept."""
    if quiet:
        yield
        return
    from shoal.core.compiling import are_kept, event

    class Teller(event.Listener):  # type: ignore[misc]
        told = False

        def on_start(self, _: Any) -> None:
            if not self.told:
                self.told = True
                if are_kept():
                    say_compiling()

        def on_end(self, _: Any) -> None:
            pass

    with event.install_listener("numba:compile", Teller()):
        yield


def tell_of_compiling(methods: Sequence[str]) -> None:
    """Say so before other processes run the methods, where any has not been run before."""
    if not all(is_compiled(method) for method in methods):
        say_compiling()


def is_compiled(method: str) -> bool:
    """Whether kernels of the method's family lie in the cache, or it has none to compile."""
    from shoal.anonymize import METHODS

    if method not in METHODS:
        return True
    folder = Path(str(sys.modules[METHODS[method].__module__].__file__)).parent
    kernels = [path for path in folder.glob("_*.py") if path.name != "__init__.py"]
    stated = os.environ.get("NUMBA_CACHE_DIR")
    if stated:
        return not kernels or any(Path(stated).glob(f"{folder.name}_*/*.nbi"))
    # numba keeps them elsewhere where it may not write: nothing is said then
    settled = not kernels or not os.access(folder, os.W_OK)
    return settled or any((folder / "__pycache__").glob("*.nbi"))


@contextmanager
def noting_unkept_kernels() -> Iterator[None]:
    """Print the warning that compiled kernels cannot be kept as a note, wherever it arises."""
    show = warnings.showwarning

    def showwarning(
        message: Warning | str, category: type[Warning], *place: Any, **more: Any
    ) -> None:
        if category.__name__ == "KernelsNotKept":  # numba is loaded by the work that needs it
            note(str(message))
        else:
            show(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.showwarning = showwarning
        yield


@contextmanager
def notes(*, unless: type[Warning] | None = None) -> Iterator[None]:
    """Print Python warnings raised inside as notes, each once, `unless` of a kind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if unless is not None:
            warnings.simplefilter("ignore", unless)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        note(message)


@contextmanager
def bars() -> Iterator[None]:
    """Draw progress reported inside, on the error stream and only for people."""
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    from shoal.core.progress import listening

    spinner = SpinnerColumn("dots" if encodable("⠋", sys.stderr) else "line")
    columns = (spinner, TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=err, transient=True, disable=not err.is_terminal) as drawn:
        tasks: dict[str, Any] = {}

        def listener(event: Progress) -> None:
            if event.stage not in tasks:
                tasks[event.stage] = drawn.add_task(event.stage, total=event.total)
            drawn.update(tasks[event.stage], completed=event.done, total=event.total)

        with listening(listener):
            yield


@contextmanager
def about(file: Path) -> Iterator[None]:
    """Say of the file what is found wrong inside."""
    try:
        yield
    except InputError as error:
        error.args = (f"{file}: {error}", *error.args[1:])
        raise


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names for people, the first few of many."""
    told = ", ".join(names[:most])
    return told if len(names) <= most else f"{told} and {len(names) - most:,} more"


def shown(text: str) -> str:
    """Return a text as the output stream shows it, so that columns are as wide as they look."""
    return text if encodable(text, sys.stdout) else spelled(text, sys.stdout)


def number(value: float) -> str:
    """Return a number for people: four significant digits, thousands apart."""
    if math.isinf(value):
        return shown("∞" if value > 0 else "-∞")
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.4g}"


def share(value: float) -> str:
    """Return a share 0–1 for people."""
    return f"{value:.4f}"
