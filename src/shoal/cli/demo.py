"""`shoal demo`, the whole workflow on a generated hospital table, and `shoal web`, the web app."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.shared.console import announce_compilation, bars, emit, grid, out
from shoal.cli.shared.options import Force, Json, seed_option
from shoal.support.files import replace_files

_FILES = ("patients.csv", "patients.yaml", "anonymous.csv", "report.html")


def demo(
    folder: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="The folder for the files of the demo.")
    ] = Path("demo"),
    rows: Annotated[
        int, typer.Option(metavar="N", help="Number of patients to generate.", min=1)
    ] = 10_000,
    k: Annotated[int, typer.Option("-k", metavar="N", help="k of k-anonymity.")] = 5,
    seed: Annotated[int, seed_option("The same seed gives the same patients.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generate patients, anonymize them, verify the result and report the information loss.

    Writes patients.csv (generated), patients.yaml (its roles), anonymous.csv (the release) and
    report.html (the report) to the folder, all or none. Files of an earlier demo are replaced;
    other files with these names are replaced only with --force.
    """
    from shoal.cli.shared.summary import show_summary, summarize
    from shoal.datasets.hospital import write_patients
    from shoal.files.reading import read
    from shoal.methods import anonymize as run
    from shoal.privacy import KAnonymity, LDiversity

    model = KAnonymity(k) & LDiversity(2, "diagnosis")
    _check_folder(folder, force=force)
    with bars(), replace_files(folder) as made:
        table = read(made / "patients.csv", write_patients(made / "patients.csv", rows, seed))
        with announce_compilation(quiet=json):
            release = run(table, model, "mondrian")
        after = made / "anonymous.csv"
        checked = release.write(after)
        release.report(made / "report.html", title="Release of patients.csv", released=after)
    data = summarize(release, checked, folder / "anonymous.csv")

    def show() -> None:
        shown = [name for name in table.quasi if name != "admission_date"]
        _sample("before", table.to_arrow().select([*shown, "diagnosis"]))
        _sample("after", release.to_arrow().select([*shown, "diagnosis"]))
        show_summary(data, out)
        out.print(f"report written to {folder / 'report.html'}", soft_wrap=True)
        out.print("\nthe equivalent command:")
        out.print(
            f"  shoal anonymize {folder / 'patients.csv'} --schema {folder / 'patients.yaml'} "
            f"-k {k} --model 'l-diversity(2, diagnosis)' -o out.csv --report report.html",
            soft_wrap=True,
        )

    emit(json, data, show)


def _check_folder(folder: Path, *, force: bool) -> None:
    """Raise an error before any work if the files cannot be written or are not from a demo."""
    from shoal.datasets.hospital import schema_text
    from shoal.support.files import check_writable

    if not folder.is_dir():
        return
    schema = folder / "patients.yaml"
    earlier = schema.is_file() and schema.read_bytes() == schema_text().encode()
    for name in _FILES:
        check_writable(folder / name, force=force or earlier)


def _sample(title: str, data: Any, rows: int = 4) -> None:
    shown = data.slice(0, rows)
    table = grid(*shown.column_names, title=title)
    for row in shown.to_pylist():
        table.add_row(*("" if cell is None else str(cell) for cell in row.values()))
    out.print(table)
    out.print()


def web(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A table to open; it is read where it is."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address only; open no browser.")
    ] = False,
    port: Annotated[
        int, typer.Option(metavar="N", help="The port; 0 for any free one.", min=0, max=65_535)
    ] = 0,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="The memory for a table, such as 4GB; rows of a larger table stay on disk. "
            "Default: 70 % of the machine's.",
        ),
    ] = None,
) -> None:
    """Open the web app: from a table to a release, its report and its recipe, in five screens.

    It listens on this computer only, and nothing leaves it. The address that it prints works once,
    in one browser. Ctrl-C stops it and removes what it stored, except the files that you saved.
    """
    from shoal.rows.memory import Budget
    from shoal.support.files import check_readable
    from shoal.web.server import serve

    if file is not None:
        check_readable(file)
    Budget.parse(memory)

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    serve(file, port=port, browser=not no_browser, memory=memory, say=say)
    say("Shoal has stopped")
