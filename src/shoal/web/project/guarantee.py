"""The guarantee as sentences, which of them are suggested, and why a step is not open yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from shoal.methods.lattice.safe_la import SafeLA
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import All, Model
from shoal.privacy.models import MODELS
from shoal.privacy.t_closeness import TCloseness
from shoal.web.project.column_roles import ColumnInfo, Columns

if TYPE_CHECKING:
    from shoal.web.project.project import Project


PRIVATE = SafeLA.name  # the method with differential privacy, whose promise is about sizes only
RARE = "rare-values"
SENTENCES = ("l-diversity", "entropy-l-diversity", "t-closeness", RARE)  # that can be promised


@dataclass(frozen=True)
class Sentence:
    """One more promise about a sensitive column, such as "at least 3 different diagnoses".

    Parameters:
        model: The name of a privacy model, such as `l-diversity` or `t-closeness`, or
            `rare-values`: t-closeness whose t bounds by how much the shares of rare values exceed
            those in the table, whatever the order of the values.
        column: The sensitive column.
        value: The parameter of the model: l, t, …
    """

    model: str
    column: str
    value: float

    def build(self) -> Model:
        """Return the privacy model."""
        if self.model == RARE:
            return TCloseness(self.value, self.column, distance="equal")
        whole = int(self.value) if float(self.value).is_integer() else self.value
        kind: Any = MODELS[self.model]
        made: Model = kind(whole, self.column)
        return made


@dataclass(frozen=True)
class Guarantee:
    """What the release promises, and how it is found.

    Parameters:
        k: Each combination of quasi-identifiers is shared by at least k people.
        sentences: Further promises about sensitive columns; with differential privacy they are
            kept, but not in force.
        method: A name from `shoal.METHODS`.
        options: Options of the method that differ from their defaults.
        escape_formulas: Whether cells that a spreadsheet would run get a quote before them.
        public_groups: Whether the owner states that hierarchies were made without the table, which
            differential privacy needs.

    >>> print(Guarantee(k=4, sentences=(Sentence("l-diversity", "disease", 2),)).model)
    k-anonymity(k=4) & l-diversity(l=2, column=disease)
    """

    k: int = 5
    sentences: tuple[Sentence, ...] = ()
    method: str = "mondrian"
    options: Mapping[str, Any] = field(default_factory=dict)
    escape_formulas: bool = False
    public_groups: bool = False

    @property
    def in_force(self) -> tuple[Sentence, ...]:
        """The sentences that the release keeps."""
        return () if self.method == PRIVATE else self.sentences

    @property
    def model(self) -> Model:
        """The privacy model that the sentences state."""
        parts: tuple[Model, ...] = (KAnonymity(self.k), *(s.build() for s in self.in_force))
        return parts[0] if len(parts) == 1 else All(parts)

    def without(self, columns: set[str]) -> Guarantee:
        """Return the guarantee without sentences about some columns."""
        kept = tuple(s for s in self.sentences if s.column not in columns)
        return replace(self, sentences=kept)


def obstacle_to(project: Project, step: str) -> str:
    """Return why a screen is not open yet, in one sentence; empty if it is.

    Open is always open; the others need a file, Group values and Protect also a quasi-identifier,
    and Release a release.

    Parameters:
        project: The project.
        step: The screen.
    """
    if step == "open":
        return ""
    if project.source is None or not len(project.columns):
        if project.busy:
            return READING
        return NOT_READ if project.source is not None else NO_FILE
    if project.source.asks_for_person:
        return NO_PERSON
    if step == "describe":
        return ""
    if step == "release" and not project.runs:
        return NO_RUN
    if not project.columns.quasi:
        return NO_QUASI
    if project.columns.need_key and not (project.key_file and project.domain):
        return NO_KEY
    return ""


MOST_COMMON = 0.9  # share of one value beyond which groups with another value become very large
_EXCESS = 0.2  # of a rare value in a group over its share in the table


def usual_sentence(column: ColumnInfo) -> Sentence:
    """Return what is promised about a sensitive column at first.

    Two different values in each group; if nearly all rows have the same value, the share of the
    others exceeds that in the table by at most 20 percentage points, which costs little.

    Parameters:
        column: The column.
    """
    if column.common > MOST_COMMON:
        return Sentence(RARE, column.name, _EXCESS)
    return Sentence("l-diversity", column.name, 2)


def usual_sentences(columns: Columns) -> tuple[Sentence, ...]:
    """Return what is promised at first: a sentence about each sensitive column that varies.

    Parameters:
        columns: The columns of the table.
    """
    return tuple(usual_sentence(column) for column in columns if _needs_promise(column))


def not_promised(columns: Columns, guarantee: Guarantee) -> tuple[ColumnInfo, ...]:
    """Return the sensitive columns that no sentence protects.

    Parameters:
        columns: The columns of the table.
        guarantee: What the release promises.
    """
    if guarantee.method == PRIVATE:
        return ()
    stated = {sentence.column for sentence in guarantee.sentences}
    return tuple(
        column for column in columns if _needs_promise(column) and column.name not in stated
    )


def _needs_promise(column: ColumnInfo) -> bool:
    return column.role == "sensitive" and column.distinct > 1 and column.common < 1


NO_FILE = "Open a table first."
NOT_READ = "The table cannot be read yet; see above."
READING = "The table is being read."
NO_PERSON = "Say what identifies a person in this table."
NO_QUASI = "Mark at least one column as known to others."
NO_RUN = "Create a release first."
NO_KEY = "Choose a key file and a recipient for the pseudonyms, or remove these columns."
