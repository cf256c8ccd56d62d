"""The guarantee as sentences, and the method that finds a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.anonymize.lattice.safe_la import SafeLA
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import All, Model
from shoal.privacy.models import MODELS
from shoal.privacy.t_closeness import TCloseness

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
