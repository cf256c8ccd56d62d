"""Variants of a table for studies: binned values, permuted orders, random trees and random k.

Each variant is determined by its seed. de Spoelberch, "The limits of information loss metrics as
measures for utility", 2020, section 3.3, uses them to make hundreds of releases of one table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.table.column import Column, Kind, Role
from shoal.table.recipes import random
from shoal.table.table import Table


def binned(table: Table, bins: int = 20, columns: Sequence[str] | None = None) -> Table:
    """Return the table with numeric columns of many values in bins of equal width.

    A binned column becomes ordinal; a bin is labelled with its lowest and highest value, such as
    `17 to 20`. Empty bins are omitted.

    Parameters:
        table: The table.
        bins: Number of bins; a column with `bins` values or fewer is unchanged.
        columns: Quasi-identifiers to bin; by default all.

    Returns:
        The table with binned columns.

    Raises:
        InputError: An option is out of range, or a column is not a quasi-identifier.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48]})
    >>> table = shoal.read(rows, roles={"age": "quasi"})
    >>> binned(table, bins=2)["age"].labels
    ('31 to 33', '47 to 48')
    """
    _check_whole("bins", bins, 2)

    def change(column: Column, _: int) -> Column:
        if column.kind is not Kind.NUMERIC or column.known <= bins:
            return column
        low, high = column.extent
        share = (column.positions[: column.known] - low) / (high - low)
        bin_of = np.minimum((share * bins).astype(np.int64), bins - 1)
        used, place = np.unique(bin_of, return_inverse=True)
        first = np.searchsorted(bin_of, used)
        last = np.append(first[1:], column.known) - 1
        names: list[str | None] = [
            f"{column.labels[a]} to {column.labels[b]}" if a < b else column.labels[a]
            for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]
        if column.missing is not None:
            names, place = [*names, None], np.append(place, len(used))
        return _ordinal(column, place.astype(np.int32)[column.codes], pa.array(names, pa.string()))

    return _changed(table, columns, change)


def permuted(table: Table, seed: int = 0, columns: Sequence[str] | None = None) -> Table:
    """Return the table with ordinal columns in a random order.

    Methods that split along an order, such as Mondrian without hierarchies, then group unrelated
    values.

    Parameters:
        table: The table.
        seed: Seed of the order.
        columns: Quasi-identifiers to permute; by default all.

    Returns:
        The table with permuted columns.

    Raises:
        InputError: An option is out of range, or a column is not a quasi-identifier.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48]})
    >>> table = shoal.read(rows, roles={"age": "quasi"})
    >>> permuted(table, seed=2)["age"].labels
    ('48', '47', '31', '33')
    """
    _check_whole("seed", seed, 0)

    def change(column: Column, place: int) -> Column:
        order = np.random.default_rng([seed, place]).permutation(column.known)
        order = np.append(order, np.arange(column.known, column.domain))
        rank = np.empty(column.domain, dtype=np.int32)
        rank[order] = np.arange(column.domain, dtype=np.int32)
        return _ordinal(column, rank[column.codes], column.values.take(pa.array(order)))

    return _changed(table, columns, change)


def random_hierarchies(
    table: Table, seed: int = 0, *, ordered: bool = True, columns: Sequence[str] | None = None
) -> Table:
    """Return the table with a random hierarchy for each column (see `hierarchies.random`).

    Parameters:
        table: The table.
        seed: Seed of the trees.
        ordered: Whether neighbours stay together in columns that have an order; nominal columns
            are always shuffled.
        columns: Quasi-identifiers; by default all.

    Returns:
        The table with random hierarchies.

    Raises:
        InputError: The seed is negative, or a column is not a quasi-identifier.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48]})
    >>> table = shoal.read(rows, roles={"age": "quasi"})
    >>> random_hierarchies(table, seed=4)["age"].hierarchy.rows()[0]
    ('31', '{31, 33}', '*')
    """
    _check_whole("seed", seed, 0)

    def change(column: Column, place: int) -> Column:
        drawn = int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
        return column.with_hierarchy(random(column, drawn, ordered=ordered and column.ordered))

    return _changed(table, columns, change)


def random_k(count: int, seed: int = 0, *, mean: float = 1.0, least: int = 2) -> list[int]:
    """Draw random values of k: `least` plus a Poisson number.

    Parameters:
        count: How many values to draw.
        seed: Seed of the draws.
        mean: Mean of the Poisson distribution.
        least: Lowest value of k.

    Returns:
        The values.

    Raises:
        InputError: An option is out of range.

    >>> random_k(8, seed=3)
    [2, 2, 4, 3, 2, 3, 3, 3]
    """
    _check_whole("count", count, 0)
    _check_whole("seed", seed, 0)
    _check_whole("least", least, 1)
    if not 0 <= mean < 1e6:
        raise InputError(f"mean must be at least 0 and less than 1,000,000, not {mean!r}")
    drawn: list[int] = (least + np.random.default_rng(seed).poisson(mean, count)).tolist()
    return drawn


def _changed(
    table: Table, names: Sequence[str] | None, change: Callable[[Column, int], Column]
) -> Table:
    """Return the table with changed quasi-identifiers, each drawn by its position in the table."""
    positions = {column.name: position for position, column in enumerate(table.columns)}
    for name in table.quasi if names is None else names:
        if table[name].role is not Role.QUASI:
            raise InputError(f"column {name!r} is {table[name].role}; name quasi-identifiers")
        table = table.with_column(change(table[name], positions[name]))
    return table


def _ordinal(column: Column, codes: Any, values: Any) -> Column:
    return replace(
        column, kind=Kind.ORDINAL, codes=codes, values=values, bounds=None, hierarchy=None
    )


def _check_whole(option: str, value: Any, low: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
        raise InputError(f"{option} must be a whole number, {low} or more, not {value!r}")
