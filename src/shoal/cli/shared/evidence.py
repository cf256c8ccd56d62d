"""The evidence pack of a command: checked before any work, written after the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.release import Release
    from shoal.core.table import Table
    from shoal.evidence import Questionnaire
    from shoal.evidence.signing import SigningKey


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
    from shoal.evidence.pack import check_evidence
    from shoal.evidence.signing import SigningKey

    check_evidence(folder, released, force=force)
    Language.read(language)
    answers = Questionnaire() if questionnaire is None else Questionnaire.read(questionnaire)
    key = None if sign_key is None else SigningKey.read(sign_key)
    return Pack(folder, released, answers, key, force, language)
