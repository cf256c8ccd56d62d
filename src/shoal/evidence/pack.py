"""Evidence packs: a folder with a page, its data, a manifest, and a verifier that stands alone.

The folder appears when all its files are written and its own verifier accepts them.

    index.html      the page, in English, German or French     ┐
    evidence.json   the contents, always in English            ├ manifest.json has their SHA-256
    verify.py       recomputes digests and figures             ┘
    signature.json  Ed25519 over the manifest, if a key is given
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, NotAnonymous, OutputError
from shoal.evidence import verify
from shoal.evidence.contents import evidence_contents
from shoal.evidence.crosswalk_rows import JUDGE, MET, NOT_MET
from shoal.evidence.language import Language
from shoal.evidence.questionnaire import Questionnaire
from shoal.evidence.verify import canonical
from shoal.files.writing import Order
from shoal.release.release import Release
from shoal.report.document import contents
from shoal.report.limits import digest
from shoal.support.files import check_folder, check_readable, replace_folder
from shoal.support.imports import requires
from shoal.support.outputs import as_output, written_at
from shoal.table.table import Table

FILES = frozenset({*verify.FILES, verify.MANIFEST, verify.SIGNATURE})
_SHARE = 0.8  # of the budget: DuckDB's limit is not a limit of the process


def write_evidence(
    release: Release,
    folder: str | Path,
    released: str | Path,
    *,
    questionnaire: Questionnaire | None = None,
    control: Table | None = None,
    language: str = "en",
    sign_key: str | Path | SigningKey | None = None,
    report: Mapping[str, Any] | None = None,
    title: str = "",
    date: str | None = None,
    command: str | None = None,
    order: Order = "canonical",
    force: bool = False,
) -> str:
    """Write an evidence pack about a released file.

    The pack contains `index.html`, `evidence.json`, `manifest.json` with the SHA-256 of each file,
    and `verify.py`, which recomputes digests and figures with Python and DuckDB only. It shows no
    value that only a few people share. The folder is complete or absent, never partial.

    Parameters:
        release: The release.
        folder: The folder to create.
        released: The file or folder of parts that `release.write` wrote; the pack has its path
            relative to the folder.
        questionnaire: Answers about the context; what is missing is "not stated".
        control: People of the same population who are not released: the pack then contains four
            attacks beyond this control group.
        language: Language of the page: "en", "de" or "fr"; `evidence.json` is always in English.
        sign_key: A PEM file with an Ed25519 private key; `signature.json` then signs the manifest.
        report: The contents of the release's report, if they have been computed already; the
            options title to order then have no effect.
        title: Title of the pack.
        date: Date of the pack.
        command: The command that made the release.
        order: The order in which the rows were written.
        force: Replace an existing evidence pack.

    Returns:
        The SHA-256 of the manifest, which stands for the whole pack.

    Raises:
        NotAnonymous: The guarantee does not hold on the released file.
        OutputError: The folder cannot be written.
        InputError: An option is wrong.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     file, folder = Path(place, "released.csv"), Path(place, "evidence")
    ...     checked = release.write(file)
    ...     digest = write_evidence(release, folder, file)
    ...     sorted(each.name for each in folder.iterdir())
    ['evidence.json', 'index.html', 'manifest.json', 'verify.py']
    """
    folder, released = Path(folder), Path(released)
    check_evidence(folder, released, force=force)
    written = written_at(released)
    if not written.is_dir():
        check_readable(written)
    words = Language.read(language)
    key = SigningKey.read(Path(sign_key)) if isinstance(sign_key, str | Path) else sign_key
    report = report or contents(
        release, title=title, date=date, released=released, command=command, order=order
    )
    place = {"path": _relative(released, folder), **_digests(written)}
    memory = freed_memory(release)
    answers = questionnaire or Questionnaire()
    try:
        evidence = evidence_contents(release, report, written, place, answers, control, memory)
        with as_output(replace_folder(folder, FILES, force=force), folder) as made:
            _write(made, evidence, place, key, words)
            # the pack appears only if its own verifier accepts it, as a recipient will run it
            manifest, stated, _ = verify.check_files(made, written)
            verify.check_signature(made, manifest, None)
            verify.check_figures(stated, written, memory)
            return verify.digest(made / verify.MANIFEST)
    except verify.PackError as error:
        raise NotAnonymous(f"the evidence does not verify: {error}; none was written") from None


def check_evidence(folder: Path, released: Path, *, force: bool = False) -> None:
    """Raise an error before any work if the pack could not be written."""
    check_folder(folder, FILES, force=force)
    inside = Path(os.path.realpath(folder))
    path = Path(os.path.realpath(released))
    if inside == path or inside in path.parents:
        raise OutputError(
            f"{folder}: the released file is in this folder; write the evidence to another one"
        )
    if path in inside.parents:
        raise OutputError(
            f"{folder}: is in the folder of the released parts; write the evidence to another one"
        )


def freed_memory(release: Release) -> str | None:
    """Return the memory that the verifier may use for a release on disk; None for any amount.

    The engine of the release gives its memory back for now.
    """
    source = getattr(release, "source", None)
    if source is None:
        return None
    # otherwise the engine and the verifier would each take the whole budget
    source.engine.rest()
    return f"{source.budget.share(_SHARE)}B"


def _digests(released: Path) -> dict[str, Any]:
    """Return the size and the SHA-256 of the released file, or of each part of a folder."""
    if not released.is_dir():
        return {"bytes": released.stat().st_size, "sha256": verify.digest(released)}
    parts = {file.name: _digests(file) for file in sorted(released.iterdir())}
    whole = digest(released)
    return {"bytes": whole["bytes"], "sha256": whole["sha256"], "parts": parts}


def _relative(released: Path, folder: Path) -> str:
    """Return the path of the released file relative to the pack, its name if there is none."""
    try:
        relative = os.path.relpath(os.path.realpath(released), os.path.realpath(folder))
    except ValueError:  # another drive
        return released.name
    return Path(relative).as_posix()


def _write(
    made: Path,
    evidence: dict[str, Any],
    place: Mapping[str, Any],
    key: SigningKey | None,
    words: Language,
) -> None:
    """Write the files of a pack to a folder."""
    (made / "evidence.json").write_bytes(verify.canonical(evidence))
    (made / "index.html").write_bytes(evidence_page(evidence, words).encode("utf-8", "replace"))
    (made / "verify.py").write_bytes(Path(verify.__file__).read_bytes())
    files = {
        name: {"bytes": (made / name).stat().st_size, "sha256": verify.digest(made / name)}
        for name in verify.FILES
    }
    fingerprint = None if key is None else key.fingerprint
    manifest = verify.canonical(
        {"format": verify.FORMAT, "files": files, "release": dict(place), "key": fingerprint}
    )
    (made / verify.MANIFEST).write_bytes(manifest)
    if key is not None:
        (made / verify.SIGNATURE).write_bytes(key.sign(manifest))


_STATUSES = {MET: "met", NOT_MET: "not_met", JUDGE: "judge"}


def evidence_page(evidence: dict[str, Any], words: Language) -> str:
    """Return the contents of a pack as an HTML page, in the style of reports.

    Parameters:
        evidence: The contents of `evidence.json`.
        words: The language of the page.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("shoal.evidence"), PackageLoader("shoal.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("evidence.html").render(
        report=evidence,
        language=words.code,
        t=words.text,
        say=words.say,
        value=words.value,
        date=words.date,
        statuses=_STATUSES,
        overview=_overview(evidence),
    )


def _overview(evidence: dict[str, Any]) -> list[dict[str, Any]]:
    """Return, for each regime, how many rows have each status."""
    return [
        {
            "title": each["title"],
            "applies": each["does_not_apply"] is None,
            "counts": [
                sum(row["status"] == status for row in each["rows"])
                for status in (MET, NOT_MET, JUDGE)
            ],
        }
        for each in evidence["crosswalks"]
    ]


@dataclass(frozen=True)
class SigningKey:
    """A private Ed25519 key; it is never shown.

    public: the raw public key.
    """

    public: bytes
    _private: Any

    def __repr__(self) -> str:
        return f"SigningKey({self.fingerprint})"

    @classmethod
    def read(cls, path: Path) -> SigningKey:
        """Read an unencrypted Ed25519 key from a PEM file, as `openssl genpkey` writes it."""
        check_readable(path)
        with requires("evidence"):
            from cryptography.exceptions import UnsupportedAlgorithm
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        try:
            private = load_pem_private_key(path.read_bytes(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise InputError(
                f"{path}: is not an unencrypted Ed25519 private key in PEM; create one with "
                "`openssl genpkey -algorithm ed25519 -out FILE`"
            )
        return cls(private.public_key().public_bytes_raw(), private)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the public key, which a manifest states."""
        return hashlib.sha256(self.public).hexdigest()

    def sign(self, manifest: bytes) -> bytes:
        """Return the content of `signature.json` for a manifest."""
        return canonical(
            {
                "algorithm": "Ed25519",
                "public_key": base64.b64encode(self.public).decode(),
                "signature": base64.b64encode(self._private.sign(manifest)).decode(),
            }
        )
