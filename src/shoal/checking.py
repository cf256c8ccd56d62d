"""A check for pipelines: raise an error if a data frame or file violates a guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.anonymize import check_askable
from shoal.anonymize.requests import as_model
from shoal.core.classes import Classes
from shoal.core.column import Kind, Role
from shoal.core.linked_rows import link_sets
from shoal.core.publishing.frames import from_frame, is_spark_frame
from shoal.core.roles import as_names
from shoal.core.table import Table
from shoal.core.verification import Verification, covers_rows, judge
from shoal.errors import InputError, NotAnonymous
from shoal.privacy.model import Model
from shoal.support.wording import counted


def check(
    data: Any,
    model: Model | str | None = None,
    *,
    k: int | None = None,
    quasi: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    household: str | Sequence[str] = (),
    linked: bool = True,
) -> Verification:
    """Check that published rows meet a guarantee, and raise if they do not.

    Cells are equal only if their text is equal: `[30, 40]` and `35` are different. The check counts
    rows unless `person` names the column that identifies people. Such a column links the rows of a
    person, so the guarantee must then hold for all rows of a person together.

    Parameters:
        data: A data frame, or the path of a CSV, Parquet or JSON lines file. The classes of a frame
            of Spark are counted there, and `person` needs `linked=False`.
        model: The guarantee: a privacy model, or its text such as `"l-diversity(3, disease)"`.
        k: Adds k-anonymity to the guarantee; without a model, it is the whole guarantee.
        quasi: Columns that others may know about a person.
        sensitive: Sensitive columns, in addition to those that the model names.
        person: Columns that identify the person behind a row.
        household: Columns that identify the household.
        linked: With False, the columns of `person` are only there to count people and will be
            removed before the rows are published: each row then counts on its own.

    Returns:
        The result: the number of classes, the smallest class, and the level of each model.

    Raises:
        NotAnonymous: The guarantee does not hold; the message counts the failing classes and rows.

    >>> import pyarrow as pa
    >>> published = pa.table({"age": ["30-39", "30-39", "40-49", "40-49"]})
    >>> check(published, k=2, quasi="age").smallest
    2
    >>> check(published, k=3, quasi="age")
    Traceback (most recent call last):
    shoal.errors.NotAnonymous: k-anonymity(k=3) does not hold: 2 of 2 classes break it (4 of 4 rows)
    """
    wanted = as_model(model, k)
    roles = _roles(as_names(quasi), as_names(sensitive), wanted)
    units = {"person": as_names(person), "household": as_names(household)}
    if is_spark_frame(data):
        outcome = _judge_in_spark(data, roles, units, wanted, linked=linked)
    else:
        table = _published(data, roles, as_names(quasi), **units)
        check_askable(table, wanted)
        if linked and table.person is not None:
            table = link_sets(table, table.person.ids, as_profiles=not covers_rows(wanted))
        outcome = judge(Classes.by_quasi(table), wanted)
    if not outcome:
        verb = "breaks" if outcome.failing == 1 else "break"
        raise NotAnonymous(
            f"{wanted} does not hold: {outcome.failing:,} of "
            f"{counted(outcome.classes, 'class')} {verb} it "
            f"({outcome.failing_records:,} of {counted(outcome.records, 'row')})"
        )
    return outcome


def _roles(quasi: Sequence[str], sensitive: Sequence[str], model: Model) -> dict[str, Any]:
    """Return the specification of each column that the check reads."""
    if not quasi:
        raise InputError("no quasi-identifier is given; name at least one column with quasi=[…]")
    named = [getattr(part, "column", None) for part in model.parts]
    guarded = dict.fromkeys([*sensitive, *(name for name in named if name and name not in quasi)])
    roles: dict[str, Any] = {name: {"role": Role.QUASI, "kind": Kind.NOMINAL} for name in quasi}
    return roles | {name: {"role": Role.SENSITIVE} for name in guarded}


def _published(data: Any, roles: dict[str, Any], quasi: Sequence[str], **units: Any) -> Table:
    """Return the published rows as a table whose quasi-identifiers are plain text."""
    if isinstance(data, (str, Path)):
        from shoal.reading import Format, read_arrow

        data = read_arrow(Path(data), Format(), quasi, expected=quasi)
    return Table.from_arrow(from_frame(data), roles, rows_are_people=not units["person"], **units)


def _judge_in_spark(
    frame: Any,
    roles: dict[str, Any],
    units: dict[str, tuple[str, ...]],
    model: Model,
    *,
    linked: bool,
) -> Verification:
    """Check a frame of Spark, whose rows stay there."""
    from shoal.engines.spark.looking import counted_in_spark

    if units["person"] and linked:
        raise InputError(
            "person links the rows of a frame of Spark, which is checked only in memory; state "
            "linked=False if the column will be removed before publication"
        )
    if not all(part.by_class for part in model.parts):
        raise InputError(
            f"{model} compares single rows, which is checked only in memory; use k-anonymity"
        )
    with counted_in_spark(frame, roles, units) as classes:
        return judge(classes, model)
