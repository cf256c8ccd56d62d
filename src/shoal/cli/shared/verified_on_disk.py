"""`shoal verify` of a file whose rows stay on disk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.shared.console import bars, note, notes
from shoal.cli.shared.options import Hierarchies
from shoal.cli.shared.pairs import pair_on_disk
from shoal.cli.shared.published_files import (
    check_people,
    figures,
    known_columns,
    linking_columns,
    refuse_unknown_person,
    stated_units,
    unclear_people,
)
from shoal.cli.shared.sources import Form, Roles, as_written
from shoal.core.column import Role
from shoal.core.roles import UnassignedColumns
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.core.release import Release
    from shoal.core.verification import Verification
    from shoal.engines.choice import Choice
    from shoal.engines.engine import Source
    from shoal.engines.large_verification import Published
    from shoal.privacy.model import Model


@dataclass(frozen=True)
class Beside:
    """A published file and what it is compared with.

    key, hierarchies: the column that matches rows with the original, and what its cells mean.
    """

    file: Path
    original: Path | None
    key: str | None
    hierarchies: Hierarchies
    choice: Choice

    def release(self, roles: Roles, form: Form, claim: Model | None) -> Release:
        """Return the file with its original, row by row."""
        if self.choice.in_spark:
            raise InputError(
                f"{self.file}: rows are not matched with the original in Spark; use --engine duckdb"
            )
        assert self.original is not None
        return pair_on_disk(
            self.original,
            self.file,
            roles,
            self.hierarchies,
            form,
            self.key,
            {self.key: "identifier"},
            claim,
            self.choice.budget,
        )


def verify_on_disk(
    source: Source,
    roles: Roles,
    form: Form,
    wanted: Model | None,
    beside: Beside,
    *,
    unlinked: bool,
) -> dict[str, Any]:
    """Return what is found about a file whose rows stay on disk."""
    from shoal.core.verification import covers_rows
    from shoal.engines.engine import Links
    from shoal.engines.large_verification import baseline_on_disk, published_on_disk
    from shoal.privacy import profile
    from shoal.risk.caveats import caveats

    known, original, budget = known_columns(roles), beside.original, beside.choice.budget
    settings = {**known.file, **form.stated}
    units: dict[str, Any] = {**stated_units(roles), "rows_are_people": True}
    linking = linking_columns(roles, units["person"], unlinked=unlinked)
    with bars(), notes(unless=UnassignedColumns):
        baseline = None
        if original is not None and any(s["role"] == "sensitive" for s in known.columns.values()):
            own = {**known.file, **as_written(original, form.stated)}
            baseline = baseline_on_disk(original, known.columns, own, units, budget)
        units["rows_are_people"] = roles.rows_are_people
        published = published_on_disk(
            source,
            known.columns,
            settings,
            units,
            budget,
            baseline,
            Links(tuple(linking), people=not unlinked),
            by_profile=wanted is None or not covers_rows(wanted),
        )
        with published.table as table:
            classes: Classes = published.classes
            people, found = published.people, published.caveats()
            households = bool(table.units["household"])
            if people is None and not households:
                matched = _matched(roles, form, beside, units)
                if matched is not None:
                    classes, found = matched, caveats(matched)
                    people, households = matched.released_people, bool(units["household"])
            elif not table.units["person"] and original is not None:
                check_people(beside.file, units["person"], table.links.columns)
            _check(wanted, published, classes)
            reached = profile(classes, published.sensitive)
            data = figures(published.records, classes, published, reached, found)
            data["people"], data["households"] = people, households
            if wanted is not None:
                checked = _judged(wanted, published, classes, roles, form, beside)
                data["check"] = checked.to_dict()
    return data


def _matched(roles: Roles, form: Form, beside: Beside, units: dict[str, Any]) -> Classes | None:
    """Return the classes with the people of the original; None if there are none to count."""
    if beside.original is None or not (units["person"] or units["household"]):
        if roles.person:
            refuse_unknown_person(beside.file, roles.person)
        return None
    release = beside.release(roles, form, None)
    if release.run.notes:
        raise InputError(unclear_people(beside.file))
    if any(spec.get("role") == "insensitive" for spec in roles.columns.values()):
        note("people are matched with the original, so nobody counts whom insensitive columns "
             "single out")  # fmt: skip
    classes = release.classes
    shown = tuple(c for c in classes.table.columns if c.role is not Role.INSENSITIVE)
    return replace(classes, table=replace(classes.table, columns=shown))


def _check(wanted: Model | None, published: Published, classes: Classes) -> None:
    """Raise an error for a model that does not apply to the file."""
    if wanted is None:
        return
    for name in wanted.columns:
        if name not in published.sensitive:
            raise InputError(f"{wanted}: column {name!r} is not sensitive; name it in --sensitive")
    wanted.check(published.stand_in() if classes is published.classes else classes.table)


def _judged(
    wanted: Model,
    published: Published,
    classes: Classes,
    roles: Roles,
    form: Form,
    beside: Beside,
) -> Verification:
    """Check the model on the classes, or on rows if it is about more than classes."""
    from shoal.core.classes import Classes
    from shoal.core.verification import judge

    if any(part.over_rows for part in wanted.parts) and classes is published.classes:
        if published.original is not None and wanted.columns:
            raise InputError(
                f"{wanted} is compared with an original only in memory; check its models one by one"
            )
        return judge(Classes.by_quasi(published.rows_of_people(wanted.columns)), wanted)
    decided = (part.by_class or part.by_release or part.holds(classes).all()
               for part in wanted.parts)  # fmt: skip
    if all(decided):
        return judge(classes, wanted)
    if beside.original is None:
        raise InputError(
            f"{wanted} compares the release with the original; name the original with --original"
        )
    return beside.release(roles, form, wanted).verify()
