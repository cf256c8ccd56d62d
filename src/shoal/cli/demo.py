"""`shoal demo`: the whole way, on a generated hospital table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.console import bars, compiling_told, emit, grid, out
from shoal.cli.options import Json


def demo(
    folder: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where to put the demo's files.")
    ] = Path("demo"),
    rows: Annotated[int, typer.Option(metavar="N", help="Patients to generate.", min=1)] = 10_000,
    k: Annotated[int, typer.Option("-k", metavar="N", help="k of k-anonymity.")] = 5,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed gives the same patients.")
    ] = 0,
    json: Json = False,
) -> None:
    """Generate patients, anonymize them, verify the result and say what it cost.

    Writes patients.csv (made up, before), patients.yaml (roles), anonymous.csv (after) and
    report.html (for those who sign) into the folder, over those of an earlier demo.
    """
    from shoal.anonymize import anonymize as run
    from shoal.cli.summary import show_summary, summarize
    from shoal.datasets.writing import write_patients
    from shoal.errors import OutputError
    from shoal.privacy import KAnonymity, LDiversity
    from shoal.reading import read

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None
    before, after = folder / "patients.csv", folder / "anonymous.csv"
    with bars():
        schema = write_patients(before, rows, seed, force=True)
        table = read(before, schema)
        model = KAnonymity(k) & LDiversity(2, "diagnosis")
        with compiling_told(quiet=json):
            release = run(table, model, "mondrian")
        checked = release.write(after, force=True)
        told = folder / "report.html"
        release.report(told, title="Release of patients.csv", released=after, force=True)
    data = summarize(release, checked, after)

    def show() -> None:
        shown = [name for name in table.quasi if name != "admission_date"]
        _sample("before", table.to_arrow().select([*shown, "diagnosis"]))
        _sample("after", release.to_arrow().select([*shown, "diagnosis"]))
        show_summary(data, out)
        out.print(f"report in {told}", soft_wrap=True)
        out.print("\nthe same by hand:")
        out.print(
            f"  shoal anonymize {before} --schema {schema} -k {k} "
            f"--model 'l-diversity(2, diagnosis)' -o out.csv --report report.html",
            soft_wrap=True,
        )

    emit(json, data, show)


def _sample(title: str, data: Any, rows: int = 4) -> None:
    shown = data.slice(0, rows)
    table = grid(*shown.column_names, title=title)
    for row in shown.to_pylist():
        table.add_row(*("" if cell is None else str(cell) for cell in row.values()))
    out.print(table)
    out.print()
