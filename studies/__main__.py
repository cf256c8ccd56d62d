"""The command line of the studies: `python -m studies [NAME] [--full] [--out FOLDER]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from shoal.cli.shared.console import bars, err, grid, note, one_line, out
from shoal.errors import ShoalError, unknown
from studies import STUDIES
from studies.readmes import publish, write_pages

RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a study, or list all of them; returns the exit status."""
    given = _parser().parse_args(arguments)
    if given.pages:
        write_pages()
        return 0
    if given.name is None:
        _list()
        return 0
    try:
        _run(given)
    except ShoalError as error:
        err.print(f"studies: {one_line(error)}")
        return error.exit_status
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m studies",
        description="Repeat a published study. Runs whose results are already in the folder are "
        "skipped.",
    )
    parser.add_argument("name", nargs="?", help="the study; without it, all of them are listed")
    parser.add_argument(
        "--full", action="store_true", help="run at the published size, which may take hours"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="the folder for tables, pictures and the page; default: studies/results/NAME-DATA",
    )
    parser.add_argument("--data", metavar="TABLE", help="one of the tables that the study runs on")
    parser.add_argument(
        "--releases", type=int, metavar="N", help="releases by each algorithm; metrics only"
    )
    parser.add_argument(
        "--publish",
        action="store_true",
        help="store the verdicts and a picture in the study's folder, and write its README.md",
    )
    parser.add_argument(
        "--pages", action="store_true", help="write the README.md files from the stored verdicts"
    )
    return parser


def _run(given: argparse.Namespace) -> None:
    if given.name not in STUDIES:
        raise unknown("no study", given.name, STUDIES)
    study = STUDIES[given.name]
    size = "-full" if given.full else ""
    folder = given.out or RESULTS / f"{study.name}-{given.data or study.data[0]}{size}"
    with bars():
        page = study.run(folder, full=given.full, data=given.data, releases=given.releases)
    note(f"wrote {page}")
    if given.publish:
        data = given.data or study.data[0]
        chosen = {"DATA": given.data, "FULL": int(given.full), "RELEASES": given.releases}
        options = "".join(f" {name}={value}" for name, value in chosen.items() if value)
        publish(study, data, folder, f"make study NAME={study.name}{options}")
        write_pages()


def _list() -> None:
    rows = grid("name", "source", "description", "runs on")
    for study in STUDIES.values():
        rows.add_row(study.name, study.source, study.about, ", ".join(study.data))
    out.print(rows)


if __name__ == "__main__":
    sys.exit(main())
