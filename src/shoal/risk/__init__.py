"""What a release still gives away: attacks that k-anonymity does not stop, with their figures."""

from shoal.risk.alignment import aligned
from shoal.risk.checks import Check, checks
from shoal.risk.homogeneity import Homogeneity, homogeneity
from shoal.risk.intersection import (
    Composition,
    Crowds,
    Intersection,
    View,
    intersect,
    intersect_classes,
)
from shoal.risk.minimality import Minimality, minimality
from shoal.risk.overlaps import overlay
from shoal.risk.similarity import Similarity, similarity
from shoal.risk.skewness import Skewness, skewness

__all__ = [
    "Check",
    "Composition",
    "Crowds",
    "Homogeneity",
    "Intersection",
    "Minimality",
    "Similarity",
    "Skewness",
    "View",
    "aligned",
    "checks",
    "homogeneity",
    "intersect",
    "intersect_classes",
    "minimality",
    "overlay",
    "similarity",
    "skewness",
]
