"""Make one release: the task of a job, which reads, anonymizes, checks and writes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.release.verification import Verification

if TYPE_CHECKING:
    from shoal.release.large_release import LargeRelease

SCHEMA = "schema.yaml"
REPORT = "report.html"
REPORT_DATA = "report.json"
KEPT = "release.bin"  # the release with its original table: for this session only, never saved


@dataclass(frozen=True)
class RunRequest:
    """Everything that determines a release; the schema and hierarchies are files in its folder.

    Parameters:
        source: The file.
        folder: The folder of the run, with `schema.yaml` and its hierarchies.
        output: The name of the released file.
        model: The guarantee as text.
        method: The name of the method.
        options: Its options.
        rows_are_people: Whether the owner states that every row is a different person.
        key_file: The secret key of pseudonyms, if there is one.
        domain: The recipient or project of pseudonyms.
        escape_formulas: Whether cells that a spreadsheet would run get a quote before them.
        title: The title of the report.
        command: The command line that repeats the release, for the report.
        memory: The bytes of memory that may be used, if the rows stay on disk; None if the table
            is read into memory.
        reported: Whether the release has a report; some releases from disk have none.
    """

    source: Path
    folder: Path
    output: str
    model: str
    method: str = "mondrian"
    options: Mapping[str, Any] = field(default_factory=dict)
    rows_are_people: bool = False
    key_file: Path | None = None
    domain: str = ""
    escape_formulas: bool = False
    title: str = ""
    command: str = ""
    memory: int | None = None
    reported: bool = True

    @property
    def on_disk(self) -> bool:
        """Whether the rows stay on disk."""
        return self.memory is not None


@contextmanager
def opened(request: RunRequest) -> Iterator[Any]:
    """Yield the table of a release, in memory or on disk.

    Parameters:
        request: Everything that determines the release.
    """
    import shoal

    schema = request.folder / SCHEMA
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if request.memory is None:
            table: Any = shoal.read(request.source, schema, rows_are_people=request.rows_are_people)
        else:
            table = shoal.open(
                request.source,
                schema,
                rows_are_people=request.rows_are_people,
                memory=request.memory,
            )
    try:
        yield table
    finally:
        if request.on_disk:
            table.close()


def make_release(report: Callable[[float, str], None], request: RunRequest) -> dict[str, Any]:
    """Anonymize the file, check the guarantee, and write the release and its report.

    Parameters:
        report: Takes the fraction of the work that is done, and what is done next.
        request: What to release.

    Returns:
        The summary of the release as plain data.

    Raises:
        ShoalError: There is no such release; nothing was written.
    """
    report(0.02, "Reading the table")
    with opened(request) as table:
        return _make(report, request, table)


def _make(report: Callable[[float, str], None], request: RunRequest, table: Any) -> dict[str, Any]:
    import shoal
    from shoal.comparison.runner import pack
    from shoal.identifiers.keys import Key
    from shoal.report.document import contents, write_contents

    report(0.15, "Searching for the release that keeps the most detail")
    release = shoal.anonymize(
        table,
        request.model,
        request.method,
        key=None if request.key_file is None else Key.read(request.key_file),
        domain=request.domain,
        **request.options,
    )
    report(0.7, "Checking the guarantee on the released rows")
    output = request.folder / request.output
    checked = release.write(output, force=True, escape_formulas=request.escape_formulas)
    report(0.8, "Writing the report")
    summary = summarize(release, checked)
    try:
        document = contents(
            release,
            title=request.title,
            date=date.today().isoformat(),
            released=output,
            command=request.command,
        )
    except InputError as error:
        if not request.on_disk:
            raise
        summary["no_report"] = str(error)
        document = _in_short(summary)
    else:
        write_contents(document, request.folder / REPORT, force=True)
    write_contents(document, request.folder / REPORT_DATA, force=True)
    if not request.on_disk:
        with private_file(request.folder / KEPT) as file:
            pack(release, file)
    report(1.0, "Done")
    return summary


def _in_short(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the main figures like the contents of a report, where a whole report is refused."""
    cells = summary["cells"]
    counts = ("records", "people", "released", "released_people", "suppressed_people")
    return {
        "guarantee": {
            "model": summary["model"],
            "promise": summary["promise"],
            "verified": summary["verified"],
            "smallest_class": summary["smallest_class"],
        },
        "records": {name: summary[name] for name in counts},
        "losses": {
            "cells": {
                "kept_exactly": cells["kept"],
                "generalized": cells["generalized"],
                "hidden": cells["hidden"],
            }
        },
        "risk": {"highest": 1 / max(summary["smallest_class"], 1)},
        "warnings": summary["warnings"],
        "notes": summary["notes"],
    }


def private_file(path: Path) -> Any:
    """Open a new file that only its owner can read.

    Parameters:
        path: The file; one that exists is replaced, and its readers keep what they have.
    """
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def summarize(release: Release, checked: Verification) -> dict[str, Any]:
    """Return the main figures of a release as plain data.

    Figures that depend on unreleased records are None if the release claims differential privacy.

    Parameters:
        release: The release.
        checked: The outcome of its check.
    """
    from shoal.metrics import evaluate
    from shoal.metrics.registry import cell_shares, cell_shares_by_attribute
    from shoal.release.large_release import LargeRelease
    from shoal.release.provenance import Tally
    from shoal.risk.caveats import caveats

    summary: dict[str, Any] = {
        "model": checked.model,
        "promise": release.model.describe(),
        "verified": checked.holds,
        "levels": dict(checked.levels),
        "classes": checked.classes,
        "smallest_class": checked.smallest,
        "released": checked.records,
        "claims": [str(claim) for claim in release.claims],
        "method": release.run.method,
        "options": dict(release.run.options),
        "notes": list(release.run.notes),
        "node": None if release.node is None else dict(release.node),
        "quasi": list(release.original.quasi),
        "sensitive": list(release.original.sensitive),
        "replaced": {name: each.treatment for name, each in release.replaced.items()},
    }
    if release.withheld:
        hidden = ("records", "people", "suppressed", "suppressed_people", "cells", "loss")
        return summary | dict.fromkeys(hidden) | {"columns": {}, "warnings": []}
    if isinstance(release, LargeRelease):
        return summary | _on_disk_figures(release)
    by_column = cell_shares_by_attribute(release)
    return summary | {
        **Tally.of(release.classes).to_dict(),
        "cells": cell_shares(release).to_dict(),
        "columns": {name: shares.to_dict() for name, shares in by_column.items()},
        "loss": evaluate(release, ["ncp"])["ncp"],
        "warnings": caveats(release).sentences(),
    }


def _on_disk_figures(release: LargeRelease) -> dict[str, Any]:
    """Return the figures of a release whose rows stay on disk, counted by the engine."""
    from shoal.risk.caveats import caveats_of

    by_column = dict(release.cells_by_column)
    kinds = ("kept", "generalized", "hidden")
    return {
        **release.tally.to_dict(),
        "sensitive": list(release.source.names("sensitive")),
        "cells": {k: sum(s[k] for s in by_column.values()) / len(by_column) for k in kinds},
        "columns": by_column,
        "loss": release.losses["ncp"],
        "warnings": caveats_of(release).sentences(),
    }
