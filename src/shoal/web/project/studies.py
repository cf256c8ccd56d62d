"""Studies of releases: tasks that take time, and the jobs that run them for the screen Release.

Each task runs in a process of its own and calls the library; results are small plain data, and
large ones go to files in the private workspace. `Studies` keeps the results in the project, so that
every tab sees them.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import shoal
from shoal.errors import InputError
from shoal.identifiers.keys import Key
from shoal.privacy.model import Model
from shoal.privacy.models import parse
from shoal.release.release import Release
from shoal.support.progress import Progress, listening
from shoal.table.table import Table
from shoal.web.project.releasing import KEPT, RunRequest, opened, private_file
from shoal.web.project.topics import Topic
from shoal.web.text.common import stage_words

if TYPE_CHECKING:
    from shoal.web.project.project import Project
    from shoal.web.project.runs import Job


Report = Callable[[float | None, str], None]
METHODS = ("mondrian", "greedy", "sorted", "datafly", "flash")
LOSS = "hierarchy-ncp"
_MAX_SECONDS = 120.0  # of one run of a comparison


def read_table(request: RunRequest) -> Table:
    """Return the table of a release, with its roles and hierarchies.

    If its rows stay on disk, it is the weighted table of the distinct tuples.

    Parameters:
        request: Everything that determines the release.
    """
    with opened(request) as table:
        if request.on_disk:
            from shoal.methods.stored import weighted_tuples

            method = shoal.METHODS["mondrian"]()
            return weighted_tuples(table, parse(request.model), method)[0]
        read: Table = table
        return read


def with_all_hierarchies(table: Table) -> Table:
    """Return the table with the suggested hierarchy for each quasi-identifier that has none.

    Parameters:
        table: The table.
    """
    from shoal.inspection import suggest_hierarchies

    bare = [column for column in table.quasi_columns if column.hierarchy is None]
    if not bare:
        return table
    trees = suggest_hierarchies(replace(table, columns=tuple(bare)))
    return replace(
        table,
        columns=tuple(
            column.with_hierarchy(trees[column.name]) if column.name in trees else column
            for column in table
        ),
    )


def read_kept(folder: Path) -> Release | None:
    """Return the release that was kept in a folder, None if there is none.

    Parameters:
        folder: The folder of a run, or that of its studies.
    """
    from shoal.comparison.runner import unpack

    path = folder / KEPT
    if not path.exists():
        return None
    with path.open("rb") as file:
        kept: Release = unpack(file.fileno())
    return kept


def read_release(request: RunRequest, folder: Path) -> Release:
    """Return a release: the one that its run kept, or the same one made again.

    Parameters:
        request: Everything that determines the release.
        folder: A private folder, where a release that is made again is kept for the next study.

    Raises:
        InputError: The release made again has other rows than the released file.
    """
    from shoal.comparison.runner import pack

    for each in (request.folder, folder):
        kept = read_kept(each)
        if kept is not None:
            return kept
    release = shoal.anonymize(
        read_table(request),
        request.model,
        request.method,
        key=None if request.key_file is None else Key.read(request.key_file),
        domain=request.domain,
        **request.options,
    )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as place:
        again = Path(place, request.output)
        release.write(again, escape_formulas=request.escape_formulas)
        # a study must be about the file that was released, byte for byte
        if again.read_bytes() != (request.folder / request.output).read_bytes():
            raise InputError(
                "this release cannot be made again with the same rows, because its method draws at "
                "random or the file has changed; create a new release to study it"
            )
    with private_file(folder / KEPT) as file:
        pack(release, file)
    return release


@contextmanager
def _reporting(report: Report) -> Iterator[None]:
    """Send the progress of the library to the job."""

    def listen(progress: Progress) -> None:
        total = progress.total
        words = stage_words(progress.stage, progress.done, total)
        report(min(progress.done / total, 1.0) if total else None, words)

    with listening(listen):
        yield


def compare_releases(report: Report, request: RunRequest, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the rows of a comparison of methods and of stronger guarantees.

    Parameters:
        report: Receives the progress.
        request: The table and the release that was asked for.
        sizes: Values of k; the first is the one that was asked for.
    """
    with _reporting(report):
        report(None, "reading the table")
        table = read_table(request)
        others = [part for part in parse(request.model).parts if part.name != "k-anonymity"]
        joined: list[Model] = []
        for part in others:
            joined = [joined[0] & part] if joined else [part]
        methods: list[Any] = [(request.method, dict(request.options))]
        methods += [name for name in METHODS if name != request.method]
        compared = shoal.compare(
            table,
            models=joined,
            k=list(sizes),
            methods=methods,
            metrics=[LOSS, "ncp"],
            time_limit=_MAX_SECONDS,
        )
    return {"rows": [dict(row) for row in compared.rows], "loss": compared.ranking_loss or LOSS}


def assess_risk(
    report: Report, request: RunRequest, folder: Path, known: Sequence[str]
) -> dict[str, Any]:
    """Return the risk from an attacker who knows some columns of everyone.

    Parameters:
        report: Receives the progress.
        request: The table and the release that was asked for.
        folder: The private folder of the release.
        known: The columns that the attacker knows.

    Returns:
        The assessments of an attacker who knows who is in the release, and of one who does not;
        the second is None if no one is left out.
    """
    from shoal.risk import assess

    with _reporting(report):
        report(None, "reading the release")
        release = read_release(request, folder)
        inside = assess(release, list(known), seed=0)
        outside = None
        if release.classes.suppressed:
            outside = assess(release, list(known), present=False, seed=0)
    return {
        "inside": inside.to_dict(),
        "outside": None if outside is None else outside.to_dict(),
    }


def measure_utility(
    report: Report, request: RunRequest, folder: Path, target: str
) -> dict[str, Any]:
    """Return how well a simple model trained on the release predicts original rows."""
    from shoal.utility import evaluate
    from shoal.utility.targets import Target

    with _reporting(report):
        report(None, "reading the release")
        release = read_release(request, folder)
        report(None, "training")
        simple = "ridge" if Target.of(release, target, None).regressed else "logistic-regression"
        return evaluate(release, target, models=simple, folds=3, seed=0).to_dict()


def write_release(
    report: Report, request: RunRequest, folder: Path, output: Path, escape_formulas: bool
) -> dict[str, Any]:
    """Write the released rows to another file, checked again; its ending sets the format."""
    report(None, "reading the release")
    release = read_release(request, folder)
    report(None, "writing")
    release.write(output, force=True, escape_formulas=escape_formulas)
    output.chmod(0o600)
    return {"bytes": output.stat().st_size}


def list_nodes(
    report: Report,
    request: RunRequest,
    output: Path,
    chosen: Mapping[str, int] | None,
    max_suppression: float,
) -> dict[str, Any]:
    """Write every combination of levels to a file, and return how many there are."""
    from shoal.web.project.lattice import explore

    with _reporting(report):
        report(None, "reading the table")
        kept = read_kept(request.folder)
        table = with_all_hierarchies(read_table(request) if kept is None else kept.original)
        report(None, "counting groups")
        view = explore(table, parse(request.model), chosen=chosen, max_suppression=max_suppression)
        trees = {
            column.name: column.hierarchy
            for column in table.quasi_columns
            if column.hierarchy is not None
        }
        with private_file(output) as file:
            pickle.dump((view, trees), file, protocol=5)
    return {"nodes": len(view)}


def attack_release(report: Report, request: RunRequest, folder: Path) -> dict[str, Any]:
    """Return the success of three attacks: singling out, linkability, inference."""
    from shoal.risk import attack

    with _reporting(report):
        report(None, "reading the release")
        release = read_release(request, folder)
        found = attack(release.original, release)
    return {**found.to_dict(), "sentences": found.sentences()}


def write_pack(
    report: Report,
    request: RunRequest,
    folder: Path,
    released: Path,
    output: Path,
    answers: Mapping[str, Any],
) -> dict[str, Any]:
    """Write the evidence pack with its released file as one archive.

    Parameters:
        report: Receives the progress.
        request: The table and the release that was asked for.
        folder: The private folder of the release.
        released: The released file.
        output: The archive to write, with the ending .zip.
        answers: The questionnaire as plain data.

    Returns:
        The SHA-256 of the pack's manifest.
    """
    from shoal.evidence import Questionnaire, write_evidence

    with _reporting(report):
        report(None, "reading the release")
        release = read_release(request, folder)
        place = output.with_suffix("")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700, parents=True)
        copy = place / released.name
        shutil.copyfile(released, copy)
        digest = write_evidence(
            release,
            place / "evidence",
            copy,
            questionnaire=Questionnaire.of(dict(answers)),
            title=request.title,
            command=request.command,
            date=date.today().isoformat(),
        )
        shutil.make_archive(str(place), "zip", place)
        output.chmod(0o600)
        shutil.rmtree(place, ignore_errors=True)
    return {"sha256": digest}


@dataclass(eq=False)
class Study:
    """One study: a question about a release, and the job that answers it.

    Parameters:
        kind: What is studied, such as `risk`.
        of: The name of the release.
        key: What was asked; another question starts another study.
        job: The work.
    """

    kind: str
    of: str
    key: Hashable
    job: Job

    @property
    def state(self) -> str:
        """`running`, `done`, `failed` or `cancelled`."""
        return str(self.job.state)

    @property
    def result(self) -> Any:
        """The result, None unless it is done."""
        return self.job.result if self.state == "done" else None


class Studies:
    """The studies of a project, the latest of each kind and release.

    Parameters:
        project: The project, which starts the jobs and reports changes as `STUDIES`.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._studies: dict[tuple[str, str], Study] = {}

    def __getitem__(self, asked: tuple[str, str]) -> Study | None:
        return self._studies.get(asked)

    def begin(
        self, kind: str, of: str, task: Callable[..., Any], *arguments: Any, key: Hashable = None
    ) -> Study:
        """Start a study, unless the same one is running or done.

        Parameters:
            kind: What is studied.
            of: The name of the release.
            task: The function that the job calls.
            arguments: Its arguments.
            key: What is asked.
        """
        present = self._studies.get((kind, of))
        if present is not None and present.state in ("running", "done") and present.key == key:
            return present
        self.forget(kind, of)
        study = Study(kind, of, key, self._project.start_job(task, *arguments))
        self._studies[kind, of] = study
        study.job.on_change = lambda: self._changed(study)
        self._changed(study)
        return study

    def forget(self, kind: str, of: str) -> None:
        """Drop a study, and stop its job.

        Parameters:
            kind: What was studied.
            of: The name of the release.
        """
        present = self._studies.pop((kind, of), None)
        if present is not None and present.state == "running":
            present.job.cancel()

    def clear(self) -> None:
        """Drop all studies, after another file was opened."""
        for kind, of in list(self._studies):
            self.forget(kind, of)

    def _changed(self, study: Study) -> None:
        if self._studies.get((study.kind, study.of)) is study:
            self._project.touch(Topic.STUDIES)
