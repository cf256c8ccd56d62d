"""What attackers know, made into matrices of who may be whom; each is loaded on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.risk.attacks.attack import Attack

if TYPE_CHECKING:
    from shoal.risk.attacks.distances import distance_attack
    from shoal.risk.attacks.frequency import (
        FrequencyAttack,
        beliefs_around,
        frequency_attack,
        item_frequencies,
    )
    from shoal.risk.attacks.infeasibility import relation_attack, values_attack
    from shoal.risk.attacks.network import Network
    from shoal.risk.attacks.population import PopulationAttack, population_attack

__all__ = [
    "Attack",
    "FrequencyAttack",
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

_ON_FIRST_USE = {  # where each of these names is
    "FrequencyAttack": "frequency",
    "Network": "network",
    "PopulationAttack": "population",
    "beliefs_around": "frequency",
    "distance_attack": "distances",
    "frequency_attack": "frequency",
    "item_frequencies": "frequency",
    "population_attack": "population",
    "relation_attack": "infeasibility",
    "values_attack": "infeasibility",
}

if not TYPE_CHECKING:  # a checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _ON_FIRST_USE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = import_module(f"shoal.risk.attacks.{_ON_FIRST_USE[name]}")
        globals()[name] = getattr(found, name)
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
