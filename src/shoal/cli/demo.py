"""`shoal demo`: the whole way, on a generated hospital table."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.console import bars, compiling_told, emit, grid, out
from shoal.cli.options import Force, Json
from shoal.errors import OutputError, ShoalError

_FILES = ("patients.csv", "patients.yaml", "anonymous.csv", "report.html")


def demo(
    folder: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where to put the demo's files.")
    ] = Path("demo"),
    rows: Annotated[int, typer.Option(metavar="N", help="Patients to generate.", min=1)] = 10_000,
    k: Annotated[int, typer.Option("-k", metavar="N", help="k of k-anonymity.")] = 5,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed gives the same patients.")
    ] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generate patients, anonymize them, verify the result and say what it cost.

    Writes patients.csv (made up, before), patients.yaml (roles), anonymous.csv (after) and
    report.html (for those who sign) into the folder, all or none. Those of an earlier demo are
    replaced, other files of these names only with --force.
    """
    from shoal.anonymize import anonymize as run
    from shoal.cli.summary import show_summary, summarize
    from shoal.datasets.writing import write_patients
    from shoal.privacy import KAnonymity, LDiversity
    from shoal.reading import read

    model = KAnonymity(k) & LDiversity(2, "diagnosis")
    _check_folder(folder, force=force)
    with bars(), _all_or_none(folder) as made:
        table = read(made / "patients.csv", write_patients(made / "patients.csv", rows, seed))
        with compiling_told(quiet=json):
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
        out.print(f"report in {folder / 'report.html'}", soft_wrap=True)
        out.print("\nthe same by hand:")
        out.print(
            f"  shoal anonymize {folder / 'patients.csv'} --schema {folder / 'patients.yaml'} "
            f"-k {k} --model 'l-diversity(2, diagnosis)' -o out.csv --report report.html",
            soft_wrap=True,
        )

    emit(json, data, show)


def _check_folder(folder: Path, *, force: bool) -> None:
    """Refuse, before any work, a folder that cannot hold the files, or has such of another kind."""
    from shoal.core.files import check_writable
    from shoal.datasets.writing import schema_text

    if not folder.is_dir():
        return
    schema = folder / "patients.yaml"
    earlier = schema.is_file() and schema.read_bytes() == schema_text().encode()
    for name in _FILES:
        check_writable(folder / name, force=force or earlier)


@contextmanager
def _all_or_none(folder: Path) -> Iterator[Path]:
    """Give a folder to write into; its files go to the other one if the block comes to its end."""
    try:
        above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        with tempfile.TemporaryDirectory(dir=above, prefix=".shoal.") as name:
            yield Path(name)
            folder.mkdir(parents=True, exist_ok=True)
            for file in _FILES:
                (Path(name) / file).replace(folder / file)
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None


def _sample(title: str, data: Any, rows: int = 4) -> None:
    shown = data.slice(0, rows)
    table = grid(*shown.column_names, title=title)
    for row in shown.to_pylist():
        table.add_row(*("" if cell is None else str(cell) for cell in row.values()))
    out.print(table)
    out.print()
