"""Attacker knowledge as matrices of possible matches; each attack is imported on first use."""

from typing import TYPE_CHECKING

from shoal.risk.attacks.matching_attack import MatchingAttack
from shoal.support.imports import on_first_use

if TYPE_CHECKING:
    from shoal.risk.attacks.frequency import (
        FrequencyAttack,
        beliefs_around,
        frequency_attack,
        item_frequencies,
    )
    from shoal.risk.attacks.matching_attack import distance_attack, relation_attack, values_attack
    from shoal.risk.attacks.population import Network, PopulationAttack, population_attack

__all__ = [
    "FrequencyAttack",
    "MatchingAttack",
    "Network",
    "PopulationAttack",
    "beliefs_around",
    "distance_attack",
    "frequency_attack",
    "item_frequencies",
    "population_attack",
    "relation_attack",
    "values_attack",
]

_ON_FIRST_USE = {  # the module of each name
    "FrequencyAttack": "frequency",
    "Network": "population",
    "PopulationAttack": "population",
    "beliefs_around": "frequency",
    "distance_attack": "matching_attack",
    "frequency_attack": "frequency",
    "item_frequencies": "frequency",
    "population_attack": "population",
    "relation_attack": "matching_attack",
    "values_attack": "matching_attack",
}

if not TYPE_CHECKING:  # a type checker would otherwise accept any name
    __getattr__, __dir__ = on_first_use(__name__, _ON_FIRST_USE)
