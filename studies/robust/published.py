"""Figures of Liang, as published in 2020: chapter 4, of 50 networks each.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020.
"""

from __future__ import annotations

from typing import NamedTuple


class Accuracy(NamedTuple):
    """Accuracy before an attack and under it."""

    clean: float
    attacked: float


class Outcomes(NamedTuple):
    """One figure each for examples classified correctly, as the target, and as another class."""

    correct: float
    target: float
    other: float


VALIDATION = {"mnist": 0.9680, "cifar10": 0.7953}  # of one network, on pictures held back

# by data, then by defence: `plain` for none but the vote, `noisy` for Noisy Logit and the vote
# table 4.3: the vote on examples that each fool one network
VOTE = {
    "mnist": {"plain": Accuracy(1.0, 0.88370), "noisy": Accuracy(0.98667, 0.79975)},
    "cifar10": {"plain": Accuracy(0.88889, 0.85185), "noisy": Accuracy(0.84321, 0.84691)},
}
# tables 4.5 and 4.7: the mean of single networks on sums of two and of three perturbations
SINGLE = {
    2: {
        "mnist": {"plain": Accuracy(0.968, 0.552963), "noisy": Accuracy(0.796296, 0.691333)},
        "cifar10": {"plain": Accuracy(0.795333, 0.714), "noisy": Accuracy(0.748889, 0.713556)},
    },
    3: {
        "mnist": {"plain": Accuracy(0.956, 0.246889), "noisy": Accuracy(0.746222, 0.559333)},
        "cifar10": {"plain": Accuracy(0.83, 0.686222), "noisy": Accuracy(0.786222, 0.730667)},
    },
}
# tables 4.4a, 4.6a and 4.8a by the number of perturbations in a sum; one line of 4.4a, of
# cifar10 behind noise, adds up to 0.999 in print
CLASSIFICATIONS = {
    1: {
        "mnist": {
            "plain": Outcomes(0.8837, 0.0385, 0.0778),
            "noisy": Outcomes(0.7998, 0.0835, 0.1168),
        },
        "cifar10": {
            "plain": Outcomes(0.8519, 0.0180, 0.1301),
            "noisy": Outcomes(0.8469, 0.0215, 0.1306),
        },
    },
    2: {
        "mnist": {
            "plain": Outcomes(0.662963, 0.133333, 0.203704),
            "noisy": Outcomes(0.966667, 0.0, 0.033333),
        },
        "cifar10": {
            "plain": Outcomes(0.877778, 0.011111, 0.111111),
            "noisy": Outcomes(0.840741, 0.014815, 0.144444),
        },
    },
    3: {
        "mnist": {
            "plain": Outcomes(0.266667, 0.577778, 0.155556),
            "noisy": Outcomes(0.9, 0.022222, 0.077778),
        },
        "cifar10": {
            "plain": Outcomes(0.866667, 0.011111, 0.122222),
            "noisy": Outcomes(0.877778, 0.022222, 0.1),
        },
    },
}
# tables 4.4b, 4.6b and 4.8b: mean perturbations
PERTURBATIONS = {
    1: {
        "mnist": {
            "plain": Outcomes(0.1534, 0.1552, 0.2216),
            "noisy": Outcomes(0.1358, 0.1906, 0.2242),
        },
        "cifar10": {
            "plain": Outcomes(0.0359, 0.0051, 0.0477),
            "noisy": Outcomes(0.0367, 0.0042, 0.0413),
        },
    },
    2: {
        "mnist": {
            "plain": Outcomes(0.146285, 0.257126, 0.243226),
            "noisy": Outcomes(0.064906, 0.0, 0.243824),
        },
        "cifar10": {
            "plain": Outcomes(0.027488, 0.000002, 0.039650),
            "noisy": Outcomes(0.026369, 0.000002, 0.027721),
        },
    },
    3: {
        "mnist": {
            "plain": Outcomes(0.130187, 0.290136, 0.347022),
            "noisy": Outcomes(0.083600, 0.505385, 0.266385),
        },
        "cifar10": {
            "plain": Outcomes(0.035315, 0.000003, 0.051646),
            "noisy": Outcomes(0.034029, 0.000003, 0.039467),
        },
    },
}


class Own(NamedTuple):
    """Figure 4.7: one picture and target, each network asked about the example made against it.

    taken, right: networks of 50 behind noise that name the target, and the true class.
    """

    label: int
    goal: int
    taken: int
    right: int


OWN = {"mnist": Own(7, 0, 8, 29), "cifar10": Own(8, 0, 1, 38)}  # a seven to 0, a ship to airplane
NETWORKS = 50
