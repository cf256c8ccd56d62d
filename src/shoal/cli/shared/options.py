"""The options that commands share, how they are checked, and examples for the help of each command.

The tests run the examples, and the manual shows them.
"""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from shoal._compat.typer import hide_types_of_flags, path_of, repeated_option, without_braces
from shoal.errors import InputError, OutputError
from shoal.support.options import check_seed

if TYPE_CHECKING:
    from shoal.privacy.model import Model


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A CSV, Parquet, JSON lines, Excel, Stata, SPSS or SAS file, or a database.",
    ),
]
K = Annotated[int | None, typer.Option("-k", metavar="N", help="k of k-anonymity.")]
Quasi = Annotated[
    str, typer.Option(metavar="COLUMNS", help="Quasi-identifiers, known to others: age,sex,town.")
]
Sensitive = Annotated[
    str, typer.Option(metavar="COLUMNS", help="Sensitive columns, not to be learned: a,b.")
]
Identifier = Annotated[
    str, typer.Option(metavar="COLUMNS", help="Columns that name a person, never released: a,b.")
]
Insensitive = Annotated[
    str, typer.Option(metavar="COLUMNS", help="Columns to release unchanged and unchecked: a,b.")
]
Person = Annotated[
    str,
    typer.Option(
        metavar="COLUMNS",
        help="Columns that identify the person of a row: guarantees count people, not rows.",
    ),
]
Household = Annotated[
    str,
    typer.Option(metavar="COLUMNS", help="Columns that identify a household; k counts them too."),
]
RowsArePeople = Annotated[
    bool,
    typer.Option(
        "--rows-are-people",
        help="State that every row is a different person, even if identifiers repeat.",
    ),
]
Weight = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="The sampling weight: how many people of the population a row stands for.",
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="A YAML schema: roles, kinds, hierarchies."),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Field delimiter of a CSV file.")
]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="Text encoding of a CSV file.")]
Decimal = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Decimal mark of numbers in a CSV file: , or .")
]
Dates = Annotated[
    str | None, typer.Option(metavar="ORDER", help="How dates are written, such as DD.MM.YYYY.")
]
Sheet = Annotated[
    str | None, typer.Option(metavar="NAME", help="The sheet of a spreadsheet that has several.")
]
Query = Annotated[
    str | None,
    typer.Option(
        metavar="SQL", help="The query to run if FILE is a database: postgresql://host/database."
    ),
]
Trim = Annotated[
    bool | None,
    typer.Option(
        "--trim/--no-trim",
        help="Whether to remove spaces around the cells and column names of a CSV file.",
        show_default=False,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether a CSV file starts with column names. Without: column_1, column_2, …",
        show_default=False,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(metavar="TEXT", help="Text that means a missing value, such as NA. Repeatable."),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE",
        help="The hierarchy of a column: a CSV file, or a recipe such as "
        "'age=intervals: [5, 10]'. Repeatable.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="A column of both files with unique values, to match their rows."
    ),
]


def seed_option(help: str) -> Any:
    """Return a --seed option whose value is checked before any work."""
    return typer.Option(metavar="N", help=help, callback=_checked_seed)


def _checked_seed(seed: int | None) -> int | None:
    check_seed(seed)
    return seed


Force = Annotated[bool, typer.Option("--force", help="Overwrite existing output files.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


class _Plain:
    """Help with flowing paragraphs and flags without a type; repeated options are refused."""

    epilog: str | None

    def __init__(self, *arguments: Any, help: str | None = None, **options: Any) -> None:
        paragraphs = inspect.cleandoc(help or "").split("\n\n")
        flowing = "\n\n".join(" ".join(text.split()) for text in paragraphs)
        super().__init__(*arguments, help=flowing, **options)  # type: ignore[call-arg]

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, flags without a type."""
        parameters = super().get_params(ctx)  # type: ignore[misc]
        hide_types_of_flags(parameters)
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments as the manual shows them."""
        return without_braces(super().collect_usage_pieces(ctx))  # type: ignore[misc]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, with examples at its end."""
        from rich.markup import escape

        shown = EXAMPLES.get(" ".join(["shoal", *path_of(ctx)]))
        if shown:
            self.epilog = "\n\n".join(["Examples:", *(f"$ {escape(line)}" for line in shown)])
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Raise an error if an option that is not repeatable is given twice."""
        option = repeated_option(self, ctx, args)
        if option is not None:
            listed = "," in (option.metavar or "") or option.metavar in ("COLUMNS", "NAMES")
            once = "give all values at once, separated by commas" if listed else "give it once"
            raise InputError(f"{option.opts[0]} is given twice; {once}")
        return super().parse_args(ctx, args)  # type: ignore[misc]


class Command(_Plain, TyperCommand):
    """A command with plain help."""


class Group(_Plain, TyperGroup):
    """A group of commands with plain help."""


def names(text: str) -> list[str]:
    """Split `a,b,c`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def wanted_model(k: int | None, models: list[str] | None) -> Model:
    """Return the guarantee that -k and --model request."""
    from shoal.privacy import KAnonymity, parse

    parts: list[Model] = [] if k is None else [KAnonymity(k)]
    parts += [parse(text) for text in models or []]
    if not parts:
        raise InputError(
            "no guarantee is requested; give -k 5, or --model 'l-diversity(3, column)'"
        )
    joined = parts[0]
    for part in parts[1:]:
        joined = joined & part
    return joined


def output_path(text: str) -> Path:
    """Return the path of an output; a slash at its end means a folder."""
    from shoal.support.addresses import AddressPath, FolderPath, address_of

    if text.endswith(("/", os.sep)):
        return FolderPath(text)
    return Path(text) if address_of(text) is None else AddressPath(text)


def check_outputs(
    table: Path | None,
    picture: Path | None,
    report: Path | None = None,
    evidence: Path | None = None,
    *,
    force: bool,
    parts: bool = False,
    spark: bool = False,
) -> None:
    """Raise an error if an output could not be written or would replace an input.

    Inputs are the files read so far. The folder of evidence is only compared with the other names.
    parts: whether the table may be a folder of parts. spark: whether Spark writes the table.
    """
    from shoal.files.writing import check_ending, writes_parts
    from shoal.support.addresses import address_of, on_this_disk
    from shoal.support.files import check_folder, check_writable

    named = [path.absolute() for path in (table, picture, report, evidence) if path is not None]
    if len(set(named)) < len(named):
        raise OutputError("two outputs have the same file name; give each its own")
    address = None if table is None else address_of(table)
    if table is not None and not spark:
        there = on_this_disk(table)
        table = there if isinstance(there, Path) else Path(there)
        address = address_of(table)
    if table is not None and address is not None:
        from shoal.support.object_stores import Store

        if not spark and not (parts and writes_parts(table)):
            check_ending(table)
        if evidence is not None:
            raise OutputError(
                f"{address}: evidence is about a file on a disk; write the release there first"
            )
        Store(address).check_new()
    elif table is not None and parts and writes_parts(table):
        check_folder(table, force=force)
    elif table is not None:
        check_ending(table)
        check_writable(table, force=force)
    if picture is not None:
        from shoal.report.charts import check_picture

        check_picture(picture, force=force)
    if report is not None:
        from shoal.report.document import check_report

        check_report(report, force=force)


EXAMPLES: dict[str, list[str]] = {
    "shoal demo": ["shoal demo --rows 400"],
    "shoal inspect": [
        "shoal datasets patients 400 -o patients.csv",
        "shoal inspect patients.csv --quasi birth_date,sex,postcode",
        "shoal inspect patients.csv -o start.yaml",
    ],
    "shoal anonymize": [
        "shoal anonymize patients.csv --schema patients.yaml -k 5 -o anonymous.csv",
        "shoal anonymize patients.csv --quasi birth_date,sex --sensitive diagnosis -k 4 "
        "--model 'l-diversity(2, diagnosis)' -O hierarchies=false -O effort=high -o fine.parquet",
        "shoal anonymize patients.csv --quasi birth_date,postcode -k 4 "
        "--hierarchy 'birth_date=dates: [year, decade]' --hierarchy 'postcode=mask: right' "
        "-o coarse.csv",
        "shoal anonymize patients.csv --schema patients.yaml -k 12 -o public.csv "
        "--evidence evidence",
    ],
    "shoal compare": [
        "shoal compare patients.csv --schema patients.yaml -k 5 --method mondrian "
        "--method flash:max_suppression=0.02 --metric ncp --picture runs.html -o runs.csv",
    ],
    "shoal verify": [
        "shoal verify anonymous.csv --schema patients.yaml -k 5",
        "shoal verify anonymous.csv --schema patients.yaml --original patients.csv --json",
    ],
    "shoal metrics": [
        "shoal metrics patients.csv anonymous.csv --schema patients.yaml",
        "shoal metrics patients.csv anonymous.csv --schema patients.yaml --metric ncp "
        "--metric discernibility --raw --json",
    ],
    "shoal evidence": [
        "shoal evidence patients.csv anonymous.csv --schema patients.yaml -k 5 -o pack",
    ],
    "shoal risk assess": [
        "shoal risk assess patients.csv anonymous.csv --schema patients.yaml "
        "--known birth_date,sex,postcode",
        "shoal risk assess patients.csv anonymous.csv --schema patients.yaml --wrong postcode=0.05 "
        "--json",
    ],
    "shoal risk attack": [
        "shoal datasets patients 400 --seed 1 -o others.csv",
        "shoal risk attack patients.csv anonymous.csv --schema patients.yaml --control others.csv",
    ],
    "shoal utility": [
        "shoal utility patients.csv anonymous.csv --schema patients.yaml --target cost "
        "--models ridge --features weights --folds 2",
    ],
    "shoal risk intersect": [
        "shoal anonymize patients.csv --schema patients.yaml -k 5 --method k-member -o other.csv",
        "shoal risk intersect anonymous.csv other.csv --original patients.csv "
        "--schema patients.yaml",
    ],
    "shoal risk records": [
        "shoal risk records anonymous.csv --schema patients.yaml --population patients.csv",
    ],
    "shoal risk columns": ["shoal risk columns patients.csv --most 2 --show 5"],
    "shoal risk link": ["shoal risk link patients.csv anonymous.csv --schema patients.yaml"],
    "shoal risk linked": [
        "shoal risk linked patients.csv --person patient_id --known ethnicity --events 1 -k 2",
    ],
    "shoal risk rehearse": [
        "shoal risk rehearse patients.csv --schema patients.yaml -k 5 "
        "--known birth_date,sex,postcode",
    ],
    "shoal risk suda": [
        "shoal risk suda patients.csv --quasi sex,postcode,occupation --sampling-fraction 0.05",
    ],
    "shoal dp plan": ["shoal dp plan --rows 30000 --epsilon 1.31 --delta 1e-6"],
    "shoal dp audit": ["shoal dp audit --runs 500"],
    "shoal dp ledger grant": ["shoal dp ledger grant ledger.json --epsilon 2 --delta 1e-6"],
    "shoal dp ledger spend": [
        "shoal dp ledger spend ledger.json --epsilon 0.5 --what 'counts by ward'",
    ],
    "shoal dp ledger show": ["shoal dp ledger show ledger.json"],
    "shoal keys new": ["shoal keys new -o key.bin"],
    "shoal keys split": ["shoal keys split key.bin --shares 5 --needed 3 -o part"],
    "shoal keys join": [
        "shoal keys join part.1.share part.2.share part.4.share -o restored.bin",
    ],
    "shoal keys rotate": [
        "shoal keys rotate key.bin -o next.bin --file patients.csv --column patient_id "
        "--domain study --translation pairs.csv",
    ],
    "shoal methods": ["shoal methods --json"],
    "shoal hierarchy make": [
        "shoal hierarchy make patients.csv --column postcode --recipe 'mask: right' "
        "-o postcode.csv",
        "shoal hierarchy make patients.csv --all -o hierarchies",
    ],
    "shoal hierarchy check": ["shoal hierarchy check postcode.csv patients.csv --column postcode"],
    "shoal hierarchy show": ["shoal hierarchy show postcode.csv --most 2"],
    "shoal datasets": ["shoal datasets"],
    "shoal datasets patients": ["shoal datasets patients 1000 --seed 7 -o more.parquet"],
}
