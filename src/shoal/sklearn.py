"""A scikit-learn transformer: `fit` learns classes, `transform` generalizes rows to them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.anonymize import anonymize
from shoal.anonymize.requests import as_model
from shoal.core.column import Kind
from shoal.core.covering import UNCOVERED, Covering
from shoal.core.publishing.cells import published_bounds
from shoal.core.publishing.frames import from_frame
from shoal.core.recoding import Recoding
from shoal.core.roles import as_names
from shoal.core.table import Table
from shoal.errors import InputError, unknown
from shoal.support.arrays import Bools, Counts
from shoal.support.extras import requires
from shoal.support.wording import counted

with requires("learn"):
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data

_CELLS = ("center", "bounds", "text")


class UncoveredRows(UserWarning):
    """Warns that no class of the release covers some rows; `Anonymizer.transform` gives it."""


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace quasi-identifiers with the cells of an anonymous release.

    `fit` anonymizes the training rows and keeps its classes. `transform` looks up, for each row,
    the tightest class that covers all of its quasi-identifiers. A row that no class covers gets
    the cells of a suppressed row, and a warning counts such rows.

    The guarantee holds for the fitted rows, if all of them are published. It does not cover new
    rows: they are assigned to the same classes, but no check counts them.

    Parameters:
        k: Minimum number of rows in a class.
        quasi: Columns to generalize, by name or, for arrays, by position; None for all columns.
            The others pass through unchanged.
        model: A further guarantee, as a privacy model or as text, about columns of the same data.
        method: The name of a method, or an instance.
        hierarchies: Hierarchies or recipes by column.
        options: Options of the method.
        cells: "center" gives numbers as the middle of the published range and texts as labels;
            "bounds" gives two columns for each number, its low and its high end; "text" gives
            labels throughout.
        seed: For methods that draw at random.

    Attributes:
        release_: The release of the training rows.
        n_features_in_: Number of columns seen in `fit`.
        feature_names_in_: Their names, if they have any.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 33, 47, 49], "income": [20, 30, 25, 45]})
    >>> Anonymizer(k=2, quasi=["age"]).set_output(transform="pandas").fit_transform(people)
        age  income
    0  32.0    20.0
    1  32.0    30.0
    2  48.0    25.0
    3  48.0    45.0
    """

    def __init__(
        self,
        k: int = 5,
        *,
        quasi: Sequence[str] | Sequence[int] | None = None,
        model: Any = None,
        method: Any = "mondrian",
        hierarchies: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        cells: str = "center",
        seed: int | None = None,
    ) -> None:
        self.k = k
        self.quasi = quasi
        self.model = model
        self.method = method
        self.hierarchies = hierarchies
        self.options = options
        self.cells = cells
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Anonymizer:  # noqa: N803
        """Anonymize the rows of X and keep the classes.

        Parameters:
            X: The training rows, as an array or a data frame.
            y: Ignored.

        Returns:
            The fitted transformer.

        Raises:
            InputError: X has fewer than k rows, or an option is wrong.
            Infeasible: No release of the rows meets the guarantee.
        """
        if self.cells not in _CELLS:
            raise unknown("no form of cells", self.cells, _CELLS)
        data = self._data(X, reset=True)
        if data.num_rows < self.k:
            raise InputError(
                f"k = {self.k} needs at least {self.k} rows, but n_samples = {data.num_rows}"
            )
        quasi = self._quasi(data.column_names)
        wanted = as_model(self.model, self.k)
        named = [str(part.column) for part in wanted.parts if hasattr(part, "column")]
        guarded = [name for name in named if name not in quasi]
        roles = dict.fromkeys(data.column_names, "insensitive")
        roles |= dict.fromkeys(quasi, "quasi") | dict.fromkeys(guarded, "sensitive")
        table = Table.from_arrow(data, roles, self.hierarchies, rows_are_people=True)
        self.release_ = anonymize(
            table, wanted, self.method, seed=self.seed, **dict(self.options or {})
        )
        self._covering = Covering.of(self.release_)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return the published cells of each row; columns that are not generalized are unchanged.

        Parameters:
            X: Rows with the same columns as those of `fit`.

        Returns:
            An array of numbers, or of objects if some column is text; data frames after
            `set_output`.
        """
        check_is_fitted(self)
        data = self._data(X, reset=False)
        classes = self._classes(data)
        outside = int((classes == UNCOVERED).sum())
        if outside:
            warnings.warn(
                f"{counted(outside, 'row')} of {len(classes):,} fit no class of the release and "
                "are suppressed; `covered` returns which",
                UncoveredRows,
                stacklevel=2,
            )
        columns = [cells for _, cells in self._columns(data, classes)]
        texts = any(cells.dtype == object for cells in columns)
        made = np.empty((len(classes), len(columns)), dtype=object if texts else np.float64)
        for index, cells in enumerate(columns):
            made[:, index] = cells
        return made

    def covered(self, X: Any) -> Bools:  # noqa: N803
        """Return, for each row, whether some class of the release covers it.

        Parameters:
            X: Rows with the same columns as those of `fit`.

        Returns:
            (rows,) whether `transform` gives the row the cells of a class.
        """
        check_is_fitted(self)
        covered: Bools = self._classes(self._data(X, reset=False)) != UNCOVERED
        return covered

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that `transform` returns.

        Parameters:
            input_features: Ignored.

        Returns:
            The names as an array.
        """
        check_is_fitted(self)
        empty = self.release_.original.to_arrow().slice(0, 0)
        none = np.zeros(0, dtype=np.int64)
        return np.array([name for name, _ in self._columns(empty, none)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn: missing values and text are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _data(self, X: Any, *, reset: bool) -> Any:  # noqa: N803
        """Return rows as an Arrow table; the columns of an array get the names x0, x1 and so on."""
        if hasattr(X, "__arrow_c_stream__"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return from_frame(X)
        array = validate_data(
            self, X, dtype=None, ensure_all_finite="allow-nan", reset=reset, ensure_2d=True
        )
        return pa.table(
            {f"x{i}": pa.array(array[:, i], from_pandas=True) for i in range(array.shape[1])}
        )

    def _quasi(self, names: Sequence[str]) -> list[str]:
        if self.quasi is None:
            return list(names)
        asked: tuple[Any, ...] = as_names(self.quasi)  # type: ignore[arg-type]
        return [names[each] if isinstance(each, int) else each for each in asked]

    def _classes(self, data: Any) -> Counts:
        return self._covering.find({name: data.column(name) for name in self.release_.recodings})

    def _columns(self, data: Any, classes: Counts) -> list[tuple[str, Any]]:
        """Return the names and cells of all output columns."""
        covering, made = self._covering, []
        quasi = {recoding.name: i for i, recoding in enumerate(covering.recodings)}
        for name in data.column_names:
            if name not in quasi:
                made.append((name, _plain(data.column(name))))
                continue
            recoding = covering.recodings[quasi[name]]
            entries = np.append(covering.entries[:, quasi[name]], -1)[classes]
            made += _published(recoding, entries, self.cells)
        return made


def _published(recoding: Recoding, entries: Any, cells: str) -> list[tuple[str, Any]]:
    """Return the published cells of one column; entry −1 is suppressed."""
    numeric = recoding.column.kind is Kind.NUMERIC and recoding.column.known
    if cells == "text" or not numeric:
        labels = np.array([*recoding.labels, "*"], dtype=object)
        return [(recoding.name, labels[entries])]
    least, greatest = recoding.column.to_numbers(np.array(recoding.column.extent))
    low, high = published_bounds(recoding)
    hidden = np.isnan(low) & ~np.array([text is None for text in recoding.labels])
    low, high = (
        np.append(np.where(hidden, end, ends), end)[entries]
        for ends, end in ((low, least), (high, greatest))
    )
    if cells == "bounds":
        return [(f"{recoding.name}_low", low), (f"{recoding.name}_high", high)]
    return [(recoding.name, low / 2 + high / 2)]


def _plain(cells: Any) -> Any:
    """Return an Arrow column as floats if it is numeric, as objects otherwise."""
    array = cells.to_numpy()
    return array.astype(np.float64) if array.dtype.kind in "iufb" else array.astype(object)
