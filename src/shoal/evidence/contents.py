"""The contents of an evidence pack, as plain data that JSON can represent.

Figures of the released file are computed by the verifier of the pack itself. All other figures are
those of the report, which shows no value that only a few people share, and of two attacks:

    attacks     four attacks on the release, compared with a control group
    rehearsal   an intruder who has a list of half of the people

All are about released people, because suppressed people could be counted otherwise.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError, NotAnonymous, unknown
from shoal.evidence.crosswalk_rows import IDENTIFIERS, age_columns, kind_of, postcode_columns
from shoal.evidence.crosswalks import crosswalks
from shoal.evidence.questionnaire import NOT_STATED, Questionnaire
from shoal.evidence.verify import FORMAT, LEAST, canonical, masked, measure
from shoal.release.release import Release
from shoal.report.losses import sizes_before
from shoal.report.masking import released_only, rounded
from shoal.risk.linkage import link
from shoal.risk.record_level import record_risk
from shoal.risk.reidentification import Reidentification
from shoal.risk.release_attacks.estimates import AttackRisk
from shoal.risk.release_attacks.four_attacks import ATTACKS, attack
from shoal.support.arrays import Counts
from shoal.support.proportions import proportion
from shoal.support.wording import plain
from shoal.table.classes import Classes
from shoal.table.column import Role
from shoal.table.table import Table

_REASONS = {
    "identifier": "it names a person, so it is not released",
    "quasi": "others may know it, so it is generalized until the guarantee holds",
    "sensitive": "it is for analysis, and nobody should learn it about a person",
    "insensitive": "the data owner states that nobody can use it to identify a person",
    "weight": "it is the sampling weight, which can single people out, so it is not released",
    None: "it has no role, so it is not released",
}
_REPLACED = "it names a person, so other values are released in its place"
_GEOGRAPHIC_OR_DATE = "BC"  # letters of identifiers that may be released if they are coarse


def evidence_contents(
    release: Release,
    report: Mapping[str, Any],
    released: Path,
    place: Mapping[str, Any],
    questionnaire: Questionnaire,
    control: Table | None = None,
    memory: str | None = None,
) -> dict[str, Any]:
    """Return the contents of `evidence.json`.

    Parameters:
        release: The release.
        report: The contents of its report.
        released: The file that was written.
        place: Its path relative to the pack, its size and its SHA-256.
        questionnaire: The answers of the data owner.
        control: People who are not released, for attacks on the release.
        memory: What DuckDB may use to measure the file; None for any amount.
    """
    before = None if release.withheld else sizes_before(release, release.digest)
    release = release.digest
    table = release.original
    _check_columns(table, questionnaire)
    roles = {
        c.name: str(c.role)
        for c in table
        if c.role is not Role.IDENTIFIER or c.name in release.replaced
    }
    checks = {
        "ages": age_columns(roles),
        "postcodes": postcode_columns(roles),
        "large_areas": questionnaire.large_areas,
    }
    measured = measure(released, roles, checks, memory)
    _check_file(release, report, measured)
    stated = _schema(table)
    shown = release if release.withheld else released_only(release)
    evidence = {
        "format": FORMAT,
        "title": report["title"],
        "date": report["date"] or NOT_STATED,
        "context": questionnaire.to_dict(),
        "release": dict(place),
        "schema": {"stated": stated, "sha256": hashlib.sha256(canonical(stated)).hexdigest()},
        "roles": roles,
        "checks": checks,
        "requested": [
            {"name": part.name, "options": plain(part.options)} for part in release.model.parts
        ],
        "guarantee": report["guarantee"],
        "records": report["records"],
        "unit": _unit(release, report),
        "inventory": _inventory(report, questionnaire, release),
        "identifiers": _identifiers(roles),
        "threshold": _threshold(release, questionnaire),
        "risk": _risk(release, report, questionnaire, before),
        "measured": measured,
        "attacks": attacks_on(shown, control),
        "rehearsal": rehearsal(shown),
        "utility": _utility(report),
        "differential_privacy": _claims(report),
        "run": {name: value for name, value in report["repeat"].items() if name != "file"},
        "limits": report["limits"],
        "review": {"date": questionnaire.review_date},
    }
    return evidence | {"crosswalks": crosswalks(evidence)}


def _check_columns(table: Table, questionnaire: Questionnaire) -> None:
    weight = [] if table.weights is None else [table.weights.column]
    names = [*(column.name for column in table), *weight, *table.unassigned]
    for name in questionnaire.columns:
        if name not in names:
            raise unknown("questionnaire: no column", name, names)


def _check_file(release: Release, report: Mapping[str, Any], measured: Mapping[str, Any]) -> None:
    """Refuse a file that is not the release, or whose recount does not confirm the guarantee."""
    names = {c.name for c in release.original if c.role is not Role.IDENTIFIER}
    names |= set(release.replaced)
    for name in measured["columns"]:
        if name not in names:
            raise InputError(f"the released file has a column {name!r} that is not to be released")
    if measured["records"] != report["records"]["released"]:
        raise InputError("the released file does not have the rows of the release")
    least = int(getattr(release.model, "least_size", 1))
    # the verifier counts rows, so only models of classes can be confirmed here
    by_class = all(part.by_class for part in release.model.parts)
    if by_class and measured["records"] and measured["classes"]["smallest"] < least:
        raise NotAnonymous(
            "a class of the released file is smaller than the guarantee allows; no evidence was "
            "written"
        )


def _schema(table: Table) -> dict[str, Any]:
    """Return what is declared of the input, without anything that depends on its cells."""
    return {
        "columns": {
            column.name: {
                "role": str(column.role),
                "kind": str(column.kind) if column.role is not Role.IDENTIFIER else None,
                "type": None if column.type is None else str(column.type),
                "hierarchy": column.hierarchy is not None,
            }
            for column in table
        },
        "without_role": list(table.unassigned),
        "weight": None if table.weights is None else table.weights.column,
        "person": [] if table.person is None else list(table.person.columns),
        "household": [] if table.household is None else list(table.household.columns),
    }


def _unit(release: Release, report: Mapping[str, Any]) -> dict[str, Any]:
    """Return how people are counted; `counts_rows`: every released row counts as one person."""
    shown = release.shown.original
    single = shown.person is None or shown.people == shown.records
    statement = report["unit"]["statement"] if "unit" in report else _statement(release)
    return {
        "statement": statement,
        "counts_rows": single and shown.household is None and release.rows_per_person == 1,
        "by_class": bool(report["risk"]["by_class"]),
        "smallest_class": report["guarantee"]["smallest_class"],
    }


def _statement(release: Release) -> str:
    if release.rows_per_person == 1:
        return "Each released row counts as one person."
    return f"A person has at most {release.rows_per_person} of the released rows."


def _inventory(
    report: Mapping[str, Any], questionnaire: Questionnaire, release: Release
) -> list[dict[str, Any]]:
    """Return every column of the input with its role, its technique and the reason."""
    return [
        {
            "column": column["name"],
            "role": column["role"],
            "technique": column["treatment"],
            "reason": questionnaire.columns.get(column["name"], _reason(column, release)),
            "stated_by_owner": column["name"] in questionnaire.columns,
            "safe_harbor": kind_of(column["name"]),
        }
        for column in report["columns"]
    ]


def _reason(column: Mapping[str, Any], release: Release) -> str:
    return _REPLACED if column["name"] in release.replaced else _REASONS[column["role"]]


def _identifiers(roles: Mapping[str, str]) -> dict[str, Any]:
    """Return how many released columns have names of identifiers, by kind and in total."""
    kinds = {
        each.letter: {
            "title": each.title,
            "released": sum(each.matches(name) for name in roles),
        }
        for each in IDENTIFIERS
    }
    direct = [kind_of(name) for name in roles]
    return {
        "kinds": kinds,
        "released_by_role": sum(role == "identifier" for role in roles.values()),
        "released_by_name": sum(
            letter is not None and letter not in _GEOGRAPHIC_OR_DATE for letter in direct
        ),
    }


def _threshold(release: Release, questionnaire: Questionnaire) -> dict[str, Any]:
    """Return the highest acceptable risk: as the owner states it, or 1/k of the requested k."""
    k = int(getattr(release.model, "least_size", 1))
    limit = questionnaire.maximum_risk
    source = NOT_STATED if k == 1 else f"1/{k}, by the requested guarantee"
    return {
        "maximum_risk": rounded_up(1 / k) if limit is None else limit,
        "source": source if limit is None else "questionnaire",
        "reason": questionnaire.threshold_reason,
    }


def rounded_up(risk: float) -> float:
    """Return a risk with three decimal places that never understate it.

    >>> rounded_up(0.0904), rounded_up(1 / 12), rounded_up(0.25)
    (0.091, 0.084, 0.25)
    """
    return min(math.ceil(risk * 1000 - 1e-9) / 1000, 1.0)


def _risk(
    release: Release,
    report: Mapping[str, Any],
    questionnaire: Questionnaire,
    sizes: tuple[Counts, Counts] | None,
) -> dict[str, Any]:
    """Return the highest and the average risk of the released people, before and after.

    sizes: those of the classes before, and how many have each; None if the rows show them.
    """
    if release.withheld:
        if questionnaire.population is not None:
            raise InputError(
                "questionnaire: population cannot be used for a release with differential privacy "
                "claims, whose number of people is withheld"
            )
        fewest = report["risk"]["fewest_candidates"]
        after = {"maximum": rounded_up(1 / fewest) if fewest else 0.0, "average": None}
        nothing: dict[str, Any] = {"before": None, "population": None, "singling_out": None}
        return {**nothing, "after": after, "attacks": [], "sensitive": []}
    kept = released_only(release)
    return {
        "before": _before(kept, sizes),
        "after": _sample(Reidentification.of(kept)),
        "population": _population(kept, questionnaire.population),
        "singling_out": report["singling_out"],
        "attacks": report["attacks"]["checks"],
        "sensitive": report["sensitive"],
    }


def _before(kept: Release, sizes: tuple[Counts, Counts] | None) -> dict[str, Any] | None:
    """Return the risk without anonymization; None if people were counted in rows only."""
    if sizes is None:
        return _sample(Reidentification.of_classes(Classes.by_quasi(kept.original)))
    if kept.original.unit is not None:
        return None
    rows, classes = sizes
    average = int(classes.sum()) / max(int((rows * classes).sum()), 1)
    return {"maximum": rounded_up(1 / int(rows.min())), "average": rounded(average)}


def _sample(found: Reidentification) -> dict[str, Any]:
    return {"maximum": rounded_up(found.highest_risk), "average": rounded(found.average_risk)}


def _population(kept: Release, population: int | None) -> dict[str, Any] | None:
    """Return the risk to an attacker who does not know which people are in the release."""
    people = kept.original.people
    if population is None or not people:
        return None
    if population < people:
        raise InputError("questionnaire: population must not be smaller than the released people")
    found = record_risk(kept, sampling_fraction=people / population)
    assert found.journalist is not None
    return {
        "people": population,
        "maximum": rounded_up(found.journalist.highest),
        "average": rounded(found.journalist.average),
        "basis": found.basis,
    }


def _utility(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the losses of the report, None where a figure is withheld."""
    lost = report.get("losses") or {}
    cells = lost.get("cells") or dict.fromkeys(("kept_exactly", "generalized", "hidden"))
    return {
        **cells,
        "metrics": [
            {name: metric[name] for name in ("name", "title", "value", "meaning")}
            for metric in lost.get("metrics", [])
        ],
    }


def _claims(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of differential privacy; the worst of several counts."""
    claims = report.get("claims", [])
    if not claims:
        return {"claims": []}
    return {
        "claims": claims,
        "epsilon": max(claim["epsilon"] for claim in claims),
        "delta": max(claim["delta"] for claim in claims),
        "unit": claims[0].get("unit", "record"),
        "proven": all(claim.get("proven", True) for claim in claims),
        "seeded": any(claim.get("seeded", False) for claim in claims),
    }


LEAST_PEOPLE = 100  # of the original and of the control group, for figures of attacks
_MAX_LISTED = 2000  # people that the intruder of the rehearsal looks for
_SEED = 0
NO_CONTROL = "no control group"
TOO_FEW = "too few people"
WITHHELD = "withheld"
NOT_POSSIBLE = "not possible"
ON_DISK = "rows on disk"


def attacks_on(kept: Release, control: Table | None) -> dict[str, Any]:
    """Return the figures of four attacks beyond a control group.

    Parameters:
        kept: The release without suppressed rows.
        control: People of the same population who are not released, None for no attacks.
    """
    reason = _reason_omitted(kept, control)
    nothing: dict[str, Any] = {name: dict(_NOT_MEASURED) for name in ATTACKS}
    if reason is None:
        try:
            found = attack(kept.original, kept, control=control, seed=_SEED)
        except InputError:
            reason = NOT_POSSIBLE
        else:
            if min(found.people, found.control or 0) < LEAST_PEOPLE:
                reason = TOO_FEW
    if reason is not None:
        return {"measured": False, "reason": reason, "people": None, "control": None, **nothing}
    figures = {name: _figures(name, getattr(found, name)) for name in ATTACKS}
    about = {"people": found.people, "control": found.control}
    return {"measured": True, "reason": None, **about, **figures}


def _reason_omitted(kept: Release, control: Table | None) -> str | None:
    if kept.withheld:
        return WITHHELD
    if control is None:
        return NO_CONTROL
    return TOO_FEW if min(kept.original.people, control.people) < LEAST_PEOPLE else None


_NOT_MEASURED: dict[str, Any] = {
    "measured": False,
    **dict.fromkeys(("risk", "low", "high", "control", "baseline", "flagged", "attacks", "way")),
    "ways": [],
}


def _figures(name: str, found: AttackRisk) -> dict[str, Any]:
    if not found.attacks:
        return dict(_NOT_MEASURED)
    figures = _attack_risk(found) | {"measured": True, "ways": []}
    if name == "inference":  # a way is a sensitive column
        figures["ways"] = [_attack_risk(way) for way in found.ways]
    return figures


def _attack_risk(found: AttackRisk) -> dict[str, Any]:
    """Return the figures of one way to attack; an upper end is rounded up, a risk is not hidden."""
    return {
        "risk": round(found.risk, 3),
        "low": _down(found.low),
        "high": _up(found.high),
        "control": None if found.control is None else round(found.control, 3),
        "baseline": round(found.baseline, 3),
        "flagged": found.flagged,
        "attacks": found.attacks,
        "way": found.name,
    }


def _down(share: float) -> float:
    return math.floor(share * 1000 + 1e-9) / 1000


def _up(share: float) -> float:
    return min(math.ceil(share * 1000 - 1e-9) / 1000, 1.0)


def rehearsal(kept: Release) -> dict[str, Any]:
    """Return how many people an intruder finds who has a list of half of them.

    The intruder knows the quasi-identifiers of the listed people and links each with at most one
    released record.

    Parameters:
        kept: The release without suppressed rows.
    """
    reason = WITHHELD if kept.withheld else None
    table = kept.original
    if reason is None and table.people < LEAST_PEOPLE:
        reason = TOO_FEW
    if reason is None and table.counts is not None:  # weighted rows stand for those on disk
        reason = ON_DISK
    if reason is None:
        try:
            return _rehearsed(kept, table)
        except InputError:
            reason = NOT_POSSIBLE
    nothing = dict.fromkeys(("listed", "found", "share", "low", "high", "guessing"))
    return {"measured": False, "reason": reason, **nothing}


def _rehearsed(kept: Release, table: Table) -> dict[str, Any]:
    rng = np.random.default_rng(_SEED)
    count = min(table.people // 2, _MAX_LISTED)
    people = rng.permutation(table.people)[:count]
    rows = people if table.person is None else np.flatnonzero(np.isin(table.person.ids, people))
    # in another order than the table, so that ties are not broken by position
    rows = rng.permutation(rows)
    result = link(kept, table.take(rows), truth=rows, seed=_SEED)
    assert result.success is not None
    hits = result.success.hits
    # a small count is not published: the interval is that of the largest count it may stand for
    few = 0 < hits < LEAST
    ends = proportion(LEAST - 1 if few else hits, count)  # never below the true share
    return {
        "measured": True,
        "reason": None,
        "listed": count,
        "found": masked(hits),
        "share": None if few else round(hits / count, 3),
        "low": 0.0 if few else _down(ends.low),
        "high": _up(ends.high),
        "guessing": round(result.success.guess.value / count, 3),
    }
