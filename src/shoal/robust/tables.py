"""Noisy votes for tables: each classifier answers a noisy copy of the query.

    NoisyVote                   members are scikit-learn classifiers, typically one for each of
                                several anonymized releases of one table; does not need torch
    as_matrix, pairs_of, …      rows as numbers: matrices, and frames by the names of their columns
    check_fitted, check_width   classifiers, queries and units that belong together

Queries are matrices of the columns that the members were fitted to.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from shoal._compat.messages import FEATURE_NAMES
from shoal.errors import InputError
from shoal.robust.noise import check_noise
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.imports import requires
from shoal.support.wording import counted

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
        # every member sees its own noise, and may know only some of the classes
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


def names_of(rows: Any) -> tuple[Any, ...] | None:
    """Return the column names of a frame (pandas, polars, Arrow), None for a matrix."""
    names = getattr(rows, "column_names", None)
    if names is None:
        names = getattr(rows, "columns", None)
    return None if names is None else tuple(names)


def as_matrix(rows: Any, columns: Sequence[Any] | None) -> Floats:
    """Return (rows, columns) numbers; from a frame, these columns in this order."""
    names = names_of(rows)
    if names is not None:
        return _from_frame(rows, names, names if columns is None else columns)
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("rows must be numbers, (rows, columns); encode text first") from None
    if matrix.ndim != 2:
        raise InputError(
            f"rows must be (rows, columns), not of shape {matrix.shape}; give one row as [row]"
        )
    _check_finite(matrix, "rows")
    return matrix


def _from_frame(rows: Any, names: Sequence[Any], columns: Sequence[Any]) -> Floats:
    missing = ", ".join(str(name) for name in columns if name not in names)
    if missing or len(set(names)) < len(names):
        problem = f"lacks {missing}" if missing else "has two columns of the same name"
        known = ", ".join(map(str, columns))
        raise InputError(f"the frame {problem}; the classifiers use {known}")
    matrix = np.empty((len(rows), len(columns)))
    for index, name in enumerate(columns):
        try:
            matrix[:, index] = _numbers(rows[name])
        except (TypeError, ValueError):
            raise InputError(f"column {name!r} must be numbers; encode it first") from None
        _check_finite(matrix[:, index], f"column {name!r}")
    return matrix


def _numbers(column: Any) -> Any:
    """Return a column of a frame; missing values become NaN."""
    if type(column).__module__.startswith("pandas"):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(column, dtype=np.float64)


def _check_finite(values: Any, what: str) -> None:
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise InputError(
            f"{what} must be finite; {counted(infinite, 'number is', 'numbers are')} not"
        )


def check_matrices(matrices: Sequence[Floats], classes: Sequence[Any]) -> None:
    """Raise an error if one classifier cannot be fitted to each of the matrices."""
    for rows, truth in zip(matrices, classes, strict=True):
        if truth.shape != (len(rows),) or not len(rows):
            raise InputError(
                f"each matrix must have at least 1 row and one class per row; one has {len(rows)} "
                f"rows and classes of shape {truth.shape}"
            )
    if len({rows.shape[1] for rows in matrices}) > 1:
        raise InputError("matrices must have the same number of columns")


def spread_of(matrix: Floats) -> Floats:
    """Return (columns,) standard deviations without missing values, 0 if all are missing."""
    spread: Floats = np.ma.masked_invalid(matrix).std(axis=0).filled(0.0)
    return spread


def as_units(units: Any) -> Floats:
    """Check (columns,) units, or one unit for all columns, and convert them to numbers."""
    try:
        numbers = np.asarray(units, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.ndim > 1 or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise InputError("units must be one number of at least 0 for each column")
    return numbers


def pairs_of(matrices: Any) -> list[tuple[Any, Any]]:
    """Return pairs of a matrix and its classes."""
    try:
        pairs = [(rows, classes) for rows, classes in matrices]
    except (TypeError, ValueError):
        raise InputError("matrices must be a list of pairs, [(rows, classes), ...]") from None
    if not pairs:
        raise InputError("matrices is empty; give at least one pair of rows and classes")
    return pairs


def check_fitted(members: Sequence[Any]) -> None:
    """Raise an error if a classifier is not fitted or has no probabilities."""
    if not members:
        raise InputError("a vote needs at least one classifier")
    for member in members:
        kind = type(member).__name__
        if not hasattr(member, "classes_"):
            raise InputError(f"classifiers must be fitted; {kind} is not")
        if not hasattr(member, "predict_proba"):
            raise InputError(f"classifiers must have predict_proba; {kind} does not")


def classes_of(members: Sequence[Any]) -> Any:
    """Return the classes of all classifiers together."""
    known = [np.asarray(member.classes_) for member in members]
    if len({classes.dtype.kind in "biuf" for classes in known}) > 1:
        raise InputError("classes must have one type; some classifiers use numbers, others text")
    return np.unique(np.concatenate(known))


def columns_of(members: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the columns that the classifiers were fitted to, None if these have no names."""
    known = {tuple(getattr(member, "feature_names_in_", ())) for member in members}
    if len(known) > 1:
        raise InputError("classifiers must be fitted on the same columns in the same order")
    return known.pop() or None


def check_width(width: int, members: Sequence[Any], units: Floats | None) -> None:
    """Raise an error if rows do not have the columns that classifiers and units have."""
    wanted = {getattr(member, "n_features_in_", width) for member in members}
    if units is not None and units.ndim:
        wanted.add(len(units))
    others = sorted(wanted - {width})
    if others:
        raise InputError(
            f"rows must have {others[0]} columns, as classifiers and units do, not {width}"
        )


def fitted(classifier: Any, rows: Floats, classes: Any) -> Any:
    """Return a fitted copy of the classifier."""
    with requires("learn"):
        from sklearn.base import clone

    try:
        return clone(classifier).fit(rows, classes)
    except ValueError:
        _refuse_missing(classifier, rows)
        if len(np.unique(classes)) > 1:
            raise
        raise InputError(
            f"a matrix has only one class; {type(classifier).__name__} needs at least two"
        ) from None


def probabilities(member: Any, rows: Floats) -> Any:
    """Return (rows, classes) the probabilities of a classifier, which may be fitted to a frame."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", FEATURE_NAMES)
            return member.predict_proba(rows)
    except ValueError:
        _refuse_missing(member, rows)
        raise


def _refuse_missing(member: Any, rows: Floats) -> None:
    missing = int(np.isnan(rows).any(axis=1).sum())
    if missing:
        raise InputError(
            f"{counted(missing, 'row has', 'rows have')} missing values, which "
            f"{type(member).__name__} does not accept; fill or drop them"
        ) from None
