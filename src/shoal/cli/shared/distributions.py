"""`shoal metrics` for a file that is no generalization of the original: distributions only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.shared.console import emit, grid, note, number, out
from shoal.cli.shared.options import Hierarchies
from shoal.cli.shared.sources import Form, Roles, load, of_release
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.comparison.distributions import Distributions

_MOST_CELLS = 0.5  # share of a column


def show_distributions(
    original: Path,
    released: Path,
    roles: Roles,
    hierarchy: Hierarchies,
    form: Form,
    reason: InputError,
    *,
    json: bool,
) -> None:
    """Compare distributions, and state why the metrics of a generalization are not defined.

    Parameters:
        reason: Why the release does not cover the original; raised if most cells of a column
            cannot be read, so that they are labels rather than other values.
    """
    from shoal.cli.risk.link import arrow_of
    from shoal.comparison.distributions import compare_distributions

    table = load(original, roles, hierarchy, form, quiet=True)
    columns = [*table.quasi, *table.sensitive]
    stated = of_release(released, {**roles.known.file, **form.stated})
    found = compare_distributions(table, arrow_of(released, stated, columns))
    if max(found.unread.values()) > _MOST_CELLS:
        raise reason
    note(f"metrics of generalized cells are not defined: {reason}")
    data: dict[str, Any] = {"truthful": False, "reason": str(reason), **found.to_dict()}
    emit(json, data, lambda: _show(found))


def _show(found: Distributions) -> None:
    rows = grid(
        "column", "Hellinger distance of its distribution: 0 = equal, 1 = nothing in common"
    )
    for name, distance in found.hellinger.items():
        rows.add_row(name, number(distance))
    out.print(rows)
    if found.correlations:
        out.print()
        pairs = grid("correlation of", "original", "released")
        for (one, other), (before, after) in found.correlations.items():
            pairs.add_row(f"{one}, {other}", number(before), number(after))
        out.print(pairs)
