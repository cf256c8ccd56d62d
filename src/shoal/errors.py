"""Everything Shoal raises on purpose, in one tree.

    ShoalError
    ├── InputError        the input or an option is wrong             exit status 2  (ValueError)
    │   ├── UnknownColumn   no column of that name                               (KeyError)
    │   ├── HierarchyError  a hierarchy lacks values or is not nested
    │   ├── RepeatedIdentifier  several rows about one person, and no person column
    │   └── OutputError     a file cannot be written                             (OSError)
    ├── MissingExtra      an optional dependency is not installed     exit status 2  (ImportError)
    ├── Infeasible        no release can meet the model               exit status 1
    ├── NotConverged      a sampled figure did not settle             exit status 1
    ├── NotAnonymous      a release broke its model; nothing left     exit status 1
    └── BudgetSpent       a release would cost more than was granted  exit status 1

A message names files, columns, row numbers and counts, never a cell value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar


class ShoalError(Exception):
    """Anything Shoal refuses to do, in one sentence."""

    exit_status: ClassVar[int] = 2


class InputError(ShoalError, ValueError):
    """The input or an option is wrong; the message says what to do."""


class HierarchyError(InputError):
    """A hierarchy does not fit.

    missing: ground values without an entry.
    torn: labels of a level whose members part again at the next one.
    Both are for the owner's eyes (`shoal hierarchy check`); the message only counts them.
    """

    def __init__(
        self, message: str, missing: Sequence[str] = (), torn: Sequence[tuple[int, str]] = ()
    ) -> None:
        super().__init__(message)
        self.missing = tuple(missing)
        self.torn = tuple(torn)


class RepeatedIdentifier(InputError):  # noqa: N818
    """Several rows carry one identifier, and the table does not say who the people are.

    column: the identifier; distinct: its distinct values; filled: the rows that have one.
    """

    def __init__(self, column: str, distinct: int, filled: int) -> None:
        self.column, self.distinct, self.filled = column, distinct, filled
        super().__init__(self.advice(f"person={column!r}", "rows_are_people=True"))

    def advice(self, person: str, rows: str) -> str:
        """Return the message, with both ways out as the user would write them."""
        return (
            f"column {self.column!r} has {self.distinct:,} distinct values in {self.filled:,} "
            "rows, so some people have several rows; declare who they are with "
            f"{person}, or state with {rows} that every row is a different person"
        )


class UnknownColumn(InputError, KeyError):  # noqa: N818
    """A column is named that the table does not have."""

    __str__ = Exception.__str__  # KeyError would quote the message


class OutputError(InputError, OSError):
    """A file cannot be written where it was asked for."""


class MissingExtra(ShoalError, ImportError):  # noqa: N818
    """An optional dependency is needed and absent."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs {package}; install it with: pip install 'shoal-privacy[{extra}]'"
        )


class Infeasible(ShoalError):  # noqa: N818
    """No release of this table meets the model by this method."""

    exit_status = 1


class NotConverged(ShoalError):  # noqa: N818
    """A figure that is found by sampling did not settle, so it is not told."""

    exit_status = 1


class NotAnonymous(ShoalError):  # noqa: N818
    """A finished release failed its own check, so it was withheld."""

    exit_status = 1


class BudgetSpent(ShoalError):  # noqa: N818
    """A release would cost more than the ledger grants, so it was refused before any noise."""

    exit_status = 1


def unknown(what: str, name: object, known: Iterable[str]) -> InputError:
    """Return the error of a name that is none of those known, with the nearest of them.

    >>> unknown("no method", "flsh", ["flash", "ola"])
    InputError("no method 'flsh' (did you mean 'flash'?); there are flash, ola")
    """
    names = [str(each) for each in known]
    return InputError(
        f"{what} {name!r}{meant(name, names)}; there are {', '.join(names) or 'none'}"
    )


def meant(name: object, known: Iterable[str]) -> str:
    """Return the nearest of the known names as a question, "" where none is near.

    >>> meant("AGE", ["age", "sex"])
    " (did you mean 'age'?)"
    """
    from difflib import get_close_matches

    folded = {each.casefold(): each for each in known}
    near = get_close_matches(str(name).casefold(), list(folded), n=1)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""
