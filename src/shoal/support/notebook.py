"""Small HTML tables for notebooks, with every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], note: str = ""
) -> str:
    """Return a table with a caption above it and a note below it.

    >>> html_table("a < b", ["n"], [[1]])
    '<div><p><strong>a &lt; b</strong></p><table><thead><tr><th>n</th></tr></thead>\
<tbody><tr><td>1</td></tr></tbody></table></div>'
    """
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_text(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    below = f"<p>{escape(note)}</p>" if note else ""
    return (
        f"<div><p><strong>{escape(caption)}</strong></p>"
        f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def html_rows(caption: str, data: Any, note: str = "") -> str:
    """Return the rows of an Arrow table the same way."""
    rows = zip(*(column.to_pylist() for column in data.columns), strict=True)
    return html_table(caption, data.column_names, rows, note)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
