"""Privacy models: conditions that a release meets, most of them class by class; join with `&`."""

from shoal.privacy import models
from shoal.privacy.model import All, CoverageModel, Model
from shoal.privacy.models import *  # noqa: F403  its __all__ lists the models
from shoal.privacy.models import MODELS, parse, profile

__all__ = ["MODELS", "All", "CoverageModel", "Model", "parse", "profile"]
__all__ += models.__all__
