"""What is promised about private columns at first, and which of them have no promise."""

from __future__ import annotations

from shoal.web.project.columns import ColumnInfo, Columns
from shoal.web.project.guarantee import PRIVATE, RARE, Guarantee, Sentence

MOST_COMMON = 0.9  # share of one value beyond which groups with another value become very large
_EXCESS = 0.2  # of a rare value in a group over its share in the table


def usual_sentence(column: ColumnInfo) -> Sentence:
    """Return what is promised about a sensitive column at first.

    Two different values in each group; if nearly all rows have the same value, the share of the
    others exceeds that in the table by at most 20 percentage points, which costs little.

    Parameters:
        column: The column.
    """
    if column.common > MOST_COMMON:
        return Sentence(RARE, column.name, _EXCESS)
    return Sentence("l-diversity", column.name, 2)


def usual_sentences(columns: Columns) -> tuple[Sentence, ...]:
    """Return what is promised at first: a sentence about each sensitive column that varies.

    Parameters:
        columns: The columns of the table.
    """
    return tuple(usual_sentence(column) for column in columns if _needs_promise(column))


def not_promised(columns: Columns, guarantee: Guarantee) -> tuple[ColumnInfo, ...]:
    """Return the sensitive columns that no sentence protects.

    Parameters:
        columns: The columns of the table.
        guarantee: What the release promises.
    """
    if guarantee.method == PRIVATE:
        return ()
    stated = {sentence.column for sentence in guarantee.sentences}
    return tuple(
        column for column in columns if _needs_promise(column) and column.name not in stated
    )


def _needs_promise(column: ColumnInfo) -> bool:
    return column.role == "sensitive" and column.distinct > 1 and column.common < 1
