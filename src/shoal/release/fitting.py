"""People of another table compared with a release: who matches each released record.

The other table may be a voter list, a register or a population: its people need not be in the
release, and its values need not occur in the original.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts, frozen
from shoal.table.classes import SUPPRESSED
from shoal.table.column import Column
from shoal.table.coverage import Fits, as_published
from shoal.table.encoding import is_text
from shoal.table.hierarchy import ROOT
from shoal.table.members import KindEdges, Members
from shoal.table.people import Unit, group
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.table._fits import Cells


_FORM = re.compile(r"[*{\[|~,;]| or missing$")  # what published forms of texts are written with


class Published(NamedTuple):
    """One released column in terms of the values of another table.

    Parameters:
        codes: (released rows,) the entry of each row.
        subsets: The values of the other table that each entry covers, by their codes there; an
            entry may cover none.
    """

    codes: Codes
    subsets: Subsets


@dataclass(frozen=True, eq=False)
class Fitting:
    """People of a table, released records, and which people fit which records.

    Parameters:
        fits: The graph between kinds of people's rows and kinds of released records.
        people: (people's rows,) the kind of each row.
        records: (released rows,) the kind of each row.
        person: The person of each of the people's rows, None if each is a different person.
    """

    fits: Fits
    people: Codes
    records: Codes
    person: Unit | None = None

    def __repr__(self) -> str:
        return f"Fitting(people={len(self.people)}, records={len(self.records)})"

    @property
    def records_of(self) -> Counts:
        """(people's rows,) the number of released records that each fits."""
        return self.fits.degrees[0][self.people]

    @property
    def people_of(self) -> Counts:
        """(released rows,) the number of people who fit each record with one of their rows."""
        if self.person is None:
            return self.fits.degrees[1][self.records]
        indptr, indices = self.fits.edges
        forward = KindEdges(indptr, indices, len(self.fits.copies))
        people = forward.turned().count_people(Members.of(self.people, self.person))
        return people[self.records]


def fit_people(
    published: Mapping[str, Published], people: Table, counts: Counts | None = None
) -> Fitting:
    """Return which people fit which released records on the published columns.

    Parameters:
        published: The released columns, in terms of the values of `people`.
        people: The table of people.
        counts: (released rows,) records behind each row of a weighted table.
    """
    names = sorted(published, key=lambda name: -people[name].domain)  # exclude most pairs early
    columns = [people[name] for name in names]
    kinds = group([c.codes for c in columns], [c.domain for c in columns])
    cells = [published[name] for name in names]
    boxes = group([c.codes for c in cells], [len(c.subsets) for c in cells])
    fits = Fits(
        _cells(columns, cells, kinds.first, boxes.first),
        kinds.sizes(people.counts),
        boxes.sizes(counts),
        np.zeros((0, 2), dtype=np.int32),
    )
    return Fitting(fits, kinds.ids, boxes.ids, people.person)


def _cells(
    columns: Sequence[Column], cells: Sequence[Published], people: Counts, records: Counts
) -> Cells:
    from shoal.table._fits import Cells

    offsets = np.cumsum([0, *(len(cell.subsets.starts) for cell in cells)]).tolist()
    begins, ends = [], []
    for cell, offset in zip(cells, offsets, strict=False):
        entry = cell.codes[records]
        begin, end = cell.subsets.indptr[entry] + offset, cell.subsets.indptr[entry + 1] + offset
        nobody = begin == end  # entries that cover nothing share an empty run after all others
        begins.append(np.where(nobody, offsets[-1], begin))
        ends.append(np.where(nobody, offsets[-1] + 1, end))
    none = np.zeros(1, dtype=np.int32)
    return Cells(
        np.stack([column.codes[people] for column in columns], axis=1),
        np.stack(begins, axis=1),
        np.stack(ends, axis=1),
        np.concatenate([*(cell.subsets.starts for cell in cells), none]),
        np.concatenate([*(cell.subsets.stops for cell in cells), none]),
    )


def published_cells(
    source: Release | Table, people: Table, names: Sequence[str]
) -> tuple[dict[str, Published], Counts]:
    """Return released columns as subsets of another table's values, and the released rows.

    A table counts as released unchanged. A value that does not occur in the original is covered by
    cells whose published bounds contain it, and by cells that exclude nothing.

    Parameters:
        source: A release, or an unprotected table.
        people: The other table.
        names: The columns.
    """
    if isinstance(source, Table):
        rows = np.arange(len(source))
        recodings = {name: Recoding.identity(source[name]) for name in names}
    else:
        ids = source.classes.ids
        rows = np.flatnonzero(ids != SUPPRESSED)
        recodings = {name: as_published(_recoded(source, name), ids) for name in names}
    return {
        name: Published(recoding.codes[rows], _admitted(recoding, people[name]))
        for name, recoding in recodings.items()
    }, rows


def _recoded(release: Release, name: str) -> Recoding:
    column = release.original[name]
    return release.recodings.get(name) or Recoding.identity(column)


def other_readings(
    release: Release, people: Table, published: Mapping[str, Published]
) -> list[dict[str, Published]]:
    """Return the released columns with every reading of each text, if a text has several.

    A claim about the written file must not rest on what only the owner of the original knows: that
    a `*` in it is a value and not a hidden cell.

    Parameters:
        release: The release.
        people: The other table.
        published: The columns as the release means them, from `published_cells`.
    """
    found = {}
    for name, (codes, subsets) in published.items():
        if is_text(people[name].values.type):
            recoding = as_published(_recoded(release, name), release.classes.ids)
            read = _in_every_way(recoding, people[name], subsets)
            if read is not subsets:
                found[name] = Published(codes, read)
    return [{**published, **found}] if found else []


def _in_every_way(recoding: Recoding, column: Column, subsets: Subsets) -> Subsets:
    """Return the values that entries cover in every reading of values written like a form."""
    from shoal.release.reading_cells import Forms

    forms, values = Forms(column), set(recoding.column.labels)
    several = {}
    for entry, text in enumerate(recoding.labels):
        if text and text in values and _FORM.search(text):
            runs = forms.every_run(text)
            if sum(stop - start for start, stop in runs) > 1:
                several[entry] = runs
    if not several:
        return subsets
    table = np.zeros((len(subsets), column.domain), dtype=np.bool_)
    indptr, members = subsets.flat()
    table[np.repeat(np.arange(len(table)), np.diff(indptr)), members] = True
    for entry, runs in several.items():
        for start, stop in runs:
            table[entry, start:stop] = True
    return subsets_of(table)


def _admitted(recoding: Recoding, column: Column) -> Subsets:
    """Return the values of a column that each entry covers."""
    own = recoding.column
    if own.values.equals(column.values):
        return recoding.subsets
    codes = codes_in(own, column)
    known = codes >= 0
    table = np.zeros((len(recoding.subsets), column.domain), dtype=np.bool_)
    indptr, members = recoding.subsets.flat()
    inside = np.zeros((len(recoding.subsets), own.domain), dtype=np.bool_)
    inside[np.repeat(np.arange(len(inside)), np.diff(indptr)), members] = True
    table[:, known] = inside[:, codes[known]]
    table[:, ~known] = _everything(recoding)[:, None]
    if recoding.low is not None and own.kind == column.kind == "numeric":
        assert recoding.high is not None
        places = own.ruler.positions(column.values)
        new = np.flatnonzero(~known & ~np.isnan(places))
        place = places[new]
        table[:, new] |= (recoding.low[:, None] <= place) & (place <= recoding.high[:, None])
    return subsets_of(table)


def _everything(recoding: Recoding) -> Bools:
    """(entries,) whether the label excludes nothing: it is `*`, or the top of the hierarchy."""
    tree = recoding.column.hierarchy
    found = np.array([text == ROOT for text in recoding.labels], dtype=np.bool_)
    if tree is not None and recoding.levels is not None:
        found |= recoding.subsets.whole & (recoding.levels == tree.height)
    return found


def subsets_of(table: Bools) -> Subsets:
    """Return the subsets of codes that are marked in each row of a (entries, domain) table."""
    edges = np.diff(table.astype(np.int8), axis=1, prepend=0, append=0)
    which, starts = np.nonzero(edges == 1)
    stops = np.nonzero(edges == -1)[1]
    runs = np.bincount(which, minlength=len(table))
    indptr = np.concatenate(([0], np.cumsum(runs)))
    return Subsets(
        table.shape[1], indptr.astype(np.int64), starts.astype(np.int32), stops.astype(np.int32)
    )


def codes_in(column: Column, other: Column) -> Codes:
    """(domain of `other`,) the code in `column` of each value of `other`, −1 if it has none."""
    known, asked = column.values, other.values
    if known.type != asked.type:
        known, asked = (pa.array(each.labels, pa.string()) for each in (column, other))
    places = pc.index_in(asked, value_set=known).fill_null(-1)
    codes: Codes = places.to_numpy(zero_copy_only=False).astype(np.int32)
    return frozen(codes)


def shared_columns(
    source: Release | Table, people: Table, known: Sequence[str] | None
) -> list[str]:
    """Return the columns to compare: the given ones, or the quasi-identifiers of both tables.

    Raises:
        InputError: There are no such columns, or one of them is an identifier.
    """
    table = source.original if isinstance(source, Release) else source
    names = (
        list(dict.fromkeys(known)) if known else [name for name in table.quasi if name in people]
    )
    if not names:
        raise InputError("the tables share no quasi-identifier; name columns that both have")
    for name in names:
        if table[name].role == "identifier" or people[name].role == "identifier":
            raise InputError(
                f"column {name!r} is an identifier, which releases do not contain; choose another"
            )
    return names
