"""What is promised about private columns at first, and which of them have no promise."""

from __future__ import annotations

from shoal.web.project.columns import ColumnInfo, Columns
from shoal.web.project.guarantee import Guarantee, Sentence

MOST_COMMON = 0.9  # share of one value beyond which groups with another value become very large


def usual_sentences(columns: Columns) -> tuple[Sentence, ...]:
    """Return 2-diversity for each sensitive column, unless nearly all have the same value.

    Parameters:
        columns: The columns of the table.
    """
    return tuple(
        Sentence("l-diversity", column.name, 2)
        for column in columns
        if column.role == "sensitive" and column.distinct > 1 and column.common <= MOST_COMMON
    )


def not_promised(columns: Columns, guarantee: Guarantee) -> tuple[ColumnInfo, ...]:
    """Return the sensitive columns without a sentence, because nearly all have the same value.

    Parameters:
        columns: The columns of the table.
        guarantee: What the release promises.
    """
    stated = {sentence.column for sentence in guarantee.sentences}
    return tuple(
        column
        for column in columns
        if column.role == "sensitive"
        and column.name not in stated
        and MOST_COMMON < column.common < 1
    )
