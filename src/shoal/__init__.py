"""Shoal: safety in numbers for what you publish.

Heavy libraries (DuckDB, numba) are loaded by the work that needs them, not here.
"""

from shoal import datasets, metrics
from shoal.anonymize import (
    METHODS,
    Datafly,
    Flash,
    Incognito,
    MinGen,
    Mondrian,
    Ola,
    Samarati,
    anonymize,
)
from shoal.core import Classes, Column, Hierarchy, Kind, Proof, Recoding, Release, Role, Run, Table
from shoal.core import recipes as hierarchies
from shoal.errors import (
    HierarchyError,
    Infeasible,
    InputError,
    MissingExtra,
    NotAnonymous,
    OutputError,
    ShoalError,
)
from shoal.privacy import (
    MODELS,
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    TCloseness,
)
from shoal.reading import Schema, UnassignedColumns, read

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "MODELS",
    "AlphaKAnonymity",
    "BetaLikeness",
    "Classes",
    "Column",
    "Datafly",
    "DeltaDisclosure",
    "EntropyLDiversity",
    "Flash",
    "Hierarchy",
    "HierarchyError",
    "Incognito",
    "Infeasible",
    "InputError",
    "KAnonymity",
    "Kind",
    "LDiversity",
    "MinGen",
    "MissingExtra",
    "Mondrian",
    "NotAnonymous",
    "Ola",
    "OutputError",
    "Proof",
    "Recoding",
    "RecursiveLDiversity",
    "Release",
    "Role",
    "Run",
    "Samarati",
    "Schema",
    "ShoalError",
    "TCloseness",
    "Table",
    "UnassignedColumns",
    "anonymize",
    "datasets",
    "hierarchies",
    "metrics",
    "read",
]
