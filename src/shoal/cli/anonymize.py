"""`shoal anonymize`: make a verified release of a file."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.dp.ledger import KeyFile, opened
from shoal.cli.shared.console import announce_compilation, bars, emit, note, out
from shoal.cli.shared.held_out import Control, ControlGroup
from shoal.cli.shared.method_options import chosen_method
from shoal.cli.shared.options import (
    File,
    Force,
    Hierarchies,
    Json,
    K,
    check_outputs,
    seed_option,
    wanted_model,
)
from shoal.cli.shared.repeating import typed
from shoal.cli.shared.sources import EveryRole, Form, grouped, load
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.publishing.row_order import Order
    from shoal.core.release import Release
    from shoal.core.table import Table

Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="The file to write: .csv, .tsv or .parquet."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODEL", help="Another privacy model: 'l-diversity(3, disease)'. Repeatable."
    ),
]
Method = Annotated[
    str, typer.Option(metavar="NAME", help="The method; `shoal methods` lists all of them.")
]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option", "-O", metavar="NAME=VALUE", help="An option of the method. Repeatable."
    ),
]
Seed = Annotated[int | None, seed_option("The random seed, for randomized methods.")]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a report for reviewers, such as an ethics board: .html or .json.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --report: add how well models trained on the release predict this column.",
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Draw the lattice of a full-domain method, up to 3,000 nodes: .png, .svg or .html.",
    ),
]
KeepOrder = Annotated[
    bool,
    typer.Option(
        "--keep-order",
        help="Write the rows in the order of FILE, which can reveal what is hidden. Default: sort "
        "them by their published values.",
    ),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="Prefix a quote to cells of a CSV file that a spreadsheet would run: =1+1.",
    ),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Charge a differentially private release to this `shoal dp ledger`.",
    ),
]
NewSchema = Annotated[
    bool,
    typer.Option(
        "--new-schema", help="State that this is the ledger's table, with a changed schema."
    ),
]


@grouped
def anonymize(
    *,
    context: typer.Context,
    file: File,
    output: Output = None,
    k: K = None,
    model: Models = None,
    roles: EveryRole,
    hierarchy: Hierarchies = None,
    method: Method = "mondrian",
    option: MethodOptions = None,
    seed: Seed = None,
    control: Control = None,
    report: Report = None,
    target: Target = None,
    picture: Picture = None,
    force: Force = False,
    keep_order: KeepOrder = False,
    escape_formulas: EscapeFormulas = False,
    ledger: LedgerFile = None,
    key_file: KeyFile = None,
    new_schema: NewSchema = False,
    form: Form,
    json: Json = False,
) -> None:
    """Anonymize FILE, verify the guarantee on the result, and write it.

    Nothing is written unless the verification passes. Columns without a role are left out. With
    --report, the output of --json includes the contents of the report.
    """
    from shoal.anonymize import anonymize as run
    from shoal.cli.shared.summary import show_summary, summarize
    from shoal.support.files import check_readable

    check_readable(file)
    wanted = wanted_model(k, model)
    algorithm, seed = chosen_method(method, option, seed)
    check_outputs(output, picture, report, force=force)
    held_out = ControlGroup.of(control, output, force=force)
    _check_drawn(method, {"--target": target, "--picture": picture, "--keep-order": keep_order})
    book = None if ledger is None else opened(ledger, key_file)
    order: Order = "original" if keep_order else "canonical"
    with bars():
        table = held_out.held_back(load(file, roles, hierarchy, form), seed)
        check_outputs(output, picture, report, force=force)  # now that all inputs are known
        if target is not None:
            _check_target(table, target, report)
        if book is not None and new_schema:
            book.admit(table)
        with announce_compilation(quiet=json):
            release = run(table, wanted, algorithm, seed=seed, ledger=book, what=_what(output))
        if picture is not None:
            from shoal.report.lattice_picture import draw_release

            draw_release(release, picture, force=force)
        if output is None:
            checked = release.verify()
        else:
            checked = release.write(
                output, force=force, order=order, escape_formulas=escape_formulas
            )
        data = summarize(release, checked, output) | held_out.write()
        if output is not None:
            data["order"] = order
        if report is not None:
            command = typed(context)
            data["report"] = _reported(
                release, report, file, output, command, target, order=order, force=force
            )

    def show() -> None:
        show_summary(data, out)
        held_out.show()
        if report is not None:
            out.print(f"report written to {report}", soft_wrap=True)
        if picture is not None:
            out.print(f"picture written to {picture}", soft_wrap=True)

    emit(json, data, show)
    if keep_order and output is not None:
        note("rows keep the order of FILE: their positions can reveal what the cells hide")
    if output is not None and not escape_formulas:
        _note_formulas(release, output)
    if output is None:
        what = "nothing" if report is None and picture is None else "no release"
        note(f"{what} was written; name an output file with -o")


def _note_formulas(release: Release, output: Path) -> None:
    """Print which columns of a text file contain cells that a spreadsheet would run."""
    from shoal.core.publishing.formulas import count_formulas

    if output.suffix.lower() == ".parquet":
        return
    counts = count_formulas(release.to_arrow())
    if counts:
        listed = ", ".join(f"{name} ({count:,})" for name, count in counts.items())
        note(
            f"some cells would run as formulas in a spreadsheet, by column: {listed}; "
            "--escape-formulas prefixes a quote to them"
        )


def _what(output: Path | None) -> str:
    return "" if output is None else f"anonymize: {output.name}"


def _check_drawn(method: str, asked: dict[str, Any]) -> None:
    """Refuse options whose output would reveal unreleased records of a randomized method."""
    from shoal.anonymize import METHODS

    for option, value in asked.items():
        if value and hasattr(METHODS[method], "price"):
            raise InputError(
                f"{option} cannot be used with {method}: it would reveal something about records "
                "that are not released; leave it out"
            )


def _check_target(table: Table, target: str, report: Path | None) -> None:
    """Raise an error before any work if the report could not evaluate the target."""
    if report is None:
        raise InputError(
            "--target needs --report; use `shoal utility` to evaluate models without a report"
        )
    if table[target].role in ("quasi", "identifier"):
        raise InputError(
            f"--target: column {target!r} has the role {table[target].role}; name another column"
        )


def _reported(
    release: Release,
    report: Path,
    file: Path,
    output: Path | None,
    command: str,
    target: str | None,
    *,
    order: Order,
    force: bool,
) -> dict[str, Any]:
    """Write the report of a release, and return its contents."""
    from shoal.report.document import contents, write_contents

    reported = contents(
        release,
        title=f"Release of {file.name}",
        date=date.today().isoformat(),
        released=output,
        command=command,
        order=order,
        target=target,
    )
    write_contents(reported, report, force=force)
    return reported
