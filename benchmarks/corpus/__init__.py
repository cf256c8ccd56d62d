"""Generated tables with the traps of real public ones, and the roles that an expert gives them.

One file a family of tables; `roles/` declares the roles of every column, decided before and
independently of what any program suggests: change one only for a reason that holds without a look
at a suggestion. All values are drawn from seeds: no row is a person's.
"""

from __future__ import annotations

from collections.abc import Callable

from . import health, justice, registers, sport, surveys, work
from .sample import ROLES, Expert, Sample, declared

__all__ = ["EXPERT", "ROLES", "TABLES", "Expert", "Sample", "generate"]

TABLES: dict[str, tuple[Callable[[int], Sample], int]] = {  # how to generate each, and its rows
    "recidivism": (justice.recidivism, 3_000),
    "police": (justice.police, 2_500),
    "accidents": (justice.accidents, 5_000),
    "stays": (health.stays, 1_200),
    "encounters": (health.encounters, 4_000),
    "nutrition": (health.nutrition, 3_000),
    "screening": (health.screening, 3_000),
    "attrition": (work.attrition, 1_470),
    "marketing": (work.marketing, 4_500),
    "calls": (work.calls, 6_000),
    "loans": (work.loans, 3_000),
    "students": (surveys.students, 649),
    "attitudes": (surveys.attitudes, 2_000),
    "income": (surveys.income, 2_500),
    "german": (registers.german, 1_500),
    "dutch": (registers.dutch, 900),
    "polish": (registers.polish, 1_100),
    "italian": (registers.italian, 1_800),
    "portuguese": (registers.portuguese, 1_600),
    "players": (sport.players, 3_500),
    "training": (sport.training, 2_000),
    "passengers": (sport.passengers, 890),
}
EXPERT: dict[str, Expert] = {
    name: expert
    for family in ("justice", "health", "work", "surveys", "registers", "sport")
    for name, expert in declared(family).items()
}


def generate(name: str, rows: int | None = None) -> Sample:
    """Return one table of the corpus, the same on every call."""
    build, usual = TABLES[name]
    return build(rows or usual)
