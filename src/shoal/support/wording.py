"""Parts of messages and reports: how options, counts, shares, lists and names are written.

    messages    `option`, `counted`, `percent_of`, `listed_names`, `describe_exit`, …
    secrets     `without_secrets` hides user, password and query of every address in a message
    notebooks   `html_table`: a small table, every text escaped
    JSON        `plain`: any result as plain data

Only the standard library: errors are worded here, so nothing of Shoal can be imported.
"""

from __future__ import annotations

import math
import re
import shlex
import signal
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from typing import Any

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]+:/+"  # a path has one of the two slashes; one letter is a drive
_USER = re.compile(rf"({_SCHEME})(?:(?!{_SCHEME})[^\n])*@")
# the rest of a database address is its host; host/database stands for an address in advice
_DATABASE = re.compile(
    r"(postgres(?:ql)?(?:\+\w+)?:/+)(?!/|host/database)\S*?(?=[:;,.'\")]*(?:\s|$))", re.IGNORECASE
)
_QUERY = re.compile(rf"({_SCHEME}[^\s?;#&]*)(?:\?|[;#&](?=[^\s/]*=))\S*?(?=[:;,.'\")]*(?:\s|$))")
_command_line = ContextVar("whether options are named as on the command line", default=False)


@contextmanager
def naming_command_line_options() -> Iterator[None]:
    """Name options in messages, inside the block, as on the command line."""
    token = _command_line.set(True)
    try:
        yield
    finally:
        _command_line.reset(token)


def option(name: str, value: str | bool | Sequence[str] | None = None) -> str:
    """Return an option as the user of this process writes it.

    Parameters:
        name: The name in Python.
        value: The value to show; None shows only that a value is needed.

    >>> option("force", True), option("decimal", ","), option("person")
    ('force=True', "decimal=','", 'person=…')
    >>> with naming_command_line_options():
    ...     option("force", True), option("header", False), option("dates", "D M"), option("person")
    ('--force', '--no-header', "--dates 'D M'", '--person')
    """
    if not _command_line.get():
        return f"{name}={'…' if value is None else repr(value)}"
    flag = f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
    if value is None or isinstance(value, bool):
        return flag
    text = value if isinstance(value, str) else ",".join(value)
    return f"{flag} {shlex.quote(text)}"


def without_secrets(message: str) -> str:
    """Return a message in which addresses show neither user and password nor a query.

    Of the address of a database, only the scheme is shown.

    >>> without_secrets("s3a://KEY:SECRET@clinic/a.csv: no such file; check the path")
    's3a://…@clinic/a.csv: no such file; check the path'
    >>> without_secrets("https://clinic/a.csv?sig=SECRET, jdbc:sqlserver://host;password=SECRET")
    'https://clinic/a.csv?…, jdbc:sqlserver://host?…'
    >>> without_secrets("postgresql://clerk@clinic/visits: has none of the columns age")
    'postgresql://…: has none of the columns age'
    """
    if ":/" not in message:
        return message
    return _DATABASE.sub(r"\1…", _QUERY.sub(r"\1?…", _USER.sub(r"\1…@", message)))


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun and a thousands separator.

    Parameters:
        many: The plural; by default the regular one.

    >>> counted(1, "record"), counted(2000, "class"), counted(0, "person", "people")
    ('1 record', '2,000 classes', '0 people')
    >>> counted(1, "row is", "rows are")
    '1 row is'
    """
    regular = f"{one}es" if one.endswith("s") else f"{one}s"
    return f"{count:,} {one if count == 1 else many or regular}"


def people_in_rows(people: int, rows: int) -> str:
    """Return the numbers of people and rows; records if each row is one person.

    >>> people_in_rows(1204, 6010), people_in_rows(1, 5), people_in_rows(7, 7)
    ('1,204 people in 6,010 rows', '1 person in 5 rows', '7 records')
    """
    if people == rows:
        return counted(rows, "record")
    return f"{counted(people, 'person', 'people')} in {counted(rows, 'row')}"


def rows_about(rows: int, people: int, kind: str = "") -> str:
    """Return the number of rows of a kind and the number of people they are about.

    >>> rows_about(6010, 1204, "released"), rows_about(7, 7, "raw"), rows_about(7, 7)
    ('6,010 released rows about 1,204 people', '7 raw records', '7 records')
    """
    before = f"{kind} " if kind else ""
    if people == rows:
        return counted(rows, f"{before}record")
    return f"{counted(rows, f'{before}row')} about {counted(people, 'person', 'people')}"


_STROKES = str.maketrans("łøđı", "lodi")  # letters that are not a letter and an accent


def folded_name(name: str) -> str:
    """Return a column name in lower case, without accents, with underscores between words.

    >>> folded_name(" Straße"), folded_name("birthDate"), folded_name("Âge (années)")
    ('strasse', 'birth_date', 'age_annees_')
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).casefold()
    # accents become characters of their own
    letters = unicodedata.normalize("NFKD", apart.translate(_STROKES))
    bare = "".join(sign for sign in letters if not unicodedata.combining(sign))
    return re.sub(r"[\W_]+", "_", bare)


def percent_of(part: int, total: int) -> str:
    """Return a share in whole percent; "0 %" is none and "100 %" is all.

    >>> percent_of(1, 3), percent_of(1, 2000), percent_of(1999, 2000), percent_of(0, 9)
    ('33 %', 'under 1 %', 'over 99 %', '0 %')
    """
    percent = round(100 * part / max(total, 1))
    if part and not percent:
        return "under 1 %"
    if part < total and percent == 100:
        return "over 99 %"
    return f"{percent} %"


def count_of(part: int, total: int) -> str:
    """Return a number of people out of a total, with its share.

    >>> count_of(9163, 9290)
    '9,163 of 9,290 people (99 %)'
    """
    return f"{part:,} of {counted(total, 'person', 'people')} ({percent_of(part, total)})"


def listed_names(names: Sequence[str], most: int | None = None) -> str:
    """Return names as a list in a sentence, at most `most` of them.

    >>> listed_names(["age"]), listed_names(["age", "zip", "sex"]), listed_names("abcd", 2)
    ('age', 'age, zip and sex', 'a, b and 2 more')
    """
    if most is not None and len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def describe_exit(status: int) -> str:
    """Return how a process ended, from its exit status.

    Parameters:
        status: The status; a negative one is the number of the signal that ended it.

    >>> describe_exit(3), describe_exit(-15)
    ('the process exited with status 3', 'the process was killed by SIGTERM')
    """
    if status >= 0:
        return f"the process exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    cause = ", possibly out of memory" if name == "SIGKILL" else ""
    return f"the process was killed by {name}{cause}"


def html_table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    note: str | Sequence[str] = "",
) -> str:
    """Return a table with a caption above it and a note, or a list of notes, below it.

    >>> html_table("a < b", ["n"], [[1]])
    '<div><p><strong>a &lt; b</strong></p><table><thead><tr><th>n</th></tr></thead>\
<tbody><tr><td>1</td></tr></tbody></table></div>'
    """
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_text(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    below = f"<p>{escape(note)}</p>" if note and isinstance(note, str) else ""
    if note and not isinstance(note, str):
        below = f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in note)}</ul>"
    return (
        f"<div><p><strong>{escape(caption)}</strong></p>"
        f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def html_rows(caption: str, data: Any, note: str = "") -> str:
    """Return an Arrow table as `html_table` does."""
    rows = zip(*(column.to_pylist() for column in data.columns), strict=True)
    return html_table(caption, data.column_names, rows, note)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def plain(value: Any) -> Any:
    """Return a value as plain data for JSON.

    Infinity and NaN become null, a function or class its qualified name, anything else its text.

    >>> plain({"k": (5, float("nan")), "method": dict, "role": complex(1)})
    {'k': [5, None], 'method': 'builtins.dict', 'role': '(1+0j)'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
