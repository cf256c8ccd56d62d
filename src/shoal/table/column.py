"""A column: codes into its sorted distinct values.

All values are integer codes; a missing value has a code of its own, the last one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, did_you_mean
from shoal.support.arrays import Codes, Floats, frozen
from shoal.support.wording import counted
from shoal.table import encoding
from shoal.table import types as domains
from shoal.table.ruler import Ruler
from shoal.table.types import DataType, labels_of, read_as

if TYPE_CHECKING:
    from shoal.table.hierarchy import Hierarchy

MAX_WEIGHT = 1e12  # so that sums and squares of weighted losses stay in the range of floats


class Role(StrEnum):
    """What a column is to the person behind the row.

    Attributes:
        IDENTIFIER: It names the person and is never published.
        QUASI: Others may know it; it is generalized.
        SENSITIVE: It must not be learned about a person; it is published unchanged, and the model
            protects it.
        INSENSITIVE: It is published unchanged.
        WEIGHT: The sampling weight: how many people of the population the record stands for. It
            is not published unless asked for.

    >>> Role("quasi-identifier")
    <Role.QUASI: 'quasi'>
    """

    IDENTIFIER = "identifier"  # names the person: never published
    QUASI = "quasi"  # known to others: generalized
    SENSITIVE = "sensitive"  # must not be learned about a person: unchanged, protected by the model
    INSENSITIVE = "insensitive"  # published unchanged
    WEIGHT = "weight"  # people of the population that the record stands for

    @classmethod
    def _missing_(cls, value: object) -> Role:
        """Return the role of another spelling, such as `quasi-identifier` or `QID`.

        Raises:
            InputError: The word is not a role.
        """
        word = re.sub(r"[\W_]+", "", str(value).casefold())
        found = next((role for role, words in _ROLE_WORDS.items() if word in words), None)
        if found is None:
            allowed = [str(role) for role in cls]
            raise InputError(
                f"role {value!r}{did_you_mean(value, allowed)} is not one of {', '.join(allowed)}"
            )
        return found


_ROLE_WORDS = {
    Role.IDENTIFIER: ("identifier", "identifiers", "identifying", "direct", "directidentifier"),
    Role.QUASI: (
        *("quasi", "quasiidentifier", "quasiidentifiers", "quasiidentifying", "quasiid"),
        *("qi", "qid", "qis", "indirectidentifier"),
    ),
    Role.SENSITIVE: ("sensitive", "sensitiveattribute", "sa", "confidential"),
    Role.INSENSITIVE: ("insensitive", "nonsensitive", "notsensitive", "insensitiveattribute"),
    Role.WEIGHT: ("weight", "weights", "samplingweight", "surveyweight", "designweight"),
}


class Kind(StrEnum):
    """How the values of a column relate to each other.

    Attributes:
        NUMERIC: They have an order and distances, like numbers and dates.
        ORDINAL: They have an order only.
        NOMINAL: They have neither.

    >>> Kind("ordinal")
    <Kind.ORDINAL: 'ordinal'>
    """

    NUMERIC = "numeric"  # order and distance: numbers, dates
    ORDINAL = "ordinal"  # order only
    NOMINAL = "nominal"  # neither


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of a table, made by `Column.encode`.

    An identifier or insensitive column is passed through unchanged: its values are in row order and
    may repeat.

    Attributes:
        name: The name of the column.
        role: What the column is to the person behind the row.
        kind: How its values relate to each other.
        codes: (rows,) positions in `values`.
        values: The domain in ascending order, without duplicates; a null, if any, comes last.
        weight: Cost of losing this attribute, relative to the others.
        bounds: Permissible least and greatest value, if wider than the data's.
        hierarchy: Aligned with `values`: level maps are indexed by code.
        type: The declared type, such as `integer` or `decimal(2)`; None if it was inferred.
        declared: Whether the domain is a declared list: `values` then contains all of it, used or
            not, and ends with the missing value.
        spelling: (known,) the text of each value, if the type does not determine it.
        ruler: Maps the numbers of the column to positions; columns derived from it keep the ruler.
        floor: The lowest level of the hierarchy that the codes distinguish: values of one group of
            this level have one code.

    >>> Column.encode("age", [31, 42, 31], "quasi").codes.tolist()
    [0, 1, 0]
    """

    name: str
    role: Role
    kind: Kind
    codes: Codes
    values: Any  # pyarrow.Array
    weight: float = 1.0
    bounds: tuple[float, float] | None = None
    hierarchy: Hierarchy | None = None
    type: str | None = None
    declared: bool = False
    spelling: tuple[str, ...] | None = None
    ruler: Ruler = None  # type: ignore[assignment]  # derived from the values by default
    floor: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", frozen(self.codes))
        if not 0 <= self.weight <= MAX_WEIGHT:
            raise InputError(
                f"column {self.name!r}: weight must be from 0 to {MAX_WEIGHT:g}, not {self.weight}"
            )
        if self.bounds is not None and self.kind is not Kind.NUMERIC:
            raise InputError(f"column {self.name!r}: bounds need kind numeric, not {self.kind}")
        if getattr(self, "ruler") is None:  # noqa: B009  to mypy it never is
            numeric = self.kind is Kind.NUMERIC
            ruler = Ruler.of(self.values, self.bounds) if numeric else Ruler()
            object.__setattr__(self, "ruler", ruler)
        if self.bounds is not None:
            self._check_bounds(*self.extent)

    def _check_bounds(self, low: float, high: float) -> None:
        known = self.positions[: self.known]
        outside = int(((known < low) | (known > high)).sum())
        if outside:
            raise InputError(
                f"column {self.name!r}: {counted(outside, 'distinct value')} outside its bounds; "
                "widen the bounds or fix the values"
            )

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return (
            f"Column({self.name!r}, {self.role}, {self.kind}, rows={len(self)}, "
            f"values={len(self.values)})"
        )

    @property
    def domain(self) -> int:
        """Number of distinct values, including the missing one."""
        return len(self.values)

    @cached_property
    def missing(self) -> int | None:
        """The code of the missing value, or None."""
        return self.domain - 1 if self.domain and self.values.null_count else None

    @property
    def known(self) -> int:
        """Number of distinct values that are not missing; codes below it are in order."""
        return self.domain if self.missing is None else self.missing

    @property
    def closed(self) -> bool:
        """Whether the domain is declared: a list of values, or a type with bounds."""
        return self.declared or (self.type is not None and self.bounds is not None)

    @property
    def ordered(self) -> bool:
        """Whether the values have an order, so that ranges are meaningful."""
        return self.kind is not Kind.NOMINAL

    @cached_property
    def labels(self) -> tuple[str | None, ...]:
        """(domain,) each value as text, None for missing."""
        return labels_of(self.values, self.spelling)

    @cached_property
    def positions(self) -> Floats:
        """(domain,) position of each value, by the ruler or by rank; NaN for missing."""
        if self.kind is Kind.NUMERIC:
            return frozen(self.ruler.positions(self.values))
        ranks = np.arange(self.domain, dtype=np.float64)
        ranks[self.known :] = np.nan
        return frozen(ranks)

    def to_numbers(self, positions: Floats) -> Floats:
        """Return positions on the column's ruler as the nearest floats."""
        if self.ruler.plain:
            return positions
        numbers = [np.nan if np.isnan(p) else float(self.ruler.number(p)) for p in positions]
        return np.array(numbers, dtype=np.float64)

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Least and greatest permissible position: the bounds, or the data's own."""
        if self.bounds is not None:
            return (self.ruler.position(self.bounds[0]), self.ruler.position(self.bounds[1]))
        if not self.known:
            return (0.0, 0.0)
        return (float(self.positions[0]), float(self.positions[self.known - 1]))

    def share_of_extent(self, widths: Floats) -> Floats:
        """Return widths divided by the column's extent, 0 to 1; NaN, for missing only, is 0."""
        low, high = self.extent
        share = widths / (high - low) if high > low else np.zeros_like(widths)
        return np.clip(np.nan_to_num(share), 0.0, 1.0)

    def check_finite(self) -> None:
        """Reject infinite numbers: no range, distance or mean can be computed with them."""
        infinite = int(np.isinf(self.positions).sum())
        if infinite:
            raise InputError(
                f"column {self.name!r}: "
                f"{counted(infinite, 'distinct value is', 'distinct values are')} infinite; "
                "fix them, or make the column nominal"
            )

    def has_same_cells(self, other: Column) -> bool:
        """Return whether two columns have the same value in every row."""
        if self.codes is not other.codes and not np.array_equal(self.codes, other.codes):
            return False
        return self.values is other.values or bool(self.values.equals(other.values))

    def take(self, rows: Any) -> Column:
        """Return the column at these row positions, with the same domain."""
        return replace(self, codes=self.codes[rows])

    def to_arrow(self, *, as_text: bool = False) -> Any:
        """Return the values of all rows; with `as_text` as the text in which they are published."""
        values = pa.array(self.labels, pa.string()) if as_text else self.values
        return values.take(pa.array(self.codes))

    @classmethod
    def encode(
        cls,
        name: str,
        data: Any,
        role: Role | str = Role.QUASI,
        kind: Kind | str | None = None,
        *,
        weight: float = 1.0,
        bounds: Sequence[float] | None = None,
        order: Sequence[Any] | None = None,
        hierarchy: Hierarchy | Mapping[str, Any] | None = None,
        type: DataType | str | None = None,
        values: Sequence[Any] | None = None,
    ) -> Column:
        """Encode a sequence or an Arrow array as a column.

        Parameters:
            name: The column's name.
            data: Its cells.
            role: What the column is to the person behind the row.
            kind: By default numeric for numbers and dates, ordinal for ordered categories of a
                frame, nominal otherwise.
            weight: Cost of losing this column, relative to the others.
            bounds: Least and greatest permissible value. With a declared type they close the
                domain.
            order: The values of an ordinal column, from least to greatest; by default the order of
                a frame's categories.
            hierarchy: Covers every value; it is aligned with the column here.
            type: The declared type, such as `integer` or `decimal(2)`; inferred by default.
            values: The closed list of values that may occur. It is in ascending order if the kind
                is ordinal and no order is given.

        Returns:
            The encoded column.

        Raises:
            InputError: The cells do not fit the stated type, values, bounds, kind or order.

        >>> Column.encode("sex", ["f"], values=["f", "m"]).labels
        ('f', 'm', None)
        """
        role, weight = Role(role), _weight(name, weight)
        if role is Role.WEIGHT:
            raise InputError(
                f"column {name!r}: a sampling weight is no column of its own; "
                "declare it with the roles of Table.from_arrow or shoal.read"
            )
        wanted = domains.declared_type(type, values, name)
        if role in (Role.IDENTIFIER, Role.INSENSITIVE):
            return cls._unchanged(name, data, role, kind, weight, wanted, values, bounds)
        made = domains.encode(data, name, wanted, values)
        # the order of an ordinal column: stated, else that of a frame's categories, else that of
        # the declared values
        if order is None and kind in (None, Kind.ORDINAL) and values is None:
            order = encoding.category_order(data)
        chosen = _kind(name, kind, order, made.values)
        if order is None and chosen is Kind.ORDINAL and kind is not None:
            order = values
        if order is not None:
            made, chosen = domains.reordered(made, order, name), Kind.ORDINAL
        elif chosen is Kind.ORDINAL and not encoding.is_numeric(made.values.type):
            raise InputError(
                f"column {name!r}: an ordinal column of text needs its order: "
                "add  order: [least, …, greatest]  to the schema"
            )
        limits = None if bounds is None else encoding.bounds(bounds, made.values.type, name)
        if limits is not None and chosen is Kind.NUMERIC:
            domains.check_bounds(made.values.take(pa.array(made.codes)), name, limits)
        declared = None if wanted is None else str(wanted)
        column = cls(
            name, role, chosen, made.codes, made.values, weight, limits, None,
            declared, made.declared, made.spelling,
        )  # fmt: skip
        column.check_finite()
        return column if hierarchy is None else column.with_hierarchy(hierarchy)

    @classmethod
    def _unchanged(
        cls,
        name: str,
        data: Any,
        role: Role,
        kind: Kind | str | None,
        weight: float,
        wanted: DataType | None,
        values: Sequence[Any] | None,
        bounds: Sequence[float] | None,
    ) -> Column:
        """Return a column that is passed through unchanged, in its declared type if it has one."""
        array = domains.unchanged(data, name, wanted, values)
        closed = values is not None or (wanted is not None and wanted.name == "boolean")
        if wanted is not None and wanted.numeric and bounds is not None:
            cells = read_as(array, wanted, name)
            domains.check_bounds(cells, name, encoding.bounds(bounds, cells.type, name))
            closed = True
        codes = np.arange(len(array), dtype=np.int32)
        return cls(
            name, role, Kind(kind or Kind.NOMINAL), codes, array, weight,
            type=None if wanted is None else str(wanted), declared=closed,
        )  # fmt: skip

    def with_hierarchy(self, hierarchy: Hierarchy | Mapping[str, Any]) -> Column:
        """Return the column with this hierarchy, or the one its recipe builds."""
        from shoal.table.hierarchy import Hierarchy
        from shoal.table.recipes import build

        if isinstance(hierarchy, Hierarchy):
            return replace(self, hierarchy=hierarchy.aligned(self))
        recipe = json.dumps(hierarchy, sort_keys=True, default=str)
        built = replace(build(self, hierarchy), source=recipe)
        return replace(self, hierarchy=built.aligned(self))


def _kind(name: str, kind: Kind | str | None, order: Sequence[Any] | None, values: Any) -> Kind:
    numeric = encoding.is_numeric(values.type)
    chosen = Kind(kind) if kind else Kind.NUMERIC if numeric else Kind.NOMINAL
    if chosen is Kind.NUMERIC and not numeric and len(values) > values.null_count:
        raise InputError(
            f"column {name!r}: kind numeric, but its values read as {values.type}; "
            "fix the values that are not numbers or dates, or make it nominal"
        )
    if order is not None and kind is not None and chosen is not Kind.ORDINAL:
        raise InputError(f"column {name!r}: order needs kind ordinal, not {chosen}")
    return chosen


def _weight(name: str, weight: Any) -> float:
    try:
        return float(weight)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"column {name!r}: weight must be a number from 0 to {MAX_WEIGHT:g}"
        ) from None
