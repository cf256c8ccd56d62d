"""`shoal anonymize`: make a verified release of a file.

A command line passes through these steps; any of them may end it with one sentence:

    options  → model, method, seed; paths that cannot be written are refused before any work
    place    → memory, DuckDB or Spark, by the size of the file
    table    → read with its roles, its population, and without the control group
    release  → made and verified by `shoal.anonymize`
    outputs  → release, picture, report and evidence pack, which appear together or not at all
    summary  → for people, or as JSON

A project (.yaml) leaves this path early: `cli/projects.py` releases its tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli.dp import opened
from shoal.cli.evidence import Pack, PageLanguage, QuestionnaireFile, SignKey, prepared_evidence
from shoal.cli.keys import (
    Domain,
    KeyCommand,
    KeyEnvironment,
    KeyFile,
    LookupFile,
    Secrets,
    opened_secrets,
)
from shoal.cli.projects import anonymize_project, is_project, refuse_options
from shoal.cli.shared.console import announce_compilation, bars, emit, note, out
from shoal.cli.shared.options import (
    File,
    Force,
    Hierarchies,
    Json,
    K,
    check_outputs,
    output_path,
    seed_option,
    wanted_model,
)
from shoal.cli.shared.scaling import Partitioned, check_source, chosen_method, load_or_open
from shoal.cli.shared.summary import typed
from shoal.cli.shared.tables import EveryRole, Form, PopulationFile, grouped, with_population
from shoal.errors import InputError
from shoal.support.outputs import outputs_together
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.files.writing import Order
    from shoal.release.release import Release
    from shoal.table.table import Table


Control = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Hold this share of the people back, such as 10%, and write them next to the output, "
        "for `shoal risk attack --control`.",
    ),
]
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(%?)")


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
Title = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="With --report: its title. Default: Release of FILE."),
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


_QUICK_COLUMNS, _QUICK_PEOPLE = 16, 500  # of advice that nobody asked for
ListValues = Annotated[
    bool,
    typer.Option(
        "--list-values",
        help="Accept quasi-identifiers whose values belong to one or two people each, such as "
        "names: without a hierarchy, cells list them.",
    ),
]


Advise = Annotated[
    bool,
    typer.Option(
        "--advise",
        help="Measure on a sample which other columns, method or model would keep more. Without "
        "it, a release that keeps little gets quick advice.",
    ),
]


@grouped
def anonymize(
    *,
    context: typer.Context,
    file: File,
    output: Output = None,
    parts: PartFormat = "parquet",
    k: K = None,
    model: Models = None,
    roles: EveryRole,
    hierarchy: Hierarchies = None,
    population: PopulationFile = None,
    method: Method = "mondrian",
    option: MethodOptions = None,
    seed: Seed = None,
    control: Control = None,
    report: Report = None,
    title: Title = None,
    target: Target = None,
    picture: Picture = None,
    evidence: Evidence = None,
    questionnaire: QuestionnaireFile = None,
    sign_key: SignKey = None,
    language: PageLanguage = "en",
    force: Force = False,
    keep_order: KeepOrder = False,
    escape_formulas: EscapeFormulas = False,
    ledger: LedgerFile = None,
    new_schema: NewSchema = False,
    key_file: KeyFile = None,
    key_env: KeyEnvironment = None,
    key_command: KeyCommand = None,
    domain: Domain = "",
    lookup: LookupFile = None,
    people: People = None,
    max_left_out: MaxLeftOut = 0.05,
    list_values: ListValues = False,
    advise: Advise = False,
    scale: Partitioned,
    form: Form,
    json: Json = False,
) -> None:
    """Anonymize FILE, verify the guarantee on the result, and write it.

    If FILE is a project (.yaml), all its tables are anonymized and written to a new folder.

    Nothing is written unless the verification passes, and all outputs appear together or not at
    all. Columns without a role are left out. With --report, the output of --json includes the
    contents of the report. With --evidence, `python DIR/verify.py` recomputes the figures of the
    released file.

    A table that needs more than --memory stays on disk: FILE may then also be a folder of files or
    a pattern such as 'visits-*.parquet', also at an address such as s3://bucket/visits.
    """
    from shoal.methods import anonymize as run

    check_source(file)
    wanted = wanted_model(k, model)
    algorithm, seed = chosen_method(method, option, seed)
    # every option is passed on, so that those for a single table can be refused
    if is_project(file):
        _run_project(locals(), opened_secrets(key_file, key_env, key_command, lookup))
        return
    refuse_options({"--people": people}, "a project")
    in_memory = {"--target": target, "--keep-order": keep_order, "--control": control,
                 "--evidence": evidence if scale.engine == "spark" else None,
                 "--population": population}  # fmt: skip
    choice = scale.choose(file, roles, algorithm, in_memory)
    check_outputs(output, picture, report, evidence, force=force, parts=True, spark=choice.in_spark)
    _check_report_options(report, title, target)
    held_out = ControlGroup.of(control, output, force=force)
    _check_drawn(method, {"--target": target, "--picture": picture, "--keep-order": keep_order})
    pack = prepared_evidence(evidence, questionnaire, sign_key, language, output, force=force)
    book = None if ledger is None else opened(ledger, key_file)
    secrets = opened_secrets(key_file if ledger is None else None, key_env, key_command, lookup)
    order: Order = "original" if keep_order else "canonical"
    with bars():
        table: Any = load_or_open(file, roles, hierarchy, form, choice, scale)
        table = with_population(table, population, roles, hierarchy, form)
        table = held_out.held_back(table, seed)
        check_outputs(
            output, picture, report, evidence, force=force, parts=True, spark=choice.in_spark
        )  # now that all inputs are known
        _check_target(table, target)
        if book is not None and new_schema:
            book.admit(table)
        with announce_compilation(quiet=json):
            release = run(
                table,
                wanted,
                algorithm,
                seed=seed,
                key=secrets.key,
                domain=domain,
                lookup=secrets.lookup,
                max_left_out=max_left_out,
                list_values=list_values,
                ledger=book,
                what="" if output is None else f"anonymize: {output.name}",
            )
        if report is not None:
            release.digest  # noqa: B018  an error before anything is written if there is no report
        form_of_file: dict[str, Any] = {
            "order": order,
            "escape_formulas": escape_formulas,
            "parts": parts,
        }
        # whatever fails inside removes all outputs that were written before it
        with outputs_together():
            data = _written(release, output, advise=advise, force=force, **form_of_file)
            data |= held_out.write()
            data |= {} if output is None else {"order": order}
            if picture is not None:
                from shoal.report.lattice_picture import draw_release

                draw_release(release, picture, force=force)
            if report is not None or pack is not None:
                title = f"Release of {file.name}" if title is None else title
                reported = _reported(release, title, output, typed(context), target, order=order)
                data |= _write_documents(release, reported, report, pack, held_out, force=force)

    outputs = {"report": report, "picture": picture, "evidence": evidence}
    emit(json, data, lambda: _show(data, outputs, held_out))
    if output is None:
        what = "no release" if report or picture or lookup else "nothing"
        note(f"{what} was written; name an output file with -o")
    else:
        _note_output(release, output, form_of_file)


def _run_project(stated: dict[str, Any], secrets: Secrets) -> None:
    """Anonymize the tables of a project, with the stated options of the command."""
    refuse_options(_single_table_options(stated))
    file, output, model, method = (stated[n] for n in ("file", "output", "wanted", "algorithm"))
    options = {name: stated[name] for name in ("domain", "people", "max_left_out", "seed", "json")}
    anonymize_project(file, output, model, method, secrets, stated["scale"], **options)


def _written(
    release: Release, output: Path | None, *, advise: bool, **options: Any
) -> dict[str, Any]:
    """Write a release if there is an output; return its summary, with advice."""
    from shoal.cli.shared.summary import summarize

    checked = release.verify() if output is None else release.write(output, **options)
    data = summarize(release, checked, output)
    return data | {"advice": _advice(release, data, wanted=advise)}


def _advice(release: Release, data: dict[str, Any], *, wanted: bool) -> dict[str, Any] | None:
    """Return what would keep more of the table: on request, and quickly for a poor release."""
    from shoal.comparison.advice import POOR, advise

    if wanted:
        found = advise(release)
        if found is None:
            raise InputError(
                "--advise needs a table in memory without replaced identifiers, and a method "
                "without a differential privacy claim"
            )
    elif 1 - data["loss"].get("ncp", 0.0) < POOR and len(release.original.quasi) <= _QUICK_COLUMNS:
        found = advise(release, people=_QUICK_PEOPLE, slow=False)
    else:
        return None
    return None if found is None else found.to_dict()


def _single_table_options(stated: dict[str, Any]) -> dict[str, Any]:
    """Return the options that only a single table takes, with their values."""
    roles, form = stated["roles"], stated["form"]
    named = ("report", "title", "target", "picture", "ledger", "hierarchy", "keep_order",
             "escape_formulas", "list_values", "advise", "evidence", "questionnaire", "sign_key",
             "control", "population")  # fmt: skip
    found = {f"--{name.replace('_', '-')}": stated[name] for name in named}
    found |= {f"--{field.name.replace('_', '-')}": getattr(roles, field.name)
              for field in fields(roles)}  # fmt: skip
    found |= {"--partition-rows": stated["scale"].partition_rows}
    return found | {f"--{name}": value for name, value in form.stated.items()}


@dataclass(eq=False)
class ControlGroup:
    """The people who are held back from a release; nobody if no share is asked for.

    share: the share of the people, None for nobody.
    file: where they are written: `r.control.csv` for the release `r.csv`.
    force: whether the file may be overwritten.
    people: the held-back people, once they are drawn.
    """

    share: float | None = None
    file: Path | None = None
    force: bool = False
    people: Table | None = None

    @classmethod
    def of(cls, text: str | None, output: Path | None, *, force: bool) -> ControlGroup:
        """Return the control group that is asked for as `10%` or `0.1`."""
        if text is None:
            return cls()
        match = _SHARE.fullmatch(text.strip())
        share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
        if not 0 < share < 1:
            raise InputError(f"--control must be more than 0 and less than 100 %, not {text!r}")
        if output is None:
            raise InputError("--control needs an output file, next to which it is written; give -o")
        file = output.with_name(f"{output.stem}.control{output.suffix}")
        check_outputs(file, None, force=force)
        return cls(share, file, force)

    def held_back(self, table: Table, seed: int | None) -> Table:
        """Draw the control group, and return the table without it.

        All rows of a person, or of a household if the table has households, stay together.
        """
        import numpy as np

        if self.share is None:
            return table
        check_outputs(self.file, None, force=self.force)  # now that all inputs are known
        unit = table.unit
        # ids: (rows,) the person, or the household, of each row
        ids = np.arange(len(table)) if unit is None else unit.ids
        count = len(table) if unit is None else unit.count
        held = max(round(self.share * count), 1)
        if held >= count:
            raise InputError("--control leaves nobody to release; choose a smaller share")
        drawn = np.zeros(count, dtype=np.bool_)
        drawn[np.random.default_rng(seed or 0).permutation(count)[:held]] = True
        self.people = table.take(np.flatnonzero(drawn[ids]))
        return table.take(np.flatnonzero(~drawn[ids]))

    def write(self) -> dict[str, Any]:
        """Write the people, and return what to report about them."""
        from shoal.files.writing import write_table

        if self.people is None or self.file is None:
            return {}
        write_table(self.people.to_arrow(), self.file, force=self.force)
        return {"control": {"file": str(self.file), "people": self.people.people}}

    def show(self) -> None:
        """Print where the people are written."""
        if self.people is not None:
            out.print(
                f"control group of {counted(self.people.people, 'person', 'people')} written to "
                f"{self.file}; it is not anonymized",
                soft_wrap=True,
            )


def _show(data: dict[str, Any], written: dict[str, Path | None], held_out: ControlGroup) -> None:
    from shoal.cli.shared.summary import show_summary

    show_summary(data, out)
    held_out.show()
    for what, path in written.items():
        if path is not None:
            out.print(f"{what} written to {path}", soft_wrap=True)
    if written["evidence"] is not None:
        out.print(f"SHA-256 of its manifest: {data['evidence']['sha256']}", soft_wrap=True)


def _note_output(release: Release, output: Path, form: dict[str, Any]) -> None:
    """Print what to know about what was written, given the options of `write`."""
    from shoal.files.writing import is_text_output

    if form["order"] == "original":
        note("rows keep the order of FILE: their positions can reveal what the cells hide")
    if not form["escape_formulas"] and is_text_output(output, form["parts"]):
        _note_formulas(release)


def _note_formulas(release: Release) -> None:
    """Print which columns of a text file contain cells that a spreadsheet would run."""
    from shoal.cli.shared.summary import is_large
    from shoal.files.writing import count_formulas

    if is_large(release):
        from shoal.release.publishing import formula_columns

        named = formula_columns(release)
    elif release.rows is not None:
        named = release.rows.formula_columns(release)
    else:
        counts = count_formulas(release.to_arrow())
        named = [f"{name} ({count:,})" for name, count in counts.items()]
    if named:
        listed = ", ".join(named)
        note(
            f"some cells would run as formulas in a spreadsheet, by column: {listed}; "
            "--escape-formulas prefixes a quote to them"
        )


def _check_drawn(method: str, asked: dict[str, Any]) -> None:
    """Refuse options whose output would reveal unreleased records of a randomized method."""
    from shoal.methods.registry import METHODS

    for option, value in asked.items():
        if value and hasattr(METHODS[method], "price"):
            raise InputError(
                f"{option} cannot be used with {method}: it would reveal something about records "
                "that are not released; leave it out"
            )


def _check_report_options(report: Path | None, title: str | None, target: str | None) -> None:
    """Refuse options of the report without one."""
    if report is None and title is not None:
        raise InputError("--title needs --report, because it is the title of the report")
    if report is None and target is not None:
        raise InputError(
            "--target needs --report; use `shoal utility` to evaluate models without a report"
        )


def _check_target(table: Table, target: str | None) -> None:
    """Raise an error before any work if the report could not evaluate the target."""
    if target is not None and table[target].role in ("quasi", "identifier"):
        raise InputError(
            f"--target: column {target!r} has the role {table[target].role}; name another column"
        )


def _write_documents(
    release: Release,
    reported: dict[str, Any],
    report: Path | None,
    pack: Pack | None,
    held_out: ControlGroup,
    *,
    force: bool,
) -> dict[str, Any]:
    """Write the report and the evidence pack, and return what --json prints about them."""
    written: dict[str, Any] = {}
    if report is not None:
        from shoal.report.document import write_contents

        write_contents(reported, report, force=force)
        written["report"] = reported
    if pack is not None:
        written["evidence"] = pack.write(release, reported, held_out.people)
    return written


def _reported(
    release: Release,
    title: str,
    output: Path | None,
    command: str,
    target: str | None,
    *,
    order: Order,
) -> dict[str, Any]:
    """Return the contents of the report of a release."""
    from shoal.report.document import contents

    return contents(
        release,
        title=title,
        date=date.today().isoformat(),
        released=output,
        command=command,
        order=order,
        target=target,
    )
