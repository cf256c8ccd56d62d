"""Shoal: safety in numbers for what you publish.

Tables, privacy models and methods are imported here. Reading, metrics and reports are imported on
first use, and heavy libraries (DuckDB, numba) only when they are needed.
"""

from typing import TYPE_CHECKING

from shoal import _starting, datasets  # noqa: F401  the first handles interrupts from here on
from shoal._version import __version__ as __version__
from shoal.anonymize import METHODS, anonymize, methods
from shoal.anonymize.methods import *  # noqa: F403  every method under its name
from shoal.core import Classes, Column, Hierarchy, Kind, Proof, Recoding, Release, Role, Run, Table
from shoal.core.hierarchies import recipes as hierarchies
from shoal.errors import (
    BudgetSpent,
    HierarchyError,
    Infeasible,
    InputError,
    MissingExtra,
    NotAnonymous,
    NotConverged,
    OutputError,
    ShoalError,
    UnknownColumn,
)
from shoal.privacy import MODELS, models
from shoal.privacy.models import *  # noqa: F403  every privacy model under its name
from shoal.support.first_use import on_first_use

if TYPE_CHECKING:
    from shoal import (
        dp,
        evidence,
        identifiers,
        metrics,
        projects,
        report,
        risk,
        robust,
        sklearn,
        utility,
    )
    from shoal.checking import check
    from shoal.comparison import Comparison, compare
    from shoal.engines import open
    from shoal.inspection import suggest_hierarchies
    from shoal.inspection.result import Inspection, inspect
    from shoal.reading import Schema, UnassignedColumns, read, read_released

__all__ = [
    "METHODS",
    "MODELS",
    "BudgetSpent",
    "Classes",
    "Column",
    "Comparison",
    "Hierarchy",
    "HierarchyError",
    "Infeasible",
    "InputError",
    "Inspection",
    "Kind",
    "MissingExtra",
    "NotAnonymous",
    "NotConverged",
    "OutputError",
    "Proof",
    "Recoding",
    "Release",
    "Role",
    "Run",
    "Schema",
    "ShoalError",
    "Table",
    "UnassignedColumns",
    "UnknownColumn",
    "anonymize",
    "check",
    "compare",
    "datasets",
    "dp",
    "evidence",
    "hierarchies",
    "identifiers",
    "inspect",
    "metrics",
    "open",
    "projects",
    "read",
    "read_released",
    "report",
    "risk",
    "robust",
    "sklearn",
    "suggest_hierarchies",
    "utility",
]
__all__ += methods.__all__
__all__ += models.__all__

_ON_FIRST_USE = {  # the module that defines each name, "" if the name is a module
    "dp": "",
    "evidence": "",
    "identifiers": "",
    "metrics": "",
    "projects": "",
    "report": "",
    "risk": "",
    "robust": "",
    "sklearn": "",
    "utility": "",
    "check": "checking",
    "Inspection": "inspection.result",
    "inspect": "inspection.result",
    "Comparison": "comparison",
    "compare": "comparison",
    "Schema": "reading",
    "UnassignedColumns": "reading",
    "open": "engines",
    "read": "reading",
    "read_released": "reading",
    "suggest_hierarchies": "inspection",
}


if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__, __dir__ = on_first_use(__name__, _ON_FIRST_USE)
