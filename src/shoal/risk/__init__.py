"""Remaining risk of a release: attacks that k-anonymity does not stop, and their success."""

from shoal.risk.alignment import aligned
from shoal.risk.assessment import Assessment, assess
from shoal.risk.checks import Check, checks
from shoal.risk.column_sets import (
    ColumnSet,
    Exposed,
    Exposure,
    IdentifyingColumns,
    exposure,
    identifying_columns,
)
from shoal.risk.graphs import Graph, consistency
from shoal.risk.individual_risk import IndividualRisk, KMap, individual_risk, k_map
from shoal.risk.intersection import (
    Composition,
    Crowds,
    Intersection,
    View,
    intersect,
    intersect_classes,
    overlay,
)
from shoal.risk.known_rows import KnownRows, LinkedEvents, known_rows, linked_events
from shoal.risk.linkage import Linkage, Split, Success, link, split_for_linkage
from shoal.risk.matchings.exact import (
    crack_probabilities,
    degree_bounds,
    degree_of_anonymity,
    heuristic,
    nmape,
)
from shoal.risk.matchings.psi import (
    Matchings,
    Psi,
    SetPsi,
    expected_cracks,
    psi,
    set_heuristic,
    set_psi,
)
from shoal.risk.minimality import Minimality, minimality
from shoal.risk.population.individual import IndividualUniqueness, individual_uniqueness
from shoal.risk.population.uniqueness import Uniqueness, population_uniqueness
from shoal.risk.record_level import Attacker, RecordRisk, record_risk
from shoal.risk.reidentification import HouseholdRisk
from shoal.risk.release_attacks.estimates import AttackRisk
from shoal.risk.release_attacks.four_attacks import ReleaseAttacks, attack
from shoal.risk.release_attacks.listed_members import ListedMembers
from shoal.risk.sensitive import (
    Homogeneity,
    Similarity,
    Skewness,
    homogeneity,
    similarity,
    skewness,
)
from shoal.risk.suda import Suda, suda

__all__ = [
    "Assessment",
    "AttackRisk",
    "Attacker",
    "Check",
    "ColumnSet",
    "Composition",
    "Crowds",
    "Exposed",
    "Exposure",
    "Graph",
    "Homogeneity",
    "HouseholdRisk",
    "IdentifyingColumns",
    "IndividualRisk",
    "IndividualUniqueness",
    "Intersection",
    "KMap",
    "KnownRows",
    "Linkage",
    "LinkedEvents",
    "ListedMembers",
    "Matchings",
    "Minimality",
    "Psi",
    "RecordRisk",
    "ReleaseAttacks",
    "SetPsi",
    "Similarity",
    "Skewness",
    "Split",
    "Success",
    "Suda",
    "Uniqueness",
    "View",
    "aligned",
    "assess",
    "attack",
    "checks",
    "consistency",
    "crack_probabilities",
    "degree_bounds",
    "degree_of_anonymity",
    "expected_cracks",
    "exposure",
    "heuristic",
    "homogeneity",
    "identifying_columns",
    "individual_risk",
    "individual_uniqueness",
    "intersect",
    "intersect_classes",
    "k_map",
    "known_rows",
    "link",
    "linked_events",
    "minimality",
    "nmape",
    "overlay",
    "population_uniqueness",
    "psi",
    "record_risk",
    "set_heuristic",
    "set_psi",
    "similarity",
    "skewness",
    "split_for_linkage",
    "suda",
]
