"""Core objects: columns, tables, hierarchies, recodings, classes and releases."""

from shoal.release.provenance import Proof, Run
from shoal.release.release import Release
from shoal.release.verification import Verification
from shoal.table.classes import Classes
from shoal.table.column import Column, Kind, Role
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets
from shoal.table.table import Table

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
