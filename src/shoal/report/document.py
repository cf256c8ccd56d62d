"""The report of a release: one document for those who sign it and those who check it.

It is gathered as plain data first, which is the JSON form; the page draws the same data.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shoal.core.column import Role
from shoal.core.files import check_writable, replace_file
from shoal.core.progress import report as tell
from shoal.core.release import Release
from shoal.core.row_order import Order
from shoal.core.verification import Verification
from shoal.errors import NotAnonymous, OutputError
from shoal.report.attacks import attacks, sensitive_columns
from shoal.report.candidates import size_bars, uniqueness
from shoal.report.caveats import not_covered
from shoal.report.columns import columns
from shoal.report.distributions import distribution
from shoal.report.expected import expected
from shoal.report.kept import released_only
from shoal.report.learning import learning, refuse_learning
from shoal.report.limits import limits
from shoal.report.losses import correlations, losses
from shoal.report.masking import LEAST, Mask, rounded
from shoal.report.page import page, verdict
from shoal.report.people import records, released_in_words, unit
from shoal.report.repeating import repeating
from shoal.report.withheld import withheld_contents
from shoal.risk.reidentification import Reidentification

ENDINGS = (".html", ".json")
FORMAT = {"name": "shoal-report", "version": 1}
_STAGES = 6
_REACHED = {
    "k-anonymity": "people in the smallest group",
    "l-diversity": "values that the least diverse group shows",
    "entropy-l-diversity": "equally frequent values that would be as uncertain as the worst group",
    "recursive-l-diversity": "c that the worst group needs more than; less is better",
    "t-closeness": "distance of the group that differs most from the whole table; less is better",
    "alpha-k-anonymity": "largest share that one value has in a group; less is better",
    "delta-disclosure": "largest change of a value's share, as a logarithm; less is better",
    "beta-likeness": "largest gain of a value's share in a group; less is better",
    "one-k-anonymity": "records that the person worst off fits",
    "k-one-anonymity": "people that fit the record worst off",
    "k-k-anonymity": "fewest partners that a person or a record has",
    "k-concealment": "records that the person worst off can have",
    "freeform-anonymity": "different partners that everybody gets",
}

_AGAINST_THE_TABLE = ("t-closeness", "delta-disclosure", "beta-likeness")


def write_report(
    release: Release, path: str | Path, *, force: bool = False, **options: Any
) -> None:
    """Write the report as a page (.html) or as data (.json), whole or not at all.

    The release is checked first; without its guarantee there is no report.

    options: those of `contents`.
    """
    path = Path(path)
    check_report(path, force=force)
    write_contents(contents(release, **options), path, force=force)


def write_contents(told: dict[str, Any], path: Path, *, force: bool = False) -> None:
    """Write a report that has been gathered, by the name's ending."""
    check_report(path, force=force)
    if path.suffix.lower() == ".json":
        text = json.dumps(told, indent=2, ensure_ascii=False) + "\n"
    else:
        text = page(told)
    with replace_file(path, force=force) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def check_report(path: Path, *, force: bool = False) -> None:
    """Refuse early a report that could not be written."""
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(f"{path}: a report ends in {' or '.join(ENDINGS)}; rename it")
    check_writable(path, force=force)


def contents(
    release: Release,
    *,
    title: str = "",
    date: str | None = None,
    released: str | Path | None = None,
    command: str | None = None,
    order: Order = "canonical",
    least: int | None = None,
    target: str | None = None,
) -> dict[str, Any]:
    """Return all that the report says, as JSON can hold it.

    title, date: as they are to stand there; without a date, equal releases give equal reports.
    released: the file that was written; its name, size and digest are told.
    command: how the release was made, if not by the call in Python that is told anyhow.
    order: how the rows were written.
    least: people behind anything shown, by default 5, or k where that is more.
    target: a column; how well models still predict it is told too.

    Of a release with claims only what follows from its rows is told, and what is public.
    """
    tell("report", 0, _STAGES)
    checked = _checked(release)
    k = int(getattr(release.model, "least_size", 1))
    mask = Mask(max(k, LEAST) if least is None else least)
    file = None if released is None else Path(released)
    head = {"format": FORMAT, "title": title or "Anonymized release", "date": date}
    if release.withheld:
        refuse_learning(target)
        guarantee = _guarantee(release, checked)
        return head | withheld_contents(
            release, guarantee, mask, command=command, released=file, order=order
        )
    kept = released_only(release)
    found = Reidentification.of(kept)
    tell("report", 1, _STAGES)
    lost = losses(kept, mask)
    tell("report", 3, _STAGES)
    related = correlations(kept)
    tell("report", 4, _STAGES)
    open_points = not_covered(kept, mask)
    sensitive = sensitive_columns(kept, open_points.same_value)
    learned = learning(kept, target)
    counts, about = records(release, mask), unit(kept)
    told = {
        **head,
        "verdict": verdict(released_in_words(counts), release.model.parts, open_points.warnings),
        "warnings": open_points.warnings,
        "least_count": mask.least,
        "records": counts,
        "unit": about,
        "guarantee": _guarantee(release, checked),
        "risk": _risk(kept, found, k, mask),
        "columns": columns(kept, mask),
        "singling_out": open_points.singling_out,
        "sensitive": sensitive,
        "attacks": attacks(kept, mask),
        "losses": lost,
        "utility": learned,
        "distributions": _distributions(kept, mask),
        "correlations": related,
        "limits": limits(kept, sensitive, about, by_class=found.by_class, order=order),
        "repeat": repeating(release, command, file, order=order),
    }
    tell("report", _STAGES, _STAGES)
    return told


def _checked(release: Release) -> Verification:
    checked = release.verify()
    if not checked:
        raise NotAnonymous(
            f"{release.model} does not hold on the released values; no report was written"
        )
    return checked


def _guarantee(release: Release, checked: Verification) -> dict[str, Any]:
    """Return what is promised and reached, save for distances from a table with people left out.

    These could be solved for them.
    """
    unsaid = _AGAINST_THE_TABLE if release.classes.suppressed else ()
    return {
        "model": str(release.model),
        "promise": release.model.describe(),
        "parts": [
            {
                "model": str(part),
                "promise": part.describe(),
                "reached": None if part.name in unsaid else rounded(checked.levels[str(part)]),
                "reached_is": _REACHED.get(part.name, ""),
            }
            for part in release.model.parts
        ],
        "verified": checked.holds,
        "truthful": checked.truthful,
        "classes": checked.classes,
        "smallest_class": checked.smallest,
        "smallest_class_rows": int(release.classes.rows.min()) if checked.classes else 0,
    }


def _risk(kept: Release, found: Reidentification, k: int, mask: Mask) -> dict[str, Any]:
    """Return how well people are hidden among each other."""
    return {
        "by_class": found.by_class,
        "fewest_candidates": rounded(found.fewest),
        "highest": rounded(found.highest_risk) if found.fewest else None,
        "one_in": rounded(1 / found.highest_risk) if found.fewest else None,
        "average": rounded(found.average_risk),
        "k": k,
        "uniqueness": uniqueness(kept, found, k, mask),
        "sizes": size_bars(found, mask),
        "expected": expected(kept, mask),
    }


def _distributions(kept: Release, mask: Mask) -> list[dict[str, Any]]:
    """Return the quasi-identifiers before and after, then the sensitive columns as released."""
    if not len(kept.original):
        return []
    shown = sorted(
        (c for c in kept.original if c.role in (Role.QUASI, Role.SENSITIVE)),
        key=lambda column: column.role is Role.SENSITIVE,
    )
    return [distribution(c, kept.recodings.get(c.name), kept.original, mask) for c in shown]
