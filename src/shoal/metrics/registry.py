"""All metrics by name; each is described in its own file."""

from __future__ import annotations

from shoal.metrics.absolute_distance import ABSOLUTE_DISTANCE
from shoal.metrics.ambiguity import AMBIGUITY
from shoal.metrics.average_class_size import AVERAGE_CLASS_SIZE
from shoal.metrics.bivariate_correlation import BIVARIATE_CORRELATION
from shoal.metrics.class_loss import CLASS_LOSS
from shoal.metrics.classification import CLASSIFICATION
from shoal.metrics.diameter import DIAMETER
from shoal.metrics.discernibility import DISCERNIBILITY
from shoal.metrics.entropy import ENTROPY
from shoal.metrics.granularity import GRANULARITY
from shoal.metrics.hellinger import HELLINGER
from shoal.metrics.hierarchy_ncp import HIERARCHY_NCP
from shoal.metrics.information_loss import INFORMATION_LOSS
from shoal.metrics.kl_divergence import KL_DIVERGENCE
from shoal.metrics.metric import Metric
from shoal.metrics.ncp import NCP
from shoal.metrics.non_uniform_entropy import NON_UNIFORM_ENTROPY
from shoal.metrics.precision import PRECISION
from shoal.metrics.published_loss import PUBLISHED_LOSS
from shoal.metrics.relative_distance import RELATIVE_DISTANCE
from shoal.metrics.squared_distance_error import SQUARED_DISTANCE_ERROR

_ALL = (
    NCP,
    CLASS_LOSS,
    PUBLISHED_LOSS,
    HIERARCHY_NCP,
    ABSOLUTE_DISTANCE,
    RELATIVE_DISTANCE,
    PRECISION,
    ENTROPY,
    NON_UNIFORM_ENTROPY,
    CLASSIFICATION,
    DISCERNIBILITY,
    AVERAGE_CLASS_SIZE,
    DIAMETER,
    AMBIGUITY,
    GRANULARITY,
    SQUARED_DISTANCE_ERROR,
    INFORMATION_LOSS,
    HELLINGER,
    BIVARIATE_CORRELATION,
    KL_DIVERGENCE,
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
