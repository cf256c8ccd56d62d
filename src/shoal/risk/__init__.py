"""Remaining risk of a release: attacks that k-anonymity does not stop, and their success."""

from shoal.risk.alignment import aligned
from shoal.risk.assessment import Assessment, assess
from shoal.risk.checks import Check, checks
from shoal.risk.exposure import Exposed, Exposure, exposure
from shoal.risk.graphs import Graph, consistency
from shoal.risk.homogeneity import Homogeneity, homogeneity
from shoal.risk.household import HouseholdRisk
from shoal.risk.identifying import ColumnSet, IdentifyingColumns, identifying_columns
from shoal.risk.individual_risk import IndividualRisk, individual_risk
from shoal.risk.intersection import (
    Composition,
    Crowds,
    Intersection,
    View,
    intersect,
    intersect_classes,
)
from shoal.risk.k_map import KMap, k_map
from shoal.risk.km_anonymity import LinkedEvents, linked_events
from shoal.risk.known_rows import KnownRows, known_rows
from shoal.risk.link_success import Success
from shoal.risk.linkage import Linkage, Split, link, split_for_linkage
from shoal.risk.matchings.degrees import (
    crack_probabilities,
    degree_bounds,
    degree_of_anonymity,
    heuristic,
    nmape,
)
from shoal.risk.matchings.psi import Psi, expected_cracks, psi
from shoal.risk.matchings.set_psi import Matchings, SetPsi, set_heuristic, set_psi
from shoal.risk.minimality import Minimality, minimality
from shoal.risk.overlaps import overlay
from shoal.risk.population.individual import IndividualUniqueness, individual_uniqueness
from shoal.risk.population.uniqueness import Uniqueness, population_uniqueness
from shoal.risk.record_level import Attacker, RecordRisk, record_risk
from shoal.risk.release_attacks.attack import ReleaseAttacks, attack
from shoal.risk.release_attacks.estimates import AttackRisk
from shoal.risk.release_attacks.listed_members import ListedMembers
from shoal.risk.similarity import Similarity, similarity
from shoal.risk.skewness import Skewness, skewness
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
