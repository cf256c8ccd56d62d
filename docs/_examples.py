"""Run the examples of a page, in order and in one folder, and insert their outputs.

A fenced block is one of these:
- A block with a title is a file, which is written to the folder.
- A `python` block runs in the namespace of the page, as a doctest if it begins with `>>>`. A `text`
  block right after it shows its output.
- In a `console` block each line `$ shoal …` must end with status 0. Lines after it, if any, show
  its output. In a `text` block such a line must fail with status 1 or 2.
- Any other `text` block does not run.
`$ head -n N FILE`, `$ python FILE` and `$ python -m pytest FILE` work too. Any other program or
block is refused, and so is a Python file that no block runs or imports. An output that ends in a
line `…` is truncated there. Seconds may differ.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

WIDTH = 88
MORE = "…"
_TICKS = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_SECONDS = re.compile(r"\b\d+\.\d+ s\b")
_ONCE = "note: compiling the kernels once"


class ExampleFailed(AssertionError):  # noqa: N818
    """An example does not end as its page says."""


def refresh(page: str, folder: Path) -> str:
    """Return the page with current outputs; raise ExampleFailed if an example fails."""
    runner, fences = _Runner(), list(_FENCE.finditer(page))
    if len(_TICKS.findall(page)) != 2 * len(fences):
        raise ExampleFailed(
            "a fence does not begin its line, or is not closed: it would not be run"
        )
    _refuse_idle(fences)
    with _inside(folder):
        pieces, place = [], 0
        for fence in fences:
            between = page[place : fence.start()]
            body = runner.run(fence[1].strip(), fence[2], follows=not between.strip())
            pieces += [between, f"```{fence[1]}\n{body}```"]
            place = fence.end()
    return "".join(pieces) + page[place:]


def _refuse_idle(fences: list[re.Match[str]]) -> None:
    """Refuse a Python file that no other block of the page imports or runs."""
    for fence in fences:
        title = _TITLE.search(fence[1])
        if title and title[1].endswith(".py"):
            name, module = re.escape(title[1]), re.escape(title[1][:-3])
            used = rf"^(\$ python (-m pytest (-\S+ )*)?{name}|(import|from) {module}\b)"
            others = (other[2] for other in fences if other is not fence)
            if not any(re.search(used, text, re.MULTILINE) for text in others):
                raise ExampleFailed(f"{title[1]} is never run; add a line  $ python {title[1]}")


def alike(page: str) -> str:
    """Return a page without the figures that differ from run to run."""
    return _SECONDS.sub("0.00 s", page)


class _Runner:
    """Runs the blocks of one page; they share a namespace."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__page__"}
        self.printed = ""

    def run(self, info: str, body: str, *, follows: bool) -> str:
        """Run a block and return its body with the current output."""
        printed, self.printed = self.printed, ""
        language = info.split(" ", maxsplit=1)[0]
        title = _TITLE.search(info)
        if title:
            Path(title[1]).write_text(body, encoding="utf-8")
        elif language == "python":
            self.printed = self._python(body)
        elif language in ("console", "text") and body.startswith("$ "):
            return self._session(body, fails=language == "text")
        elif language == "text" and follows and printed:
            return _shown(body, printed)
        elif language != "text":
            raise ExampleFailed(f"no way to run a block that begins ```{info}; call it text")
        return body

    def _python(self, body: str) -> str:
        if body.startswith(">>>"):
            return self._doctest(body)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(body, "<page>", "exec"), self.namespace)
        return _tidy(out.getvalue())

    def _doctest(self, body: str) -> str:
        test = doctest.DocTestParser().get_doctest(body, self.namespace, "page", None, 0)
        failures = io.StringIO()
        outcome = doctest.DocTestRunner(verbose=False).run(
            test, out=failures.write, clear_globs=False
        )
        self.namespace.update(test.globs)
        if outcome.failed:
            raise ExampleFailed(failures.getvalue())
        return ""

    def _session(self, body: str, *, fails: bool) -> str:
        lines = []
        for command, output in _commands(body):
            words = shlex.split(command.replace("\\\n", " ")[2:], comments=True)
            if words[0] not in ("shoal", "head", "python"):
                raise ExampleFailed(f"{command}\nis no program that examples may use")
            status, printed = _call(words)
            if bool(status) is not fails or status not in (0, 1, 2):
                raise ExampleFailed(f"{command}\nended with status {status}:\n{printed}")
            lines.append(command + "\n" + (_shown(output, printed) if output.strip() else output))
        return "".join(lines)


def _commands(body: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a session, with its continued lines, and the output shown after it."""
    for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE)[1:]:
        command, _, rest = part.partition("\n")
        while command.endswith("\\"):
            more, _, rest = rest.partition("\n")
            command += "\n" + more
        yield command, rest


def _call(words: list[str]) -> tuple[int, str]:
    program, *arguments = words
    if program == "head":
        count, name = int(arguments[1]), arguments[2]
        return 0, "".join(Path(name).read_text(encoding="utf-8").splitlines(True)[:count])
    if program == "python":
        ended = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, check=False
        )
        return ended.returncode, _tidy(ended.stdout + ended.stderr)
    from shoal.cli import main
    from shoal.cli.shared import console

    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.object(console.out, "_width", WIDTH),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            main()
            status: Any = 0
        except SystemExit as end:
            status = end.code
    return int(status or 0), _tidy(printed.getvalue())


def _tidy(text: str) -> str:
    """Return printed text without colours, trailing blanks and the note of a first run."""
    lines = [line.rstrip() for line in _COLOUR.sub("", text).splitlines()]
    kept = [line for line in lines if not line.startswith(_ONCE)]
    return "\n".join(kept).strip("\n") + "\n"


def _shown(old: str, printed: str) -> str:
    """Return the part of the output that the page shows; the old text if only seconds differ."""
    ends = old.endswith("\n\n")
    lines = old.rstrip("\n").splitlines()
    if lines and lines[-1] == MORE:
        printed = "\n".join([*printed.splitlines()[: len(lines) - 1], MORE]) + "\n"
    if alike(old.rstrip("\n")) == alike(printed.rstrip("\n")):
        return old
    return printed + ("\n" if ends else "")


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
