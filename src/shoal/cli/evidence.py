"""`shoal evidence`: an evidence pack about a released file, made by any tool.

`shoal anonymize --evidence` writes the same pack: `Pack` is checked before any work, and written
after the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.risk.assess import ControlFile, load_control
from shoal.cli.shared.console import announce_compilation, bars, emit, out
from shoal.cli.shared.options import Force, Hierarchies, Json, K, Key, wanted_model
from shoal.cli.shared.pairs import Original, Released, load_pair
from shoal.cli.shared.summary import typed
from shoal.cli.shared.tables import EveryRole, Form, grouped
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.evidence import Questionnaire
    from shoal.evidence.pack import SigningKey
    from shoal.files.writing import Order
    from shoal.release.release import Release
    from shoal.table.table import Table


QuestionnaireFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="For evidence: a YAML file about the context, such as recipient and controls.",
    ),
]
SignKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="For evidence: sign with this Ed25519 private key, a PEM file."
    ),
]

PageLanguage = Annotated[
    str,
    typer.Option(metavar="LANGUAGE", help="For evidence: the language of its page: en, de or fr."),
]


@dataclass(frozen=True)
class Pack:
    """An evidence pack that is to be written.

    Parameters:
        folder: The folder of the pack.
        released: The file that the pack is about.
        questionnaire: Answers about the context.
        key: The key to sign with, None for no signature.
        force: Replace an existing pack.
        language: The language of the page.
    """

    folder: Path
    released: Path
    questionnaire: Questionnaire
    key: SigningKey | None
    force: bool
    language: str = "en"

    def write(
        self, release: Release, report: Mapping[str, Any], control: Table | None = None
    ) -> dict[str, Any]:
        """Write the pack, and return its folder and the SHA-256 of its manifest.

        Parameters:
            release: The release.
            report: The contents of its report.
            control: People who are not released, for attacks on the release.
        """
        from shoal.evidence import write_evidence

        digest = write_evidence(
            release,
            self.folder,
            self.released,
            questionnaire=self.questionnaire,
            control=control,
            language=self.language,
            sign_key=self.key,
            report=report,
            force=self.force,
        )
        return {"folder": str(self.folder), "sha256": digest, "signed": self.key is not None}


def prepared_evidence(
    folder: Path | None,
    questionnaire: Path | None,
    sign_key: Path | None,
    language: str,
    output: Path | None,
    *,
    force: bool,
) -> Pack | None:
    """Return the pack that the options request, None for none; wrong options are errors."""
    if folder is None:
        stated = {
            "--questionnaire": questionnaire is not None,
            "--sign-key": sign_key is not None,
            "--language": language != "en",
        }
        for option, given in stated.items():
            if given:
                raise InputError(f"{option} needs --evidence DIR")
        return None
    if output is None:
        raise InputError("--evidence needs an output file; name one with -o")
    return requested_evidence(
        folder, questionnaire, sign_key, output, force=force, language=language
    )


def requested_evidence(
    folder: Path,
    questionnaire: Path | None,
    sign_key: Path | None,
    released: Path,
    *,
    force: bool,
    language: str = "en",
) -> Pack:
    """Return a pack about a released file, with its options checked."""
    from shoal.evidence import Questionnaire
    from shoal.evidence.language import Language
    from shoal.evidence.pack import SigningKey, check_evidence

    check_evidence(folder, released, force=force)
    Language.read(language)
    answers = Questionnaire() if questionnaire is None else Questionnaire.read(questionnaire)
    key = None if sign_key is None else SigningKey.read(sign_key)
    return Pack(folder, released, answers, key, force, language)


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
    from shoal.release.released_files import MATCHED

    if release.original.unit is not None and MATCHED in release.run.notes:
        raise InputError(
            "people cannot be counted: rows of the released file match several original rows; "
            "write the evidence with `shoal anonymize --evidence`, or keep the order of the rows"
        )


def _order(release: Release, released: Path) -> Order:
    """Return "original" if the rows of the file have the order of the original table."""
    import pyarrow as pa

    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow

    names = list(release.recodings)
    file, rows = read_arrow(released, Format(), names, expected=names), release.to_arrow()
    same = all(
        file.column(name).cast(pa.large_string()).combine_chunks()
        == rows.column(name).cast(pa.large_string()).combine_chunks()
        for name in names
    )
    return "original" if same else "canonical"
