"""Evidence packs: what a regulator asks about a release, answered with figures that recompute."""

from shoal.evidence.pack import write_evidence
from shoal.evidence.questionnaire import Questionnaire

__all__ = ["Questionnaire", "write_evidence"]
