"""Shoal: safety in numbers for what you publish.

Heavy libraries (DuckDB, numba) are loaded by the work that needs them, not here.
"""

from shoal import datasets, metrics, risk
from shoal.anonymize import (
    METHODS,
    Anneal,
    Auto,
    Datafly,
    DokaGreedy,
    DokaHungarian,
    DokaSortGreedy,
    Flash,
    Greedy,
    Incognito,
    KMember,
    MinGen,
    Mondrian,
    Ola,
    Optimal,
    Samarati,
    Sorted,
    SplitCarry,
    anonymize,
)
from shoal.comparison import Comparison, compare
from shoal.core import Classes, Column, Hierarchy, Kind, Proof, Recoding, Release, Role, Run, Table
from shoal.core import recipes as hierarchies
from shoal.core.release import report_by
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
    FreeformAnonymity,
    KAnonymity,
    KConcealment,
    KKAnonymity,
    KOneAnonymity,
    LDiversity,
    OneKAnonymity,
    RecursiveLDiversity,
    TCloseness,
)
from shoal.reading import Schema, UnassignedColumns, read
from shoal.report import write_report

__version__ = "0.1.0"
report_by(write_report)

__all__ = [
    "METHODS",
    "MODELS",
    "AlphaKAnonymity",
    "Anneal",
    "Auto",
    "BetaLikeness",
    "Classes",
    "Column",
    "Comparison",
    "Datafly",
    "DeltaDisclosure",
    "DokaGreedy",
    "DokaHungarian",
    "DokaSortGreedy",
    "EntropyLDiversity",
    "Flash",
    "FreeformAnonymity",
    "Greedy",
    "Hierarchy",
    "HierarchyError",
    "Incognito",
    "Infeasible",
    "InputError",
    "KAnonymity",
    "KConcealment",
    "KKAnonymity",
    "KMember",
    "KOneAnonymity",
    "Kind",
    "LDiversity",
    "MinGen",
    "MissingExtra",
    "Mondrian",
    "NotAnonymous",
    "Ola",
    "OneKAnonymity",
    "Optimal",
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
    "Sorted",
    "SplitCarry",
    "TCloseness",
    "Table",
    "UnassignedColumns",
    "anonymize",
    "compare",
    "datasets",
    "hierarchies",
    "metrics",
    "read",
    "risk",
]
