"""What the guarantee of a release does not cover, and how the release was made, in words.

No digest of the original table is given: for a small table it could be used to check guesses.

`withheld_contents` is the whole report of a release with differential privacy claims. Losses,
original distributions, and the numbers of original and suppressed records depend on records that
are not released, so that report omits them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.methods.registry import METHODS
from shoal.release.release import Release
from shoal.report.masking import Mask, released_only, rounded
from shoal.report.page import in_words
from shoal.report.released import left_out_weight, size_bars
from shoal.risk.reidentification import Reidentification
from shoal.risk.release_attacks.listed_members import listing_columns
from shoal.support.addresses import address_of
from shoal.support.files import check_readable
from shoal.support.object_stores import stored_digests
from shoal.support.outputs import written_at
from shoal.support.wording import counted, listed_names, plain
from shoal.table.column import Column, Role

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


def repeating(
    release: Release, command: str | None, released: Path | None, *, order: str
) -> dict[str, Any]:
    """Return method, options, versions, the command, and a digest of the released file.

    order: how the rows were written.
    """
    run, proof = release.run, release.proof
    options = {name: plain(value) for name, value in run.options.items()}
    return {
        "command": command,
        "call": _call(release, options, run.seed) if run.method in METHODS else None,
        "method": run.method,
        "options": options,
        "seed": run.seed,
        "order": order,
        "identifiers": {name: dict(each.record) for name, each in release.replaced.items()},
        "levels": None if release.node is None else dict(release.node),
        "evaluated": release.evaluated,
        "gap": None if proof is None else round(proof.gap, 4),
        "distance": None if proof is None else proof.describe(),
        "notes": list(run.notes),
        "versions": dict(run.versions),
        "file": None if released is None else digest(released),
    }


def digest(path: Path) -> dict[str, Any]:
    """Return a file's name, size and SHA-256; of a folder, those of its files in order of name."""
    address, place = address_of(path), written_at(path)
    if address is not None or place.is_dir():
        inside = _inside(place, address)
        if [each["name"] for each in inside] == [path.name]:  # one file at an address
            return inside[0]
        listed = "".join(f"{each['sha256']}  {each['name']}\n" for each in inside)
        together = hashlib.sha256(listed.encode()).hexdigest()
        return {"name": path.name, "bytes": sum(f["bytes"] for f in inside), "sha256": together}
    check_readable(place)
    with place.open("rb") as handle:
        sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
    return {"name": path.name, "bytes": place.stat().st_size, "sha256": sha256}


def _inside(path: Path, address: str | None) -> list[dict[str, Any]]:
    """Return the digests of the files in a folder, or at an address."""
    if address is None:
        return [digest(file) for file in sorted(path.iterdir())]
    names = ("name", "bytes", "sha256")
    return [dict(zip(names, each, strict=True)) for each in stored_digests(address)]


def _call(release: Release, options: Mapping[str, Any], seed: int | None) -> str:
    """Return the Python call that makes the release."""
    model = " & ".join(repr(part) for part in release.model.parts)
    arguments = ["table", model, repr(release.run.method)]
    arguments += [f"{name}={value!r}" for name, value in options.items() if name != "seed"]
    arguments += [] if seed is None else [f"seed={seed}"]
    return f"shoal.anonymize({', '.join(arguments)})"


OMITTED = (
    "the number of records in the table, and how many were drawn or suppressed",
    "the information loss, and how many people were unique in the table",
    "the original order of the rows: they are sorted by their published values",
    "the running time",
)


def withheld_contents(
    release: Release,
    guarantee: dict[str, Any],
    mask: Mask,
    *,
    command: str | None,
    released: Path | None,
    order: str,
) -> dict[str, Any]:
    """Return the contents of the report; equal released rows and nodes give equal contents.

    guarantee: the guarantee and the levels achieved, counted on the published rows.
    """
    found = Reidentification.of(released_only(release.shown))
    fewest = found.fewest if release.rows_per_person == 1 else release.verify().smallest
    rows = int(release.classes.rows.sum())  # people cannot be counted from published rows
    claims = [plain(claim.to_dict()) for claim in release.claims]
    return {
        "verdict": _verdict(release, rows, [claim["claim"] for claim in claims]),
        "records": {"released": rows},
        "guarantee": guarantee,
        "claims": claims,
        "not_told": list(OMITTED),
        "risk": {
            "by_class": True,
            "fewest_candidates": rounded(fewest),
            "sizes": size_bars(found, mask) if release.rows_per_person == 1 else [],
        },
        "columns": _columns(release),
        "limits": list(_LIMITS),
        "repeat": repeating(release, command, released, order=order),
    }


def _verdict(release: Release, rows: int, claims: list[str]) -> str:
    models = " and ".join(map(in_words, release.model.parts))
    return (
        f"{counted(rows, 'record is', 'records are')} released, under {models}. We regrouped the "
        "released rows and checked the guarantee: it holds. The mechanism that drew them claims "
        f"{' and '.join(claims)}."
    )


def _columns(release: Release) -> list[dict[str, Any]]:
    """Return every column with its role and how it is released, without figures."""
    table, node = release.original, release.node or {}
    held = [
        {"name": c.name, "role": str(c.role), "treatment": _treatment(release, c, node.get(c.name))}
        for c in table
    ]
    held += left_out_weight(table, {})
    no_role = "left out: it has no role"
    return held + [{"name": n, "role": None, "treatment": no_role} for n in table.unassigned]


def _treatment(release: Release, column: Column, level: int | None) -> str:
    if column.role == "identifier":
        return "left out: it names a person"
    if level is None or level == 0:
        return "released unchanged; records with different values are in different groups"
    tree = release.recodings[column.name].column.hierarchy
    height = level if tree is None else tree.height
    if level == height:
        return "hidden entirely"
    return f"generalized by its hierarchy (level {level} of {height})"


_LIMITS = (
    limit(
        "Facts about many people",
        "The claim limits what anyone can learn from the presence of one person's record. It does "
        "not hide facts that are true of many people, such as that a disease is common in an "
        "occupation, nor what follows from them about a person whose occupation is known.",
    ),
    limit(
        "One record per person",
        "Neighbouring tables differ in one record. A person with several records, or a family, is "
        "protected less: ε counts once for each of their records, and δ grows even faster.",
    ),
    limit(
        "What is assumed to be public",
        "The names, roles and types of columns, the hierarchies and the options of the run are "
        "assumed to be public. A hierarchy built from the table itself, such as from its quantiles "
        "or its longest value, is not public, and the claim then does not hold.",
    ),
    limit(
        "Several releases",
        "Each further release about the same people adds its ε and its δ. Keep track of the sum.",
    ),
    limit(
        "Other outputs of the run",
        "The running time, an error message, or a figure shared with a colleague may depend on "
        "records that are not released. The claim covers only the release and this report.",
    ),
    limit(
        "The word “anonymous”",
        "This is not a legal opinion: that depends on who receives the data, what other data they "
        "have, and the applicable law.",
    ),
)
