"""k-anonymity: every class has at least k people.

Samarati & Sweeney, "Protecting privacy when disclosing information", 1998;
Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.privacy.model import SizeModel


@dataclass(frozen=True)
class KAnonymity(SizeModel):
    """Each record has the same quasi-identifiers as records of at least k − 1 other people.

    If the table has households, also as records of at least k − 1 other households.

    Parameters:
        k: Least number of people, and of households if the table has them, in a class.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": ["30-39", "30-39", "40-49", "40-49", "40-49"]})
    >>> shoal.check(rows, KAnonymity(2), quasi="age").smallest
    2
    """

    name: ClassVar[str] = "k-anonymity"

    @property
    def equivalent_size(self) -> int:
        """The least class size that is the same condition: k."""
        return self.k

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Anyone who knows a person's quasi-identifiers finds at least {self.k} matching "
            "people."
        )
