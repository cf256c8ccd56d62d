"""What the guarantee of a release does not cover, in words for the people who decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.core.column import Role
from shoal.core.release import Release
from shoal.risk.release_attacks.listed_members import listing_columns
from shoal.support.wording import listed_names

Limit = dict[str, str]


def limits(
    release: Release,
    sensitive: Sequence[dict[str, Any]],
    about: dict[str, Any],
    *,
    by_class: bool,
    order: str,
) -> list[Limit]:
    """Return the limits that apply to this release.

    about: the unit of the release, as `people.unit` returns it.
    """
    listed = [_homogeneity(sensitive)] if sensitive else []
    if not by_class:
        listed.append(_NO_CLASSES)
    listed += [_SKEWNESS] if sensitive else []
    linking = [name for name, each in release.replaced.items() if each.links]
    listed += [_linked(linking)] if linking else []
    listed += _people(about, linked=bool(linking))
    listed.append(_BACKGROUND)
    listed.append(_SEVERAL)
    if any(part.columns for part in release.model.parts):
        listed.append(_MINIMALITY)
    listed.append(_choice(release))
    insensitive = release.original.names(Role.INSENSITIVE)
    if insensitive:
        listed.append(_insensitive(insensitive))
    listed.append(_MEMBERSHIP)
    naming = listing_columns(release)
    if naming:
        listed.append(_naming(naming))
    if order == "original":
        listed.append(_ROW_ORDER)
    listed.append(_LEGAL)
    return listed


def limit(title: str, text: str) -> Limit:
    """Return a limit as plain data."""
    return {"title": title, "text": text}


def _people(about: dict[str, Any], *, linked: bool) -> list[Limit]:
    """Return the limits that depend on how the table identifies people."""
    if not about["person"]:
        return [_STATED if about["rows_are_people"] else _NOT_DECLARED]
    return [_SEVERAL_ROWS] if about["several_rows"] and not linked else []


def _linked(names: Sequence[str]) -> Limit:
    return limit(
        "Pseudonyms",
        f"{listed_names(names)} is replaced, not removed. Rows with the same replacement belong "
        "together, and so do releases made with the same key and domain. The guarantee covers what "
        "the linked rows of a person show in the quasi-identifiers together. It does not cover how "
        "many rows a person has, nor the other columns of these rows, nor what other releases of "
        "the same domain show. Anyone who has the key can compute the replacement of a person, so "
        "in law this column is pseudonymous, not anonymous, to those who can obtain the key.",
    )


_STATED = limit(
    "Rows stated to be people",
    "The guarantee counts rows, because the data owner stated that every row is a different "
    "person. If a person has several rows, a group contains fewer people than rows, and the "
    "guarantee may not hold.",
)
_NOT_DECLARED = limit(
    "Rows counted as people",
    "No column was declared that identifies people, so each row counts as one person. If a person "
    "has several rows, a group contains fewer people than rows, and the guarantee may not hold.",
)
_SEVERAL_ROWS = limit(
    "Several rows of one person",
    "People have several rows, and the guarantee holds for each row: its group contains enough "
    "different people. An attacker who knows several rows of one person, such as the dates of "
    "three visits, knows several groups. Only people with a row in each of these groups match, "
    "and there may be few of them, or only one. If a value stays the same from row to row, such as "
    "a chronic diagnosis, only values that occur in all these groups are possible. No person "
    "identifier is released, but unusual values that repeat can link the rows of one person. If "
    "this matters, release one row per person.",
)


def _homogeneity(sensitive: Sequence[dict[str, Any]]) -> Limit:
    open_ones = [facts["column"] for facts in sensitive if not facts["guarded_by"]]
    if not open_ones:
        text = (
            "The guarantee also covers the sensitive columns: finding a person's group alone does "
            "not reveal their value. The guarantee limits how well a value can be guessed; it does "
            "not make guessing impossible."
        )
    else:
        text = (
            f"No part of the guarantee covers {listed_names(open_ones)}. If all people in a group "
            "share a value there, finding the group reveals it. Section 4 counts such people; "
            "l-diversity or t-closeness would prevent this."
        )
    return limit("Groups with a single value (homogeneity)", text)


_SKEWNESS = limit(
    "Groups with similar values (skewness and similarity)",
    "A group may contain several sensitive values and still make one of them very likely, or "
    "contain different values with similar meaning: three stomach diseases, three low salaries. "
    "Counting distinct values does not detect this. Section 4 detects similar values only in "
    "columns with an order or a hierarchy; review the other columns yourself.",
)
_BACKGROUND = limit(
    "Background knowledge",
    "An attacker who knows more about a person than the quasi-identifiers, such as that the person "
    "does not smoke or was absent in May, can rule out records. No guarantee of this kind accounts "
    "for that.",
)
_SEVERAL = limit(
    "Several releases of one table",
    "Two releases about the same people, each as anonymous as this one, can be combined: a person "
    "who is one of five here and one of five there may be the only one in both groups. This "
    "guarantee covers this release only. Publish a single release, or derive further ones by "
    "generalizing this one.",
)
_MINIMALITY = limit(
    "Reasoning from the method (minimality)",
    "The method minimizes information loss. An attacker who knows the method may reason backwards: "
    "these people were grouped together, so a smaller group would have violated the guarantee for "
    "a sensitive column.",
)
_MEMBERSHIP = limit(
    "Membership in the table",
    "The release does not hide whether a person is in the table. If membership is itself "
    "sensitive, as in a table of patients, larger groups do not help.",
)
_NO_CLASSES = limit(
    "Records without groups",
    "People are not published in groups of identical records. Each person matches several "
    "records, but these differ, so further knowledge may make one of them more likely.",
)
_ROW_ORDER = limit(
    "Row order",
    "The rows keep the order of the original table, as its owner chose. The position of a row can "
    "reveal what was hidden: in a table sorted by admission date, it reveals when a person was "
    "admitted.",
)
_LEGAL = limit(
    "The word “anonymous”",
    "This is not differential privacy, which limits what can be learned from a person's "
    "participation regardless of what others know. Nor is it a legal opinion: that depends on who "
    "receives the data, what other data they have, and the applicable law.",
)


def _choice(release: Release) -> Limit:
    known = listed_names(release.original.quasi)
    return limit(
        "The choice of quasi-identifiers",
        f"The guarantee holds against attackers who know {known} of a person. If attackers can "
        "also look up another released column, it may single people out; section 3 counts how "
        "many. The data does not show what others know, so review this choice yourself.",
    )


def _naming(names: Sequence[str]) -> Limit:
    return limit(
        "Cells that list values of single people",
        f"Released cells of {listed_names(names)} write out values that only one person has, alone "
        "or in a set. Anyone who looks for such a value learns that the person is in the table, "
        "however large the groups are. Leave such columns out, or generalize them with a "
        "hierarchy. `shoal risk attack` counts the people.",
    )


def _insensitive(names: Sequence[str]) -> Limit:
    return limit(
        "Columns released without protection",
        f"Released unchanged, neither generalized nor checked: {listed_names(names)}. An exact "
        "time, a serial number or free text in these columns can identify a person. Section 3 "
        "counts the people whom they single out.",
    )
