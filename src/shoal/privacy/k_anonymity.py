"""k-anonymity: every class holds at least k people.

Samarati & Sweeney, "Protecting privacy when disclosing information", 1998;
Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.privacy.model import SizeModel


@dataclass(frozen=True)
class KAnonymity(SizeModel):
    """Each record looks like records of at least k − 1 other people in its quasi-identifiers.

    Where the table names households, those of k − 1 other households.
    """

    name: ClassVar[str] = "k-anonymity"

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"Anyone who knows a person's quasi-identifiers finds at least {self.k} matching "
            "people."
        )
