"""The report of a release: one document for the people who sign it and those who check it.

`contents` collects everything as plain data, which is the JSON form; `page` renders it as HTML.

    verify       no report if the guarantee does not hold on the released values
    withhold     a release with differential privacy claims: only what follows from published rows
    restrict     every figure is about released rows only (`masking.released_only`)
    measure      risk, losses, correlations, attacks, distributions; small counts are masked
    explain      what the guarantee does not cover, and how to repeat the release
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError, NotAnonymous, NotConverged, OutputError
from shoal.files.writing import Order
from shoal.metrics.metric import APART
from shoal.release.release import Release
from shoal.release.verification import Verification
from shoal.report.before_after import distribution
from shoal.report.limits import limits, repeating, withheld_contents
from shoal.report.losses import correlations, is_coarser, losses, sizes_before
from shoal.report.masking import LEAST, Mask, released_only, rounded
from shoal.report.page import page, verdict
from shoal.report.released import columns, records, released_in_words, size_bars, uniqueness, unit
from shoal.risk import Check, checks
from shoal.risk.assessment import assess
from shoal.risk.caveats import caveats
from shoal.risk.checks import guards_values
from shoal.risk.reidentification import Reidentification
from shoal.risk.singling_out import LinkedRows, SinglingOut, Uniques
from shoal.support.arrays import Counts
from shoal.support.files import check_writable, replace_file
from shoal.support.memory import return_memory
from shoal.support.outputs import as_output
from shoal.support.progress import report as report_progress
from shoal.support.wording import counted, percent_of
from shoal.table.column import Role

ENDINGS = (".html", ".json")
FORMAT = {"name": "shoal-report", "version": 1}
_STAGES = 6
_REACHED = {
    "k-anonymity": "people in the smallest group",
    "km-anonymity": "fewest people with a combination of rows that a person has",
    "l-diversity": "distinct values in the least diverse group",
    "entropy-l-diversity": "number of equally frequent values with the entropy of the worst group",
    "recursive-l-diversity": "value that c must exceed for the worst group; lower is better",
    "t-closeness": "distance between the worst group and the whole table; lower is better",
    "alpha-k-anonymity": "largest share of one value in a group; lower is better",
    "delta-disclosure": "largest change of a value's share, as a logarithm; lower is better",
    "beta-likeness": "largest relative increase of a value's share in a group; lower is better",
    "risk": "highest risk of a person; lower is better",
    "average-risk": "average risk of a person; lower is better",
    "k-map": "fewest people of the population who match a record",
    "delta-presence": "highest probability that a person is known to be in the release",
    "one-k-anonymity": "fewest records that a person matches",
    "k-one-anonymity": "fewest people that a record matches",
    "k-k-anonymity": "fewest matches of a person or a record",
    "k-concealment": "fewest records that a person can be assigned to",
    "freeform-anonymity": "disjoint one-to-one assignments of people to records",
}

_COMPARED_WITH_TABLE = ("t-closeness", "delta-disclosure", "beta-likeness")


def write_report(
    release: Release, path: str | Path, *, force: bool = False, **options: Any
) -> None:
    """Write the report as a page (.html) or as data (.json).

    The release is verified first. If its guarantee does not hold, no report is written. The file
    is complete or absent, never partial.

    Parameters:
        release: The release to report on.
        path: The file to write; its ending, `.html` or `.json`, sets the format.
        force: Overwrite an existing file.
        options: The options of `contents`.

    Raises:
        NotAnonymous: The guarantee does not hold on the released values.
        OutputError: The file cannot be written, or its ending is another.
        InputError: An option is wrong.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_report(release, Path(folder, "report.html"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['report.html']
    """
    path = Path(path)
    check_report(path, force=force)
    write_contents(contents(release, **options), path, force=force)


def write_contents(report: dict[str, Any], path: Path, *, force: bool = False) -> None:
    """Write the contents of a report in the format that the file's ending names."""
    check_report(path, force=force)
    if path.suffix.lower() == ".json":
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    else:
        text = page(report)
    with as_output(replace_file(path, force=force), path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def check_report(path: Path, *, force: bool = False) -> None:
    """Raise an error before any work if the report could not be written."""
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(f"{path}: the name of a report must end in {' or '.join(ENDINGS)}")
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
    """Return the contents of the report as plain data that JSON can represent.

    The report of a release with differential privacy claims contains only what follows from the
    released rows and from public inputs.

    Parameters:
        release: The release to report on.
        title: The title of the report.
        date: The date to print; without one, equal releases give equal reports.
        released: The released file; the report gives its name, size and SHA-256.
        command: The command that made the release, shown beside the equivalent Python call.
        order: The order in which the rows were written.
        least: The fewest people behind any figure shown; by default 5, or k if k is larger.
        target: A column; the report adds how well models trained on the release predict it.

    Returns:
        The report as nested dictionaries and lists.

    Raises:
        NotAnonymous: The guarantee does not hold on the released values.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")
    >>> contents(release)["guarantee"]["promise"]
    "Anyone who knows a person's quasi-identifiers finds at least 2 matching people."
    """
    report_progress("report", 0, _STAGES)
    checked = _checked(release)
    k = int(getattr(release.model, "least_size", 1))
    mask = Mask(max(k, LEAST) if least is None else least)
    file = None if released is None else Path(released)
    head = {"format": FORMAT, "title": title or "Anonymized release", "date": date}
    if release.withheld:
        _refuse_learning(target)
        guarantee = _guarantee(release, checked)
        return head | withheld_contents(
            release, guarantee, mask, command=command, released=file, order=order
        )
    rows = release.digest
    if rows.suppressed is not None:
        rows.original.forget_distinct()  # those of the released records are used instead
    # all figures below are about these rows; only `records` counts suppressed ones, masked
    kept = released_only(rows)
    return_memory(len(rows.original))
    found = Reidentification.of(kept)
    _end_stage(rows, 1)
    lost = losses(kept, mask)
    _end_stage(rows, 3)
    related = correlations(kept)
    # the grouped tuples are large, and nothing below needs them
    kept.original.forget_distinct()
    _end_stage(rows, 4)
    counted = (getattr(release, name, None) for name in ("singling_out", "linked_rows"))
    open_points = not_covered(kept, mask, *counted)
    sensitive = sensitive_columns(kept, open_points.same_value)
    learned = _learning(kept, target)
    counts, about = records(rows, mask), unit(kept)
    report = {
        **head,
        "verdict": verdict(released_in_words(counts), release.model.parts, open_points.warnings),
        "warnings": open_points.warnings,
        "least_count": mask.least,
        "records": counts,
        "unit": about,
        "guarantee": _guarantee(rows, checked),
        "risk": _risk(kept, found, k, mask, sizes_before(release, rows)),
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
    report_progress("report", _STAGES, _STAGES)
    return report


def _end_stage(release: Release, stage: int) -> None:
    return_memory(len(release.original))
    report_progress("report", stage, _STAGES)


def _checked(release: Release) -> Verification:
    checked = release.verify()
    if not checked:
        raise NotAnonymous(
            f"{release.model} does not hold on the released values; no report was written"
        )
    return checked


def _guarantee(release: Release, checked: Verification) -> dict[str, Any]:
    """Return the guarantee and the levels achieved.

    Levels that compare groups with the whole table are omitted if records are suppressed, because
    the values of the suppressed records could be computed from them.
    """
    omitted = _COMPARED_WITH_TABLE if release.classes.suppressed else ()
    return {
        "model": str(release.model),
        "promise": release.model.describe(),
        "parts": [
            {
                "model": str(part),
                "promise": part.describe(),
                "reached": None if part.name in omitted else rounded(checked.levels[str(part)]),
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


def _risk(
    kept: Release,
    found: Reidentification,
    k: int,
    mask: Mask,
    before: tuple[Counts, Counts] | None = None,
) -> dict[str, Any]:
    """Return the re-identification risk of the released people."""
    return {
        "by_class": found.by_class,
        "fewest_candidates": rounded(found.fewest),
        "highest": rounded(found.highest_risk) if found.fewest else None,
        "one_in": rounded(1 / found.highest_risk) if found.fewest else None,
        "average": rounded(found.average_risk),
        "k": k,
        "uniqueness": uniqueness(kept, found, k, mask, before),
        "sizes": size_bars(found, mask),
        "expected": expected(kept, mask),
    }


def _distributions(kept: Release, mask: Mask) -> list[dict[str, Any]]:
    """Return the quasi-identifiers before and after, then the sensitive columns as released.

    A column that was read at a coarser level is omitted: its values are not known row by row.
    """
    if not len(kept.original):
        return []
    shown = sorted(
        (c for c in kept.original if c.role in (Role.QUASI, Role.SENSITIVE)),
        key=lambda column: column.role is Role.SENSITIVE,
    )
    return [
        distribution(c, kept.recodings.get(c.name), kept.original, mask)
        for c in shown
        if not is_coarser(c)
    ]


def _learning(kept: Release, target: str | None) -> dict[str, Any] | None:
    """Return how well models predict the target, or None without a target."""
    if target is None:
        return None
    from shoal.utility import evaluate

    if not kept.knows("tuple"):
        raise InputError(f"target: a model {APART}; leave it out, or state a larger memory")
    evaluation = evaluate(kept, target).to_dict()
    for score in evaluation["scores"]:
        for name, value in score.items():
            if isinstance(value, float):
                score[name] = rounded(value)
    return evaluation


def _refuse_learning(target: str | None) -> None:
    """Raise an error for a target: its figures depend on records that are not released."""
    if target is not None:
        raise InputError(
            "target: the report of a release with differential privacy claims cannot include "
            "predictive utility, which is measured on the original table; omit the target, and do "
            "not publish the output of `shoal utility`"
        )


_PEOPLE = ("certain", "nearly", "raised", "alike", "different", "held_people", "divisible_people")


def sensitive_columns(kept: Release, same_value: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the sensitive columns with the parts of the guarantee that cover them.

    same_value: for each column with groups that share one value, how many groups and people.
    """
    parts = kept.model.parts
    return [
        {
            "column": name,
            "guarded_by": [str(part) for part in parts if name in part.columns],
            "same_value": same_value.get(name),
        }
        for name in kept.original.sensitive
    ]


def attacks(kept: Release, mask: Mask) -> dict[str, Any]:
    """Return the finding of each kind of attack, and the reason if some are not counted."""
    try:
        found = checks(kept) if len(kept.original) else ()
    except InputError as error:
        return {"checks": [], "reason": str(error)}
    reason = None
    if guards_values(kept) and not kept.knows("tuple"):
        reason = f"reasoning from the method (minimality), which {APART}"
    return {"checks": [_masked_attack(check, mask) for check in found], "reason": reason}


def _masked_attack(check: Check, mask: Mask) -> dict[str, Any]:
    figures, total = dict(check.figures), int(check.figures["people"])
    words = ""
    for name in _PEOPLE:
        if name not in figures:
            continue
        shown = mask.count(int(figures[name]), total)
        words = words or (shown if isinstance(shown, str) else "")
        share = f"{name.removesuffix('_people')}_share"
        if share in figures:
            figures[share] = mask.share(int(figures[name]), total)
        figures[name] = shown
    return {
        "name": check.name,
        "title": check.title,
        "column": check.column,
        "severity": check.severity,
        "sentence": f"{words} of the released people are affected" if words else check.sentence,
        "figures": {n: rounded(v) if isinstance(v, float) else v for n, v in figures.items()},
    }


@dataclass(frozen=True)
class NotCovered:
    """Risks that a report states beside the guarantee.

    warnings: risks that affect many people, in words.
    same_value: for each sensitive column with groups that share one value, how many, in words.
    singling_out: how many people the columns published unchanged single out.
    """

    warnings: list[str]
    same_value: dict[str, str]
    singling_out: dict[str, Any]


def not_covered(
    kept: Release,
    mask: Mask,
    singled: SinglingOut | None = None,
    linked: LinkedRows | None = None,
) -> NotCovered:
    """Return what the guarantee of a release does not cover; `kept` are the released records.

    singled, linked: who is singled out, also by linked rows, if it was counted elsewhere.
    """
    found = caveats(kept)
    if singled is not None:
        found = replace(found, singling_out=singled)
    if linked is not None:
        found = replace(found, linked=linked)

    def say(some: int, total: int) -> str:
        shown = mask.count(some, total)
        people = counted(total, "person", "people")
        if isinstance(shown, str):
            return f"{shown} of {people}"
        return f"{shown:,} of {people} ({percent_of(some, total)})"

    return NotCovered(
        warnings=found.sentences(say, "group"),
        same_value={
            each.column: found.describe(each, say, "group")
            for each in found.same_value
            if each.certain
        },
        singling_out=_masked_caveat(found.singling_out, kept, mask),
    )


def _masked_caveat(found: SinglingOut, kept: Release, mask: Mask) -> dict[str, Any]:
    roles = {column.name: str(column.role) for column in kept.original}
    return {
        "people": found.people,
        "notable": found.notable,
        "columns": [
            {"column": each.columns[0], "role": roles[each.columns[0]], **_counts(each, mask)}
            for each in found.columns
        ],
        "together": None if found.together is None else _counts(found.together, mask),
    }


def _counts(found: Uniques, mask: Mask) -> dict[str, Any]:
    both = found.with_quasi or 0
    return {
        "alone": mask.count(found.alone, found.people),
        "alone_share": mask.share(found.alone, found.people),
        "with_quasi": mask.count(both, found.people),
        "with_quasi_share": mask.share(both, found.people),
    }


_MAX_PEOPLE = 50_000  # more would delay the report
_HALF_WIDTH = 0.05


def expected(kept: Release, mask: Mask) -> dict[str, Any]:
    """Return the expected number of people re-identified, or the reason why it is not counted.

    kept: the released records only. The same release gives the same figures.
    """
    if not kept.knows("tuple"):
        return {"reason": f"it {APART}"}
    people = kept.original.people
    if not people:
        return {"reason": "nothing was released"}
    if people > _MAX_PEOPLE:
        return {
            "reason": f"the release has more than {_MAX_PEOPLE:,} people; use `shoal risk assess`"
        }
    try:
        found = assess(kept, half_width=_HALF_WIDTH, seed=0)
    except (InputError, NotConverged) as error:
        return {"reason": str(error)}
    return {
        "reason": None,
        "known": list(found.known),
        "people": people,
        "value": round(found.value, 1),
        "low": None if found.low is None else round(found.low, 1),
        "high": None if found.high is None else round(found.high, 1),
        "share": rounded(found.share),
        "method": found.method,
        "certain": mask.count(found.forced, people),
        "k": found.k,
        "above_k": mask.count(found.above, people),
        "guarantee": found.guarantee,
        "assumptions": list(found.assumptions),
    }
