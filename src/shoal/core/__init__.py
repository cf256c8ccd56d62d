"""Core objects: columns, tables, hierarchies, recodings, classes and releases."""

from shoal.core.classes import Classes
from shoal.core.column import Column, Kind, Role
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.provenance import Proof, Run
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.core.table import Table
from shoal.core.verification import Verification

__all__ = [
    "Classes",
    "Column",
    "Hierarchy",
    "Kind",
    "Proof",
    "Recoding",
    "Release",
    "Role",
    "Run",
    "Subsets",
    "Table",
    "Verification",
]
