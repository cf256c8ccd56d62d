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
from shoal.risk.linked_rows import LinkedRows, count_linked
from shoal.risk.singling_out import SinglingOut, is_notable, singling_out
from shoal.support.wording import count_of, counted, listed_names

Say = Callable[[int, int], str]


@dataclass(frozen=True)
class Caveats:
    """Counts of people whom the guarantee of a release does not protect.

    Parameters:
        singling_out: People singled out by columns that are published unchanged.
        same_value: For each sensitive column, the people whose class has one value; empty if they
            cannot be counted.
        by_class: Whether groups of people are classes.
        linked: People singled out by rows that a published identifier links, None without any.
    """

    singling_out: SinglingOut
    same_value: tuple[Homogeneity, ...]
    by_class: bool = True
    linked: LinkedRows | None = None

    def sentences(self, say: Say = count_of, groups: str = "class") -> list[str]:
        """Return the caveats that affect many people, in words.

        say: formats a count of people and its total; groups: the word for a group of people.
        """
        same_value = [
            self.describe(found, say, groups)
            for found in self.same_value
            if found.usual < 1 and is_notable(found.certain, found.people)
        ]
        return [*self.singling_out.sentences(say), *same_value, *self._linked(say)]

    def _linked(self, say: Say) -> list[str]:
        """Return whom linked rows single out beyond the guarantee, in words."""
        found = self.linked
        if found is None:
            return []
        sentences = []
        if found.by_count:
            sentences.append(
                f"{listed_names(found.columns)} links the rows of a person: their number and the "
                f"quasi-identifiers single out {say(found.by_count, found.people)}"
            )
        if found.by_values > found.by_count:
            sentences.append(
                f"{listed_names(found.columns)} links the rows of a person: all values in them "
                f"together single out {say(found.by_values, found.people)}"
            )
        return sentences

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
    linked = None if release is None else count_linked(release)
    return Caveats(singling_out(classes), same, by_class, linked)


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
