"""Subsets of a domain: the values that a released cell may stand for, as text and as bounds.

Subsets                            runs of consecutive codes; a range over a million values needs
as little memory as a single value
`range_labels`, `set_labels`       the text in which they are published
`agree`                            whether a text says exactly what its subset holds
`member_bounds`, `hierarchy_bounds`  the least and greatest number that they state
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen
from shoal.table.column import Column, Kind
from shoal.table.encoding import is_text
from shoal.table.hierarchy import ROOT

# inside a range or set such a text cannot be parsed back as one value
_MISREAD = r'^$|^"|^missing$|,|^\s|\s$| or missing$'


@dataclass(frozen=True, eq=False)
class Subsets:
    """Subsets of the codes 0 … domain − 1, none of them empty.

    Subset i contains the codes starts[r] … stops[r] − 1 for r in indptr[i] … indptr[i + 1] − 1;
    its runs are disjoint, ascending and do not touch. {0, 1, 4} and {2} are:

        indptr  0 2 3
        starts  0 4 2
        stops   2 5 3
    """

    domain: int
    indptr: Counts
    starts: Codes
    stops: Codes

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def sizes(self) -> Counts:
        """(subsets,) number of members."""
        lengths = (self.stops - self.starts).astype(np.int64)
        return frozen(np.add.reduceat(lengths, self.indptr[:-1]) if len(self) else lengths)

    @cached_property
    def first(self) -> Codes:
        """(subsets,) the least member."""
        return frozen(self.starts[self.indptr[:-1]])

    @cached_property
    def last(self) -> Codes:
        """(subsets,) the greatest member."""
        return frozen(self.stops[self.indptr[1:] - 1] - np.int32(1))

    def last_below(self, code: int) -> Codes:
        """(subsets,) the greatest member below `code`, −1 if there is none."""
        stops = np.minimum(self.stops, code)
        ends = np.where(self.starts < code, stops - 1, -1).astype(np.int32)
        return frozen(np.maximum.reduceat(ends, self.indptr[:-1]) if len(self) else ends)

    @cached_property
    def whole(self) -> Bools:
        """(subsets,) whether the subset is the whole domain."""
        full: Bools = self.sizes == self.domain
        return full

    def members(self, index: int) -> Codes:
        """Return the codes in one subset, ascending."""
        runs = range(int(self.indptr[index]), int(self.indptr[index + 1]))
        return np.concatenate(
            [np.arange(self.starts[r], self.stops[r], dtype=np.int32) for r in runs]
        )

    def flat(self) -> tuple[Counts, Codes]:
        """Return the members of all subsets in compressed row form: row starts and members."""
        # count up inside each run: position in the output, less the begin of the run
        lengths = self.stops - self.starts
        ends = np.cumsum(lengths, dtype=np.int64)
        places = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        members = np.repeat(self.starts, lengths) + places.astype(np.int32)
        return np.concatenate(([0], ends))[self.indptr], members

    def hold(self, indices: Codes, codes: Codes) -> Bools:
        """Return, for each pair, whether subset indices[i] contains codes[i]."""
        if len(self) * self.domain <= 8 * len(codes):  # a table of all pairs is cheap
            indptr, members = self.flat()
            table = np.zeros((len(self), self.domain), dtype=np.bool_)
            table[np.repeat(np.arange(len(self)), np.diff(indptr)), members] = True
            return table[indices, codes]
        held = np.zeros(len(codes), dtype=np.bool_)
        pairs, run = np.arange(len(codes)), self.indptr[indices]
        while len(pairs):  # run by run, for the pairs that may still be met
            wanted = codes[pairs]
            held[pairs] = (self.starts[run] <= wanted) & (wanted < self.stops[run])
            more = (self.stops[run] <= wanted) & (run + 1 < self.indptr[indices[pairs] + 1])
            pairs, run = pairs[more], run[more] + 1
        return held

    def take(self, indices: Any) -> Subsets:
        """Return the subsets at these indices, which may repeat."""
        begins, counts = self.indptr[indices], np.diff(self.indptr)[indices]
        indptr = np.concatenate(([0], np.cumsum(counts)))
        runs = np.repeat(begins - indptr[:-1], counts) + np.arange(int(indptr[-1]))
        return Subsets(self.domain, indptr, self.starts[runs], self.stops[runs])

    def equal(self, other: Subsets) -> Bools:
        """Return, for each i, whether subset i equals subset i of the other."""
        same: Bools = np.diff(self.indptr) == np.diff(other.indptr)
        if same.any():
            mine, theirs = self.take(np.flatnonzero(same)), other.take(np.flatnonzero(same))
            runs = (mine.starts == theirs.starts) & (mine.stops == theirs.stops)
            same[same] = np.logical_and.reduceat(runs, mine.indptr[:-1])
        return same

    @classmethod
    def singletons(cls, domain: int) -> Subsets:
        """Return one subset for each code."""
        codes = np.arange(domain, dtype=np.int32)
        return cls(domain, np.arange(domain + 1, dtype=np.int64), codes, codes + np.int32(1))

    @classmethod
    def ranges(cls, domain: int, first: Codes, last: Codes) -> Subsets:
        """Return the subsets first[i] … last[i], both ends included."""
        indptr = np.arange(len(first) + 1, dtype=np.int64)
        return cls(domain, indptr, first.astype(np.int32), (last + 1).astype(np.int32))

    @classmethod
    def of_members(cls, domain: int, indptr: Counts, members: Codes) -> Subsets:
        """Return the subsets members[indptr[i]:indptr[i + 1]], each ascending without repeats."""
        if not len(members):
            return cls(domain, indptr.astype(np.int64), members, members)
        # a run begins at a gap or at the begin of a subset
        opens = np.ones(len(members), dtype=np.bool_)
        opens[1:] = members[1:] != members[:-1] + 1
        opens[indptr[:-1]] = True
        closes = np.append(opens[1:], True)
        runs = np.concatenate(([0], np.cumsum(opens)))[indptr]
        return cls(
            domain,
            runs.astype(np.int64),
            members[opens].astype(np.int32),
            (members[closes] + 1).astype(np.int32),
        )

    @classmethod
    def of_groups(cls, groups: Codes, count: int) -> Subsets:
        """Return, for each group of a map code → group, the codes that fall into it."""
        order = np.argsort(groups, kind="stable").astype(np.int32)
        indptr = np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count))))
        return cls.of_members(len(groups), indptr, order)

    @classmethod
    def joined(cls, parts: Sequence[Subsets]) -> Subsets:
        """Return the subsets of all parts, one after the other."""
        indptr = [parts[0].indptr]
        for part in parts[1:]:
            indptr.append(part.indptr[1:] + indptr[-1][-1])
        return cls(
            parts[0].domain,
            np.concatenate(indptr),
            np.concatenate([part.starts for part in parts]),
            np.concatenate([part.stops for part in parts]),
        )


def range_labels(column: Column, subsets: Subsets) -> tuple[str | None, ...]:
    """Return ranges as text: `7`, `[3, 7]`, `[3, 7] or missing`, `*` for all."""
    last = subsets.last_below(column.known)
    missing = np.zeros(len(subsets), dtype=np.bool_)
    if column.missing is not None:
        missing = subsets.last == column.missing
    inside = member_texts(column)
    return tuple(
        ROOT
        if whole and column.domain > 1
        else _range_text(column, inside, int(f), int(e), bool(m))
        for f, e, m, whole in zip(subsets.first, last, missing, subsets.whole, strict=True)
    )


def _range_text(
    column: Column, inside: Sequence[str | None], first: int, last: int, missing: bool
) -> str | None:
    if last < 0:
        return None
    if first == last and not missing:
        return column.labels[first]
    text = inside[first] if first == last else f"[{inside[first]}, {inside[last]}]"
    return f"{text} or missing" if missing else text


def set_labels(column: Column, subsets: Subsets) -> tuple[str | None, ...]:
    """Return sets as text: `a`, `{a, b}`, `*` for all."""
    indptr, members = subsets.flat()
    shown = pa.array(member_texts(column), pa.string()).fill_null("missing")
    listed = pa.ListArray.from_arrays(pa.array(indptr, pa.int32()), shown.take(pa.array(members)))
    joined = pc.binary_join(listed, ", ")
    braced = pc.binary_join_element_wise("{", joined, "}", "").to_pylist()
    single = [column.labels[first] for first in subsets.first.tolist()]
    return tuple(
        ROOT if whole and column.domain > 1 else one if size == 1 else many
        for whole, size, one, many in zip(
            subsets.whole.tolist(), subsets.sizes.tolist(), single, braced, strict=True
        )
    )


def member_texts(column: Column) -> tuple[str | None, ...]:
    """Return each value as written in a range or set, quoted if needed: `{"a, b", c}`."""
    if not is_text(column.values.type):
        return column.labels
    plain = pa.array(column.labels, pa.string())
    misread = pc.fill_null(pc.match_substring_regex(plain, _MISREAD), False)
    if not pc.any(misread).as_py():
        return column.labels
    doubled = pc.replace_substring(plain, '"', '""')
    quoted = pc.binary_join_element_wise('"', doubled, '"', "")
    return tuple(pc.if_else(misread, quoted, plain).to_pylist())


def agree(
    column: Column, subsets: Subsets, texts: Sequence[str | None], levels: Codes | None
) -> Bools:
    """Return, for each entry, whether its text matches its subset.

    An entry with a hierarchy level is a group of that level with its label; any other entry is a
    range, a set or one of its members. The root may stand for the whole domain.
    """
    given = np.array(texts, dtype=object)
    matches: Bools = subsets.whole & (given == ROOT)
    heights = np.full(len(subsets), -1, dtype=np.int32) if levels is None else levels
    for height in np.unique(heights[~matches]).tolist():
        entries = np.flatnonzero(~matches & (heights == height))
        check = _are_plain if height < 0 else partial(_are_groups, height)
        matches[entries] = check(column, subsets.take(entries), given[entries])
    return matches


def _are_groups(height: int, column: Column, subsets: Subsets, texts: Any) -> Bools:
    if column.hierarchy is None or height > column.hierarchy.height:
        return np.zeros(len(subsets), dtype=np.bool_)
    level = column.hierarchy.levels[height]
    groups = level.groups[subsets.first]
    expected = Subsets.of_groups(level.groups, len(level)).take(groups)
    alike: Bools = np.array(level.labels, dtype=object)[groups] == texts
    return alike & subsets.equal(expected)


def _are_plain(column: Column, subsets: Subsets, texts: Any) -> Bools:
    code_of = {text: code for code, text in enumerate(column.labels)}
    codes = np.array([code_of.get(text, -1) for text in texts.tolist()], dtype=np.int32)
    matches = (codes >= 0) & subsets.hold(np.arange(len(subsets), dtype=np.int32), codes)
    if column.ordered:
        rest = np.flatnonzero(~matches & _without_gaps(column, subsets))
        matches[rest] = (
            np.array(range_labels(column, subsets.take(rest)), dtype=object) == texts[rest]
        )
    rest = np.flatnonzero(~matches)
    if len(rest):
        matches[rest] = (
            np.array(set_labels(column, subsets.take(rest)), dtype=object) == texts[rest]
        )
    return matches


def _without_gaps(column: Column, subsets: Subsets) -> Bools:
    """Return which subsets are runs of known values, with or without the missing value."""
    known = subsets.sizes
    if column.missing is not None:
        known = known - (subsets.last == column.missing)
    gapless: Bools = subsets.last_below(column.known) - subsets.first + 1 == known
    return gapless


def member_bounds(column: Column, subsets: Subsets) -> tuple[Floats, Floats]:
    """Return least and greatest member as positions; NaN if an entry is only missing."""
    if not column.known:
        nowhere = frozen(np.full(len(subsets), np.nan))
        return nowhere, nowhere
    last = subsets.last_below(column.known)
    only_missing = last < 0
    low = np.where(only_missing, np.nan, column.positions[subsets.first])
    high = np.where(only_missing, np.nan, column.positions[np.maximum(last, 0)])
    whole = subsets.whole
    if column.domain > 1 and whole.any():
        low[whole], high[whole] = column.extent
    return frozen(low), frozen(high)


def hierarchy_bounds(
    column: Column, subsets: Subsets, published: Floats | None
) -> tuple[Floats | None, Floats | None]:
    """Return the published bounds of hierarchy groups, clipped to the column's extent."""
    if not column.ordered:
        return None, None
    low, high = member_bounds(column, subsets)
    if published is None or column.kind is Kind.ORDINAL:
        return low, high
    least, greatest = column.extent
    wide_low = np.maximum(np.fmin(published[:, 0], low), least)
    wide_high = np.minimum(np.fmax(published[:, 1], high), greatest)
    return frozen(wide_low), frozen(wide_high)
