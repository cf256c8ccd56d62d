"""Shoal: safety in numbers for what you publish.

Tables, models and methods are loaded here; what reads, measures and reports them on first use, and
heavy libraries (DuckDB, numba) by the work that needs them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal import datasets
from shoal.anonymize import METHODS, anonymize, methods
from shoal.anonymize.methods import *  # noqa: F403  every method under its name
from shoal.core import Classes, Column, Hierarchy, Kind, Proof, Recoding, Release, Role, Run, Table
from shoal.core import recipes as hierarchies
from shoal.core.release import report_by
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
)
from shoal.privacy import MODELS, models
from shoal.privacy.models import *  # noqa: F403  every privacy model under its name

if TYPE_CHECKING:
    from shoal import dp, metrics, risk, utility
    from shoal.comparison import Comparison, compare
    from shoal.reading import Schema, UnassignedColumns, read

__version__ = "0.1.0"
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
    "anonymize",
    "compare",
    "datasets",
    "dp",
    "hierarchies",
    "metrics",
    "read",
    "risk",
    "utility",
]
__all__ += methods.__all__
__all__ += models.__all__

_ON_FIRST_USE = {  # where each of these names is, "" for a module of its own
    "dp": "",
    "metrics": "",
    "risk": "",
    "utility": "",
    "Comparison": "comparison",
    "compare": "comparison",
    "Schema": "reading",
    "UnassignedColumns": "reading",
    "read": "reading",
}


def _write_report(*arguments: Any, **options: Any) -> None:
    from shoal.report import write_report

    write_report(*arguments, **options)


report_by(_write_report)

if not TYPE_CHECKING:  # a checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _ON_FIRST_USE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = _ON_FIRST_USE[name]
        found = import_module(f"shoal.{home or name}")
        globals()[name] = getattr(found, name) if home else found
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
