"""A scikit-learn transformer: `fit` learns classes, `transform` generalizes rows to them.

fit        rows ─ anonymize ─→ release ─→ `Covering`: the entries of each class, tightest first
transform  rows ─ `Covering.find` ─→ the tightest class that covers each ─→ its published cells
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, unknown
from shoal.methods import anonymize, as_model
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts, frozen
from shoal.support.imports import requires
from shoal.support.wording import counted
from shoal.table import encoding
from shoal.table.column import Column, Kind
from shoal.table.frames import from_frame
from shoal.table.people import group
from shoal.table.recoding import Recoding, published_bounds
from shoal.table.roles import as_names
from shoal.table.table import Table

with requires("learn"):
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data

_CELLS = ("center", "bounds", "text")
UNCOVERED = -1
_MAX_PAIRS = 1 << 24  # of rows and classes that are compared at a time


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


@dataclass(frozen=True, eq=False)
class Covering:
    """The classes of a release, tightest first.

    recodings: the recoding of each quasi-identifier.
    entries: (classes, columns) the dictionary entry of each class in each recoding.
    """

    recodings: tuple[Recoding, ...]
    entries: Codes

    @classmethod
    def of(cls, release: Release) -> Covering:
        """Return the classes of a release."""
        recodings = tuple(release.recodings.values())
        ids = release.classes.ids
        # one released row of each class shows the cells of all
        kept = np.flatnonzero(ids >= 0)
        _, first = np.unique(ids[kept], return_index=True)
        entries = np.stack([r.codes[kept[first]] for r in recodings], axis=1)
        sizes = np.stack(
            [r.subsets.sizes[r.codes[kept[first]]] / max(r.column.domain, 1) for r in recodings],
            axis=1,
        )
        order = np.argsort(sizes.sum(axis=1), kind="stable")
        return cls(recodings, frozen(entries[order]))

    def find(self, cells: Mapping[str, Any]) -> Counts:
        """(rows,) the tightest class that covers each row; UNCOVERED if none does.

        Parameters:
            cells: Values of each quasi-identifier in all rows, as Arrow arrays.
        """
        tables, codes = [], []
        for recoding in self.recodings:
            values, fits = _fits(recoding, cells[recoding.name])
            codes.append(values)
            tables.append(fits)
        rows = group(codes, [table.shape[1] for table in tables])
        classes = self._first_covers(tables, [c[rows.first] for c in codes], len(rows))
        return classes[rows.ids]

    def _first_covers(self, tables: Sequence[Bools], codes: Sequence[Codes], count: int) -> Counts:
        classes = np.full(count, UNCOVERED, dtype=np.int64)
        if not len(self.entries):
            return classes
        step = max(_MAX_PAIRS // len(self.entries), 1)
        for begin in range(0, count, step):
            part = slice(begin, begin + step)
            covers = np.ones((len(codes[0][part]), len(self.entries)), dtype=np.bool_)
            for index, table in enumerate(tables):
                covers &= table[self.entries[:, index]][:, codes[index][part]].T
            best = covers.argmax(axis=1)  # the first class that covers
            classes[part] = np.where(covers[np.arange(len(best)), best], best, UNCOVERED)
        return classes


def _fits(recoding: Recoding, cells: Any) -> tuple[Codes, Bools]:
    """Return the distinct values of a column as codes, and (entries, values) which covers which.

    A value of the original column belongs to the entries that contain it. Any other number belongs
    to the entries whose published bounds enclose it, any other text only to `*`.
    """
    column, subsets = recoding.column, recoding.subsets
    new = Column.encode(recoding.name, cells, kind=None if column.known else Kind.NOMINAL)
    code_of = {text: code for code, text in enumerate(column.labels)}
    known = np.array([code_of.get(text, -1) for text in new.labels], dtype=np.int32)
    fits = np.zeros((len(subsets), new.domain), dtype=np.bool_)
    # original values: members of the entries
    fits[subsets.whole] = True
    index = np.full(column.domain, -1, dtype=np.int64)  # of each original value among the new
    index[known[known >= 0]] = np.flatnonzero(known >= 0)
    indptr, members = subsets.flat()
    entries = np.repeat(np.arange(len(subsets)), np.diff(indptr))
    seen = index[members] >= 0
    fits[entries[seen], index[members][seen]] = True
    # other numbers: between the published bounds
    numeric = column.kind is Kind.NUMERIC and encoding.is_numeric(new.values.type)
    if numeric and (known < 0).any():
        low, high = published_bounds(recoding)
        where = new.to_numbers(new.positions)
        inside = (low[:, None] <= where) & (where <= high[:, None])
        fits |= inside & (known < 0)
    return new.codes, fits
