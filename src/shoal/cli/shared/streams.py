"""The standard streams of a command: every character prints, and failures are handled.

A character that the terminal's encoding lacks is spelled out. A failing output stream raises
`OutputFailed`; a failing error stream is ignored, because no message could be printed.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, TextIO, cast

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
