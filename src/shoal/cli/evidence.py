"""`shoal evidence`: an evidence pack about a released file, made by any tool."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.risk.attack import ControlFile, load_control
from shoal.cli.shared.console import announce_compilation, bars, emit, out
from shoal.cli.shared.evidence import PageLanguage, QuestionnaireFile, SignKey, requested_evidence
from shoal.cli.shared.options import Force, Hierarchies, Json, K, Key, wanted_model
from shoal.cli.shared.pairs import Original, Released, load_pair
from shoal.cli.shared.repeating import typed
from shoal.cli.shared.sources import EveryRole, Form, grouped
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.publishing.row_order import Order
    from shoal.core.release import Release


@grouped
def evidence(
    *,
    context: typer.Context,
    original: Original,
    released: Released,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to create.")
    ],
    k: K = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="A model that the release meets: 'l-diversity(3, disease)'. Repeatable.",
        ),
    ] = None,
    questionnaire: QuestionnaireFile = None,
    sign_key: SignKey = None,
    control: ControlFile = None,
    language: PageLanguage = "en",
    force: Force = False,
    key: Key = None,
    roles: EveryRole,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Write an evidence pack about RELEASED, a release of ORIGINAL made by any tool.

    The pack has figures of the release, what regimes ask, and `verify.py`, which recomputes the
    figures of the released file with Python and DuckDB only. With --control it also contains four
    attacks on the release. Nothing is written unless the guarantee holds. RELEASED is a CSV file
    with commas, a .tsv or a .parquet file.
    """
    from shoal.report.document import contents

    wanted = wanted_model(k, model)
    pack = requested_evidence(
        output, questionnaire, sign_key, released, force=force, language=language
    )
    with bars():
        release = load_pair(original, released, roles, hierarchy, form, key=key, claim=wanted)
        _check_people(release)
        with announce_compilation(quiet=json):
            reported = contents(
                release,
                title=f"Release of {original.name}",
                date=date.today().isoformat(),
                released=released,
                command=typed(context),
                order=_order(release, released),
            )
            others = None if control is None else load_control(control, roles, form)
            data = pack.write(release, reported, others)

    def show() -> None:
        out.print(f"evidence written to {output}", soft_wrap=True)
        out.print(f"SHA-256 of its manifest: {data['sha256']}", soft_wrap=True)

    emit(json, data, show)


def _check_people(release: Release) -> None:
    """Refuse figures about people if it is not certain which rows are whose."""
    from shoal.reading.released import MATCHED

    if release.original.unit is not None and MATCHED in release.run.notes:
        raise InputError(
            "people cannot be counted: rows of the released file match several original rows; "
            "write the evidence with `shoal anonymize --evidence`, or keep the order of the rows"
        )


def _order(release: Release, released: Path) -> Order:
    """Return "original" if the rows of the file have the order of the original table."""
    import pyarrow as pa

    from shoal.reading import Format, read_arrow

    names = list(release.recodings)
    file, rows = read_arrow(released, Format(), names, expected=names), release.to_arrow()
    same = all(
        file.column(name).cast(pa.large_string()).combine_chunks()
        == rows.column(name).cast(pa.large_string()).combine_chunks()
        for name in names
    )
    return "original" if same else "canonical"
