"""The errors that Shoal raises, in one tree.

    ShoalError
    ├── InputError        the input or an option is wrong             exit status 2  (ValueError)
    │   ├── UnknownColumn   no column of that name                               (KeyError)
    │   ├── HierarchyError  a hierarchy lacks values or is not nested
    │   ├── NotCovering     released rows are not generalizations of original rows
    │   ├── RepeatedIdentifier  several rows about one person, and no person column
    │   └── OutputError     a file cannot be written                             (OSError)
    ├── MissingExtra      an optional dependency is not installed     exit status 2  (ImportError)
    ├── Infeasible        no release can meet the model               exit status 1
    ├── NotConverged      a sampled figure did not converge           exit status 1
    ├── NotAnonymous      a release violates its model                exit status 1
    └── BudgetSpent       a release would exceed the granted budget   exit status 1

A message names files, columns, row numbers and counts, never a cell value. It hides the user, the
password and the query of an address, and all of a database address but its scheme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from shoal.support.wording import option, without_secrets


class ShoalError(Exception):
    """The base of all errors of Shoal; the message is one sentence.

    Attributes:
        exit_status: The exit status of a command that ends with this error.

    >>> import shoal
    >>> try:
    ...     shoal.KAnonymity(0)
    ... except ShoalError as error:
    ...     error.exit_status
    2
    """

    exit_status: ClassVar[int] = 2

    def __str__(self) -> str:
        return without_secrets(Exception.__str__(self))  # KeyError would quote the message

    def __repr__(self) -> str:
        return without_secrets(Exception.__repr__(self))


class InputError(ShoalError, ValueError):
    """The input or an option is wrong; the message says what to do.

    >>> import shoal
    >>> try:
    ...     shoal.KAnonymity(0)
    ... except InputError as error:
    ...     print(error)
    k must be a whole number, 2 or more, not 0
    """


class HierarchyError(InputError):
    """A hierarchy does not fit a column, or is not nested.

    `missing`: original values without an entry.
    `not_nested`: labels that are not nested: their members have different labels at the next level.

    Both contain cell values and are for the data owner only (`shoal hierarchy check`); the message
    only counts them.

    >>> import shoal
    >>> try:
    ...     shoal.Hierarchy.from_rows([("Malta", "*"), ("Malta", "*")])
    ... except HierarchyError as error:
    ...     print(error)
    hierarchy: 1 value is listed more than once
    """

    def __init__(
        self, message: str, missing: Sequence[str] = (), not_nested: Sequence[tuple[int, str]] = ()
    ) -> None:
        super().__init__(message)
        self.missing = tuple(missing)
        self.not_nested = tuple(not_nested)


class RepeatedIdentifier(InputError):  # noqa: N818
    """Several rows have the same identifier, and no column is declared to identify people.

    column: the identifier; distinct: its number of distinct values; filled: the number of rows
    with a value.
    """

    def __init__(self, column: str, distinct: int, filled: int) -> None:
        self.column, self.distinct, self.filled = column, distinct, filled
        super().__init__(
            f"column {column!r} has {distinct:,} distinct values in {filled:,} rows, so some "
            "people have several rows; declare the column that identifies them with "
            f"{option('person', column)}, or state with {option('rows_are_people', True)} that "
            "every row is a different person"
        )


class UnknownColumn(InputError, KeyError):  # noqa: N818
    """The table has no column of this name, or the column has no role.

    >>> import shoal
    >>> try:
    ...     shoal.datasets.load("health-record")["weight"]
    ... except UnknownColumn as error:
    ...     print(error)
    no column 'weight' with a role; there are name, age, sex, zipcode, disease
    """


class NotCovering(InputError):  # noqa: N818
    """Released rows are not generalizations of original rows: noise, swapping, synthetic rows.

    >>> issubclass(NotCovering, InputError)
    True
    """


class OutputError(InputError, OSError):
    """A file cannot be written to the requested path."""


class MissingExtra(ShoalError, ImportError):  # noqa: N818
    """A required optional dependency is not installed; the message says how to install it.

    >>> print(MissingExtra("opendp", "dp"))
    this needs opendp; install it with: pip install 'shoal-privacy[dp]'
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs {package}; install it with: pip install 'shoal-privacy[{extra}]'"
        )


class Infeasible(ShoalError):  # noqa: N818
    """The method finds no release of this table that meets the model.

    >>> import pyarrow as pa
    >>> import shoal
    >>> try:
    ...     people = pa.table({"age": [31, 42], "disease": ["flu", "flu"]})
    ...     shoal.anonymize(people, "l-diversity(2, disease)", quasi="age", sensitive="disease")
    ... except Infeasible as error:
    ...     print(error)
    l-diversity(l=2, column=disease) cannot be met: even the whole table as one class breaks it
    """

    exit_status = 1


class NotConverged(ShoalError):  # noqa: N818
    """A figure of `shoal.risk` did not converge, so it is not reported."""

    exit_status = 1


class NotAnonymous(ShoalError):  # noqa: N818
    """A guarantee does not hold: `shoal.check` finds it broken, or a release failed its check.

    A release that fails its check is neither returned nor written.

    >>> import pyarrow as pa
    >>> import shoal
    >>> try:
    ...     shoal.check(pa.table({"age": ["30-39", "40-49"]}), k=2, quasi="age")
    ... except NotAnonymous as error:
    ...     print(error)
    k-anonymity(k=2) does not hold: 2 of 2 classes break it (2 of 2 rows)
    """

    exit_status = 1


class BudgetSpent(ShoalError):  # noqa: N818
    """A release would exceed the budget of the ledger; it is refused before noise is drawn.

    >>> from shoal.dp import DP, Ledger
    >>> try:
    ...     with Ledger(1.0).spend(DP(2.0, 0.0, "a histogram"), what="ages"):
    ...         pass  # draw the noise and release
    ... except BudgetSpent as error:
    ...     print(error)
    this release costs ε = 2, but only ε = 1 of the granted ε = 1 is left; nothing was released
    """

    exit_status = 1


def unknown(what: str, name: object, known: Iterable[str]) -> InputError:
    """Return the error for an unknown name, with the most similar known name.

    >>> unknown("no method", "flsh", ["flash", "ola"])
    InputError("no method 'flsh' (did you mean 'flash'?); there are flash, ola")
    """
    names = [str(each) for each in known]
    return InputError(
        f"{what} {name!r}{did_you_mean(name, names)}; there are {', '.join(names) or 'none'}"
    )


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the most similar known name as a question, or "" if none is similar.

    >>> did_you_mean("AGE", ["age", "sex"])
    " (did you mean 'age'?)"
    """
    from difflib import get_close_matches

    folded = {each.casefold(): each for each in known}
    near = get_close_matches(str(name).casefold(), list(folded), n=1)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""
