"""Caveats: what a reader must know in addition to a guarantee that holds.

A release may meet its model and still single out or expose most people. The command line, the
report and the JSON summaries report these caveats wherever they report the guarantee.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shoal.core.release import Release
from shoal.errors import InputError
from shoal.risk.candidates import Source, is_freeform
from shoal.risk.homogeneity import Homogeneity, homogeneity
from shoal.risk.singling_out import SinglingOut, is_notable, singling_out
from shoal.support.wording import count_of, counted

Say = Callable[[int, int], str]


@dataclass(frozen=True)
class Caveats:
    """Counts of people whom the guarantee of a release does not protect.

    Parameters:
        singling_out: People singled out by columns that are published unchanged.
        same_value: For each sensitive column, the people whose class has one value; empty if they
            cannot be counted.
        by_class: Whether groups of people are classes.
    """

    singling_out: SinglingOut
    same_value: tuple[Homogeneity, ...]
    by_class: bool = True

    def sentences(self, say: Say = count_of, groups: str = "class") -> list[str]:
        """Return the caveats that affect many people, in words.

        say: formats a count of people and its total; groups: the word for a group of people.
        """
        same_value = [
            self.describe(found, say, groups)
            for found in self.same_value
            if found.usual < 1 and is_notable(found.certain, found.people)
        ]
        return [*self.singling_out.sentences(say), *same_value]

    def describe(self, found: Homogeneity, say: Say = count_of, groups: str = "class") -> str:
        """Return in words how many classes and people have one value of a sensitive column."""
        every = counted(found.groups, groups if self.by_class else "group")
        return (
            f"in {found.certain_groups:,} of {every}, with {say(found.certain, found.people)}, "
            f"everyone has the same {found.column}"
        )


def caveats(source: Source) -> Caveats:
    """Count what the guarantee of a release, or of classes alone, does not cover.

    Examples:
        >>> import pyarrow as pa
        >>> from shoal.core.classes import Classes
        >>> from shoal.core.table import Table
        >>> data = pa.table({"zip": list("1122") * 5, "disease": ["flu"] * 12 + ["cold"] * 8})
        >>> table = Table.from_arrow(data, {"zip": "quasi", "disease": "sensitive"})
        >>> found = caveats(Classes.by_quasi(table))
        >>> found.sentences()
        []
    """
    release = source if isinstance(source, Release) else None
    classes = source.classes if isinstance(source, Release) else source
    try:
        same = tuple(homogeneity(source, name) for name in classes.table.sensitive)
    except InputError:  # the coverage is too large to count
        same = ()
    by_class = release is None or not is_freeform(release)
    return Caveats(singling_out(classes), same, by_class)


def to_dict(found: Homogeneity) -> dict[str, Any]:
    """Return how many classes and people have one value, as plain data."""
    return {
        "classes": found.groups,
        "same_value_classes": found.certain_groups,
        "people": found.people,
        "same_value_people": found.certain,
        "same_value_share": found.certain_share,
        "largest_share": found.largest,
    }
