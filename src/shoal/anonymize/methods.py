"""All methods; add a method here by its import and its name in `__all__`."""

from __future__ import annotations

from typing import Any

from shoal.anonymize.auto import Auto
from shoal.anonymize.freeform.doka_greedy import DokaGreedy
from shoal.anonymize.freeform.doka_hungarian import DokaHungarian
from shoal.anonymize.freeform.doka_sort_greedy import DokaSortGreedy
from shoal.anonymize.lattice.datafly import Datafly
from shoal.anonymize.lattice.flash import Flash
from shoal.anonymize.lattice.incognito import Incognito
from shoal.anonymize.lattice.mingen import MinGen
from shoal.anonymize.lattice.ola import Ola
from shoal.anonymize.lattice.safe_la import SafeLA
from shoal.anonymize.lattice.samarati import Samarati
from shoal.anonymize.partition.anneal import Anneal
from shoal.anonymize.partition.greedy import Greedy
from shoal.anonymize.partition.k_member import KMember
from shoal.anonymize.partition.mondrian import Mondrian
from shoal.anonymize.partition.optimal import Optimal
from shoal.anonymize.partition.sorted import Sorted
from shoal.anonymize.partition.split_carry import SplitCarry

__all__ = [  # noqa: RUF022  in the order of the documentation
    "Auto",
    "Mondrian",
    "Anneal",
    "Sorted",
    "Greedy",
    "KMember",
    "SplitCarry",
    "Optimal",
    "Datafly",
    "Samarati",
    "MinGen",
    "Incognito",
    "Ola",
    "Flash",
    "SafeLA",
    "DokaGreedy",
    "DokaSortGreedy",
    "DokaHungarian",
]
METHODS: dict[str, type[Any]] = {
    method.name: method for method in (globals()[name] for name in __all__)
}
