"""Differential privacy: what has to be declared before a private draw, and what it would claim."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from shoal.anonymize.lattice.safe_la import SafeLA
from shoal.errors import ShoalError
from shoal.privacy.expressions import parse
from shoal.web.project.feedback import Outlook
from shoal.web.text import private_draw as text

if TYPE_CHECKING:
    from shoal.web.project.columns import ColumnInfo
    from shoal.web.project.project import Project

STARTS: Mapping[str, float] = {"epsilon": 1.5, "beta": 0.5, "n0": 1_000}


def undeclared_columns(project: Project) -> list[ColumnInfo]:
    """Return the published columns whose possible values are not stated.

    Parameters:
        project: The project.
    """
    published = ("quasi", "sensitive", "insensitive")
    return [c for c in project.columns if c.role in published and not c.declared]


def bounds_of(column: ColumnInfo, low: str, high: str) -> dict[str, Any] | None:
    """Return the declaration of a column of numbers or dates; None if the bounds are unreadable.

    Parameters:
        column: The column.
        low: The least possible value as text.
        high: The greatest possible value as text.

    >>> from shoal.web.project.columns import ColumnInfo
    >>> bounds_of(ColumnInfo("age", "quasi", "quasi", type="whole number"), "0", "110")
    {'type': 'integer', 'bounds': [0, 110]}
    """
    kinds: dict[str, tuple[str, Any]] = {
        "whole number": ("integer", int),
        "date": ("date", lambda text: date.fromisoformat(text).isoformat()),
    }
    name, convert = kinds.get(column.type, ("float", float))
    try:
        bounds = [convert(low.strip()), convert(high.strip())]
    except ValueError:
        return None
    return {"type": name, "bounds": bounds} if bounds[0] < bounds[1] else None


def values_of(listed: str) -> dict[str, Any] | None:
    """Return the declaration of a category; None if there are fewer than two values.

    Parameters:
        listed: The possible values, separated by commas.

    >>> values_of("f, m")
    {'type': 'category', 'values': ['f', 'm']}
    """
    values = list(dict.fromkeys(each.strip() for each in listed.split(",") if each.strip()))
    return {"type": "category", "values": values} if len(values) > 1 else None


def foresee_draw(project: Project) -> Outlook:
    """Return what a private draw would claim, or what is missing; nothing is drawn.

    Parameters:
        project: The project.
    """
    names = [column.name for column in undeclared_columns(project)]
    if names:
        return Outlook(problem=text.undeclared(", ".join(names)))
    replaced = _replaced_identifiers(project) if project.budget is not None else []
    if replaced:
        return Outlook(problem=text.replaced(", ".join(replaced)))
    wanted = project.guarantee
    try:
        claim = SafeLA(**wanted.options).price(parse(str(wanted.model)))
    except ShoalError as error:
        return Outlook(problem=str(error))
    return Outlook(note=f"{claim}. {text.DRAWN}", exact=True)


def _replaced_identifiers(project: Project) -> list[str]:
    """Return the identifiers that are published in another form, which no draw on disk can have."""
    columns = (project.columns[name] for name in project.columns.names("identifier"))
    return [column.name for column in columns if column.replace is not None]
