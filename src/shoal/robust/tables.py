"""Noisy votes for tables: each classifier answers a noisy copy of the query.

Members are scikit-learn classifiers, typically one for each of several anonymized releases of one
table; a query is a matrix of the same columns. Does not need torch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from shoal.errors import InputError
from shoal.robust.matrices import (
    as_matrix,
    as_units,
    check_matrices,
    names_of,
    pairs_of,
    spread_of,
)
from shoal.robust.noise_shapes import check_noise
from shoal.robust.table_members import (
    check_fitted,
    check_width,
    classes_of,
    columns_of,
    fitted,
    probabilities,
)
from shoal.support.arrays import Bools, Counts, Floats

_HIDDEN: WeakKeyDictionary[NoisyVote, tuple[tuple[Any, ...], _Stream]]


class _Stream:
    """Random numbers that are never repeated: reseeds after a fork."""

    def __init__(self, seed: int | None) -> None:
        self._seed = seed
        self._begin()

    def _begin(self) -> None:
        self._process, self._generator = os.getpid(), np.random.default_rng(self._seed)

    def generator(self) -> np.random.Generator:
        """Return the generator of this process."""
        if self._seed is None and os.getpid() != self._process:
            self._begin()
        return self._generator


@dataclass(frozen=True, eq=False)
class TableVotes:
    """The votes of classifiers on some rows.

    Parameters:
        counts: (rows, classes) number of classifiers that predict each class, in the order of
            `classes_`.
        winners: (rows,) position of the winner in `classes_`; ties are broken by the higher mean
            probability, then by the order of the classes.
        margins: (rows,) votes of the winner minus those of the next class, as a share of all.
        tied: (rows,) whether the tie had to be broken by probabilities.
    """

    counts: Counts
    winners: Counts
    margins: Floats
    tied: Bools


class NoisyVote:
    """A vote of fitted classifiers on noisy copies of a query, with scikit-learn's `predict`.

    Parameters:
        classifiers: Fitted classifiers with `predict_proba`; a class that a classifier does not
            know has probability 0.
        scale: Scale of the noise, in units of each column (see `units`).
        distribution: laplace, normal or uniform.
        units: (columns,) the noise of scale 1 in each column, 0 for no noise; by default 1.
        columns: Names of the columns, by which frames are read; by default those of the
            classifiers.
        seed: For reproducible tests and experiments only.

    Raises:
        InputError: A classifier is not fitted, classifiers do not match, or an option is invalid.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> ages, ill = [[31], [33], [47], [48]], ["no", "no", "yes", "yes"]
    >>> vote = NoisyVote.fit(GaussianNB(), [(ages, ill)] * 3, scale=0.1, seed=1)
    >>> vote.predict([[32], [48]]).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        classifiers: Sequence[Any],
        scale: float = 0.0,
        distribution: str = "laplace",
        *,
        units: Any = None,
        columns: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        check_noise(scale, distribution)
        members = tuple(classifiers)
        check_fitted(members)
        _HIDDEN[self] = members, _Stream(seed)
        self.classes_ = classes_of(members)
        self.columns = columns_of(members) if columns is None else tuple(columns)
        self.classifiers = len(members)
        self.scale, self.distribution = float(scale), distribution
        self.units = None if units is None else as_units(units)

    def __repr__(self) -> str:
        return (
            f"<NoisyVote over {self.classifiers} classifiers, {self.distribution}({self.scale:g})>"
        )

    def __reduce__(self) -> NoReturn:
        raise InputError("a noisy vote cannot be copied or pickled: its noise would repeat")

    @classmethod
    def fit(
        cls,
        classifier: Any,
        matrices: Sequence[tuple[Any, Any]],
        scale: float = 0.0,
        **options: Any,
    ) -> NoisyVote:
        """Fit a copy of the classifier to each matrix and its classes.

        Parameters:
            classifier: A scikit-learn classifier.
            matrices: Pairs of a matrix or frame and its classes, one pair per release.
            scale: Scale of the noise.
            options: Those of the constructor; `units` is by default the standard deviation of each
                column over all matrices.

        Raises:
            InputError: The matrices do not match, or are not numbers.
        """
        pairs = pairs_of(matrices)
        options.setdefault("columns", names_of(pairs[0][0]))
        given = [as_matrix(rows, options["columns"]) for rows, _ in pairs]
        truth = [np.asarray(classes) for _, classes in pairs]
        check_matrices(given, truth)
        members = [fitted(classifier, *each) for each in zip(given, truth, strict=True)]
        options.setdefault("units", spread_of(np.concatenate(given)))
        return cls(members, scale, **options)

    def vote(self, rows: Any) -> TableVotes:
        """Return the votes on (rows, columns); every classifier answers its own noisy copy."""
        votes, likely = self._query(rows)
        first = votes == votes.max(axis=1, keepdims=True)
        winners = np.where(first, likely, -1.0).argmax(axis=1)
        ranked = np.sort(votes, axis=1)
        second = ranked[:, -2] if len(self.classes_) > 1 else 0
        margins = (ranked[:, -1] - second) / self.classifiers
        return TableVotes(votes, winners, margins, first.sum(axis=1) > 1)

    def predict(self, rows: Any) -> Any:
        """Return (rows,) the class that wins."""
        return self.classes_[self.vote(rows).winners]

    def predict_proba(self, rows: Any) -> Floats:
        """Return (rows, classes) the share of votes; the probabilities of members stay hidden."""
        shares: Floats = self.vote(rows).counts / self.classifiers
        return shares

    def _query(self, rows: Any) -> tuple[Counts, Floats]:
        """Return (rows, classes) votes, and mean probabilities from the same noise."""
        members, stream = _HIDDEN[self]
        given = as_matrix(rows, self.columns)
        check_width(given.shape[1], members, self.units)
        votes = np.zeros((len(given), len(self.classes_)), dtype=np.int64)
        likely = np.zeros(votes.shape)
        for member in members if len(given) else ():
            noisy = given + self._noise(stream.generator(), given.shape)
            shares = probabilities(member, noisy)
            classes = np.searchsorted(self.classes_, member.classes_)
            likely[:, classes] += shares / self.classifiers
            votes[np.arange(len(given)), classes[shares.argmax(axis=1)]] += 1
        return votes, likely

    def _noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        if self.distribution == "normal":
            drawn = stream.standard_normal(shape)
        elif self.distribution == "uniform":
            drawn = stream.uniform(-1, 1, shape)
        else:
            drawn = stream.laplace(size=shape)
        scaled: Floats = drawn * self.scale * (1.0 if self.units is None else self.units)
        return scaled


_HIDDEN = WeakKeyDictionary()
