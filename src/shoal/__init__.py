"""Shoal: safety in numbers for what you publish.

Tables, privacy models and methods are imported here. Reading, metrics and reports are imported on
first use, and heavy libraries (DuckDB, numba) only when they are needed.
"""

from typing import TYPE_CHECKING

from shoal import _starting, datasets  # noqa: F401  the first handles interrupts from here on
from shoal._version import __version__ as __version__
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
from shoal.methods import anonymize, registry
from shoal.methods.registry import *  # noqa: F403  every method under its name
from shoal.methods.registry import METHODS
from shoal.privacy import MODELS, models
from shoal.privacy.models import *  # noqa: F403  every privacy model under its name
from shoal.release.provenance import Proof, Run
from shoal.release.release import Release
from shoal.support.imports import on_first_use
from shoal.table import recipes as hierarchies
from shoal.table.classes import Classes
from shoal.table.column import Column, Kind, Role
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import Recoding
from shoal.table.table import Table

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
    from shoal.files.reading import read
    from shoal.files.schema import Schema
    from shoal.inspection import suggest_hierarchies
    from shoal.inspection.result import Inspection, inspect
    from shoal.release.released_files import read_released
    from shoal.rows.opening import open
    from shoal.table.roles import UnassignedColumns

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
__all__ += registry.__all__
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
    "Comparison": "comparison.results",
    "compare": "comparison",
    "Schema": "files.schema",
    "UnassignedColumns": "table.roles",
    "open": "rows.opening",
    "read": "files.reading",
    "read_released": "release.released_files",
    "suggest_hierarchies": "inspection.recipes",
}


if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__, __dir__ = on_first_use(__name__, _ON_FIRST_USE)
