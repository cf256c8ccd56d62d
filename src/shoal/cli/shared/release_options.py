"""The options of `shoal anonymize` that no other command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from shoal.cli.shared.options import output_path, seed_option

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        parser=output_path,
        help="The file to write: .csv, .tsv or .parquet. A name without an ending, or with a slash "
        "at its end, is a folder of parts.",
    ),
]
PartFormat = Annotated[
    Literal["parquet", "csv"],
    typer.Option("--parts", help="The format of the parts of a folder."),
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
        help="Prefix a quote to cells and column names of a CSV file that a spreadsheet would run: "
        "=1+1.",
    ),
]
People = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Of a project: draw N people at random, with all their rows in all tables.",
    ),
]
MaxLeftOut = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Rows of people with several that km-anonymity may leave out, at most.",
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
Evidence = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write an evidence pack to this folder: figures, what regimes ask, and a verifier.",
    ),
]
