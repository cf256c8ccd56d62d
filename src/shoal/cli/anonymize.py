"""`shoal anonymize`: from a file to a verified release."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import bars, compiling_told, emit, note, out
from shoal.cli.options import (
    Delimiter,
    Encoding,
    File,
    Force,
    Hierarchies,
    Identifier,
    Insensitive,
    Json,
    K,
    Missing,
    Quasi,
    SchemaFile,
    Sensitive,
    hierarchies_of,
    load,
    method_options,
    roles_of,
    wanted_model,
)
from shoal.cli.repeating import typed


def anonymize(
    context: typer.Context,
    file: File,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write: .csv, .tsv, .parquet."
        ),
    ] = None,
    k: K = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL", help="A further model, such as 'l-diversity(3, disease)'. Repeatable."
        ),
    ] = None,
    schema: SchemaFile = None,
    quasi: Quasi = "",
    sensitive: Sensitive = "",
    identifier: Identifier = "",
    insensitive: Insensitive = "",
    hierarchy: Hierarchies = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="`shoal methods` lists them.")
    ] = "mondrian",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", "-O", metavar="NAME=VALUE", help="An option of the method. Repeatable."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="For methods that draw at random.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a report for those who sign or check: .html to read and print, .json.",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the lattice of a full-domain method: .png, .svg, .html; up to 3,000 nodes.",
        ),
    ] = None,
    force: Force = False,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="Write the rows in random order, repeatable with --seed."),
    ] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    json: Json = False,
) -> None:
    """Anonymize FILE, check the guarantee on the result, and write it.

    Nothing is written unless the check passes; a column without a role is left out. With --report,
    --json also prints what the report says.
    """
    from shoal.anonymize import anonymize as run
    from shoal.cli.summary import show_summary, summarize
    from shoal.core.files import check_readable, check_writable
    from shoal.core.writing import check_ending
    from shoal.report.charts import check_picture
    from shoal.report.document import check_report, contents, write_contents
    from shoal.report.lattice_picture import draw_release

    check_readable(file)
    wanted = wanted_model(k, model)
    if output is not None:
        check_ending(output)
        check_writable(output, force=force)
    if picture is not None:
        check_picture(picture, force=force)
    if report is not None:
        check_report(report, force=force)
    roles = roles_of(quasi, sensitive, identifier, insensitive)
    trees, options = hierarchies_of(hierarchy), method_options(option)
    with bars():
        table = load(
            file,
            schema,
            roles,
            hierarchies=trees,
            delimiter=delimiter,
            encoding=encoding,
            missing=missing,
        )
        with compiling_told(quiet=json):
            release = run(table, wanted, method, seed=seed, **options)
        if picture is not None:
            draw_release(release, picture, force=force)
        if output is not None:
            release.write(output, force=force, shuffle=shuffle, seed=seed)
        data = summarize(release, output)
        if report is not None:
            data["report"] = contents(
                release,
                title=f"Release of {file.name}",
                date=date.today().isoformat(),
                released=output,
                command=typed(context, ("seed",) if shuffle else ()),
                shuffled=shuffle,
            )
            write_contents(data["report"], report, force=force)

    def show() -> None:
        show_summary(data, out)
        if report is not None:
            out.print(f"report in {report}", soft_wrap=True)

    emit(json, data, show)
    if output is None:
        what = "nothing" if report is None else "no release"
        note(f"{what} was written; name a file with -o")
