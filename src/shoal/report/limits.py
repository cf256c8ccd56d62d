"""What the guarantee of a release leaves open, in words for those who decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.core.column import Role
from shoal.core.release import Release
from shoal.core.wording import listed_names

Limit = dict[str, str]


def limits(
    release: Release,
    sensitive: Sequence[dict[str, Any]],
    about: dict[str, Any],
    *,
    by_class: bool,
    order: str,
) -> list[Limit]:
    """Return the limits that apply to this release, those of every release after its own.

    about: whom the release is about, as `people.unit` returns it.
    """
    told = [_homogeneity(sensitive)] if sensitive else []
    if not by_class:
        told.append(_NO_CLASSES)
    told += [_SKEWNESS] if sensitive else []
    told += _people(about)
    told.append(_BACKGROUND)
    told.append(_SEVERAL)
    if any(part.columns for part in release.model.parts):
        told.append(_MINIMALITY)
    told.append(_choice(release))
    insensitive = release.original.names(Role.INSENSITIVE)
    if insensitive:
        told.append(_insensitive(insensitive))
    told.append(_MEMBERSHIP)
    if order == "original":
        told.append(_ROW_ORDER)
    told.append(_WORD)
    return told


def limit(title: str, text: str) -> Limit:
    """Return a limit as the reports hold it."""
    return {"title": title, "text": text}


def _people(about: dict[str, Any]) -> list[Limit]:
    """Return what depends on who the people are."""
    if not about["person"]:
        return [_STATED if about["rows_are_people"] else _NOT_DECLARED]
    return [_SEVERAL_ROWS] if about["several_rows"] else []


_STATED = limit(
    "Rows stated to be people",
    "The guarantee counts rows, because the data owner stated that every row is a different "
    "person. If somebody has several rows, a group holds fewer people than rows, and the guarantee "
    "may not hold.",
)
_NOT_DECLARED = limit(
    "Rows counted as people",
    "No column was declared that identifies people, so each row counts as one person. If somebody "
    "has several rows, a group holds fewer people than rows, and the guarantee may not hold.",
)
_SEVERAL_ROWS = limit(
    "Several rows of one person",
    "People have several rows, and the guarantee holds for each row: its group contains enough "
    "different people. An attacker who knows several rows of one person, such as the dates of "
    "three visits, knows several groups. Only people with a row in each of them come into "
    "question, and these may be few, or a single one. Where a value stays the same from row to "
    "row, such as a chronic diagnosis, only values that occur in all these groups are possible. No "
    "person number is released, but unusual values that repeat can link the rows of one person. "
    "Release one row per person if this matters.",
)


def _homogeneity(sensitive: Sequence[dict[str, Any]]) -> Limit:
    open_ones = [facts["column"] for facts in sensitive if not facts["guarded_by"]]
    if not open_ones:
        text = (
            "The guarantee also speaks of the sensitive columns, so that nobody's value follows "
            "from finding their group. It bounds what can be guessed; it does not make guessing "
            "impossible."
        )
    else:
        text = (
            f"No part of the guarantee looks at {listed_names(open_ones)}. Where all people who "
            "look alike share a value there, finding the group is enough to learn it. "
        )
        text += "Section 4 counts such people; l-diversity or t-closeness would rule it out."
    return limit("Groups that agree (homogeneity)", text)


_SKEWNESS = limit(
    "Groups that nearly agree (skewness and similarity)",
    "A group may show several sensitive values and yet make one of them very likely, or show "
    "different values that mean about the same: three stomach diseases, three low salaries. A "
    "count of values does not see that. Section 4 does where an order or a hierarchy says what is "
    "alike, and else only your eyes.",
)
_BACKGROUND = limit(
    "Background knowledge",
    "An attacker who knows more about a person than the quasi-identifiers, such as that they do "
    "not smoke or were not there in May, can rule records out. No guarantee of this kind accounts "
    "for that.",
)
_SEVERAL = limit(
    "Several releases of one table",
    "Two releases of the same people, each as anonymous as this one, can be laid over each other: "
    "somebody who is one of five here and one of five there may be the only one in both. This "
    "guarantee holds for this release alone. Publish one, or coarsen this one further.",
)
_MINIMALITY = limit(
    "Reasoning from the method (minimality)",
    "The method loses as little as it can. An attacker who knows the method may reason backwards: "
    "these people were grouped together, so a smaller group would have broken the guarantee on a "
    "sensitive column.",
)
_MEMBERSHIP = limit(
    "Being in the table",
    "Whether a person is in the table is not hidden. Where that itself says something, as in a "
    "table of patients, no size of groups helps.",
)
_NO_CLASSES = limit(
    "Records of their own",
    "People are not published in groups that look alike. Each could be any of several records, "
    "which differ, so that other knowledge may make one of them more likely.",
)
_ROW_ORDER = limit(
    "Order of rows",
    "The rows keep the order of the original table, by choice of its owner. A row's position can "
    "give away what was hidden: in a table sorted by admission it says when a person came.",
)
_WORD = limit(
    "The word anonymous",
    "This is not differential privacy, which bounds what can be learned from a person's taking "
    "part whatever others know. Nor is it a legal opinion: that depends on who receives the data, "
    "what else they have, and the law of the place.",
)


def _choice(release: Release) -> Limit:
    known = listed_names(release.original.quasi)
    return limit(
        "The choice of quasi-identifiers",
        f"The guarantee holds against those who know {known} of a person. If another released "
        "column can be looked up, it singles people out: section 3 counts how many. What others "
        "know is not in the data, so check the choice yourself.",
    )


def _insensitive(names: Sequence[str]) -> Limit:
    return limit(
        "Columns that pass unchecked",
        f"Released as they are, neither coarsened nor checked: {listed_names(names)}. An exact "
        "time, a serial number or a free text among them can name a person. Section 3 counts the "
        "people whom they single out.",
    )
