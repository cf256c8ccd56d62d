"""Suggest a role for each column of a table, as an experienced colleague would.

1. Each column alone: its values first (empty, constant, e-mail addresses), then what its name
   means (`concepts.py`), then its counts. A meaning that does not suit the values is passed over.
2. Copies and columns that follow from another: only one of them is kept.
3. The quasi-identifiers are ranked by how well people outside know them; at most eight are kept.

A column that singles people out is never suggested to be published unchanged, whatever its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.inspection.concepts import (
    AGE,
    BIRTH,
    CONTACT,
    DEGREES,
    EVENT_DATE,
    FREE_TEXT,
    NUMBER,
    PERSON_NUMBER,
    PLACE,
    PLANE,
    TECHNICAL,
    WEIGHT,
    Advice,
    Concept,
    concepts_of,
)
from shoal.inspection.recipes import has_code_digits
from shoal.inspection.shapes import Shape
from shoal.support.arrays import Counts
from shoal.support.wording import folded_name, percent_of
from shoal.table.column import Column, Role
from shoal.table.people import group

MAX_QUASI = 8
_MAX_AGE = 130
_NEARLY_ALL = 0.9
_MAX_CATEGORIES = 50  # distinct texts; more are not a category if many are unique
_REPEATED = 3  # rank lost by each further column of the same meaning
_SERIES = 5  # columns q1, q2, …, whose values are answers
_SAMPLE = 10_000  # rows by which columns are compared
_ROWS_PER_VALUE = 5  # on average; below, one column seems to follow from another by chance
_SAME_ORDER = 0.98  # correlation of two columns that say the same


@dataclass(frozen=True)
class Suggestion:
    """What to do with a column.

    role: its role, or what to do with a column that gets none.
    reason: what was seen.
    concept: the meaning of a quasi-identifier, which ranks it.
    """

    role: Role | Advice
    reason: str
    concept: Concept | None = None


def suggest_roles(
    encoded: Mapping[str, Column | None], contains: Mapping[str, Mapping[str, int]]
) -> dict[str, Suggestion]:
    """Return a suggestion for each column of a table.

    Parameters:
        encoded: The columns by name; None for columns whose values cannot be compared.
        contains: The identifiers that the cells of each column contain, with counts.

    >>> people = [Column.encode("age", [31, 42, 42]), Column.encode("name", ["Ann", "Bo", "Cy"])]
    >>> found = suggest_roles({c.name: c for c in people}, {})
    >>> [(str(each.role), each.reason) for each in found.values()]
    [('quasi', 'an age'), ('identifier', 'names of people')]
    """
    names = list(encoded)
    found = {
        name: _of_one_column(name, column, names, contains.get(name, {}))
        for name, column in encoded.items()
    }
    found |= dict(_series(found, encoded))
    weights = [name for name, each in found.items() if each.role is Role.WEIGHT]
    for name in weights[1:]:
        found[name] = Suggestion(Advice.LEAVE_OUT, f"another sampling weight than {weights[0]}")
    comparable = {
        name: column
        for name, column in encoded.items()
        if column is not None and found[name].role not in (Role.IDENTIFIER, Role.WEIGHT)
    }
    found |= _without_copies(found, comparable)
    found |= _without_derived(found, comparable)
    return found | (_ranked(found) or _for_want_of_others(found, comparable))


def releasable(described: Mapping[str, Any]) -> bool:
    """Return whether a table as described has a quasi-identifier, and several people."""
    quasi = any(column["role"] == Role.QUASI for column in described["columns"])
    return quasi and described["people"] > 1


def _of_one_column(
    name: str, column: Column | None, names: Sequence[str], contains: Mapping[str, int]
) -> Suggestion:
    if column is None:
        return Suggestion(Advice.LEAVE_OUT, "a list of values")
    shape = Shape.of(column)
    if not shape.distinct:
        return Suggestion(Advice.LEAVE_OUT, "empty")
    if shape.is_constant and shape.rows > 1:
        return Suggestion(Advice.LEAVE_OUT, "the same value in all rows")
    for kind, count in contains.items():  # dates alone are no reason
        if kind != "date" and 10 * count >= shape.filled:
            return Suggestion(Role.IDENTIFIER, f"{kind} in its cells")
    if shape.is_position_text:
        return Suggestion(Role.IDENTIFIER, "a position, as text")
    if shape.is_prose:
        return Suggestion(Role.IDENTIFIER, FREE_TEXT.what)
    concepts = concepts_of(name, names)
    if shape.is_temporal:
        concepts = [c for c in concepts if c in (BIRTH, TECHNICAL)] or [EVENT_DATE]
    for concept in concepts:
        if _suits(concept, shape):
            return _by_meaning(concept, column, shape)
    return _by_counts(shape)


def _suits(concept: Concept, shape: Shape) -> bool:
    """Return whether a column with these values may have the meaning that its name suggests."""
    if concept.only == "text" and not (shape.is_text and not shape.is_number_text):
        return False
    if concept.only == "number" and not shape.is_number:
        return False
    if concept is WEIGHT:
        return shape.is_number and min(shape.extent) >= 0 and max(shape.extent) > 0
    if concept is FREE_TEXT:
        return not shape.is_category
    if concept is CONTACT:
        return not shape.is_choice
    if concept in (NUMBER, PERSON_NUMBER):  # of two values, one is probably no
        return not shape.has_decimals and not (shape.is_choice and shape.distinct <= 2)
    if concept is AGE and shape.is_number:  # a code such as 999 may mean missing
        return float(np.mean(np.abs(shape.positions) <= _MAX_AGE)) >= _NEARLY_ALL
    if concept is DEGREES:
        return shape.lies_within(180)
    return concept is not PLACE or not shape.has_decimals


def _by_meaning(concept: Concept, column: Column, shape: Shape) -> Suggestion:
    if concept.role is Role.QUASI:
        if shape.is_sparse_text and not has_code_digits(column):
            reason = f"{concept.what}, but most of its values occur once or twice"
            return Suggestion(Advice.LEAVE_OUT, reason)
        return Suggestion(Role.QUASI, concept.what, concept)
    if concept.role is Role.SENSITIVE:
        return _published_unchanged(concept.what, shape)
    if concept.role is Advice.DECIDE:
        return _by_counts(shape, f"{concept.what} of unknown meaning")
    return Suggestion(concept.role, concept.what)


def _published_unchanged(what: str, shape: Shape) -> Suggestion:
    """Return the sensitive role, unless the values single people out."""
    alone = f"{percent_of(shape.alone, shape.filled)} of the rows have a value of their own"
    if shape.is_text and shape.is_own:
        return Suggestion(Role.IDENTIFIER, f"{what}, but {alone}")
    if shape.singles_out:
        kept = "; round it to keep it" if shape.is_number else ""
        return Suggestion(Advice.LEAVE_OUT, f"{what}; {alone}{kept}")
    return Suggestion(Role.SENSITIVE, what)


def _by_counts(shape: Shape, otherwise: str = "the name does not say what it is") -> Suggestion:
    """Return the role of a column whose name says nothing, or little."""
    alone = f"{percent_of(shape.alone, shape.filled)} of the rows have a value of their own"
    if not shape.has_decimals and shape.filled > 20 and shape.distinct == shape.filled:
        return Suggestion(Role.IDENTIFIER, "all values differ")
    if shape.is_number:
        if shape.has_decimals or shape.singles_out:
            return _published_unchanged("a measurement or an amount", shape)
    elif shape.is_text and shape.singles_out and shape.distinct > _MAX_CATEGORIES:
        return Suggestion(Role.IDENTIFIER, alone)
    return Suggestion(Advice.DECIDE, f"{otherwise}; {shape.distinct:,} values")


def _series(
    found: Mapping[str, Suggestion], encoded: Mapping[str, Column | None]
) -> Iterator[tuple[str, Suggestion]]:
    """Yield answers: undecided columns with few values that are numbered, such as q1 to q20."""
    stems = {name: re.sub(r"_*[0-9]+_?[a-z]?$", "", folded_name(name)) for name in found}
    sizes = Counter(stem for name, stem in stems.items() if stem != folded_name(name))
    for name, stem in stems.items():
        column = encoded[name]
        if found[name].role is Advice.DECIDE and sizes[stem] >= _SERIES and column is not None:
            shape = Shape.of(column)
            if shape.is_category and not shape.singles_out:
                reason = f"one of {sizes[stem]} numbered columns, as answers are"
                yield name, Suggestion(Role.SENSITIVE, reason)


def _without_copies(
    found: Mapping[str, Suggestion], columns: Mapping[str, Column]
) -> dict[str, Suggestion]:
    """Return that columns which distinguish the same rows as another are left out."""
    same: dict[bytes, list[str]] = {}
    for name, column in columns.items():
        if 1 < column.known <= len(column) / 2:
            same.setdefault(_partition(column), []).append(name)
    left = {}
    for names in same.values():
        kept, *copies = sorted(names, key=lambda name: (_weight(found[name]), _form(columns[name])))
        for name in copies:
            left[name] = Suggestion(Advice.LEAVE_OUT, f"says the same as {kept}")
    return left


def _partition(column: Column) -> bytes:
    """Return a digest of which rows are equal: the codes, numbered in the order of the rows."""
    first = np.full(column.domain, len(column), dtype=np.int64)
    first[column.codes[::-1]] = np.arange(len(column) - 1, -1, -1)
    number = np.empty(column.domain, dtype=np.int32)
    number[np.argsort(first, kind="stable")] = np.arange(column.domain)
    return number[column.codes].tobytes()


def _weight(suggestion: Suggestion) -> tuple[int, int]:
    """Return the order in which one of several equal columns is kept."""
    order = (Role.QUASI, Role.SENSITIVE, Advice.DECIDE, Advice.LEAVE_OUT)
    rank = suggestion.concept.rank if suggestion.concept else 0
    return order.index(suggestion.role), rank


def _form(column: Column) -> bool:
    return not Shape.of(column).is_text


def _without_derived(
    found: Mapping[str, Suggestion], columns: Mapping[str, Column]
) -> dict[str, Suggestion]:
    """Return that columns which follow from one that is kept are left out.

    Of quasi-identifiers the finest is kept whose values many people share.
    """
    rows = _drawn(len(next(iter(columns.values())))) if columns else np.zeros(0, np.int64)
    quasi = [n for n in columns if found[n].role is Role.QUASI]
    quasi.sort(key=lambda name: (found[name].concept or PLACE).rank)
    left: dict[str, Suggestion] = {}
    for index, one in enumerate(quasi):
        for other in quasi[index + 1 :]:
            axes = {found[name].concept for name in (one, other)} <= {DEGREES, PLANE}
            if axes or one in left or other in left:
                continue
            if how := _relation(columns[one], columns[other], rows):
                kept, copy = _finer_first(columns[one], columns[other])
                left[copy] = Suggestion(Advice.LEAVE_OUT, f"{how} {kept}, which is kept")
    for one in (name for name in quasi if name not in left):
        for other, column in columns.items():
            open_to = found[other].role in (Role.SENSITIVE, Advice.DECIDE) and other not in left
            if open_to and _determines(columns[one], column, rows):
                left[other] = Suggestion(Advice.LEAVE_OUT, f"follows from {one}")
    return left


def _drawn(rows: int) -> Counts:
    if rows <= _SAMPLE:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, _SAMPLE, replace=False))


def _finer_first(one: Column, other: Column) -> tuple[str, str]:
    """Return which of two related columns to keep, and which not."""
    fine, coarse = (one, other) if one.known >= other.known else (other, one)
    if fine.known < 2 * coarse.known:  # the better known, or the first
        return one.name, other.name
    shared = fine.known <= max(100, len(fine) / 20)
    return (fine.name, coarse.name) if shared else (coarse.name, fine.name)


def _relation(one: Column, other: Column, rows: Counts) -> str | None:
    """Return how two columns say the same, in words; None if they do not."""
    if _determines(one, other, rows) or _determines(other, one, rows):
        return "says the same, finer or coarser, as"
    if all(Shape.of(c).is_number or Shape.of(c).is_temporal for c in (one, other)):
        pair = rows[(one.codes[rows] < one.known) & (other.codes[rows] < other.known)]
        if len(pair) > 20:
            values = [c.positions[c.codes[pair]].astype(np.float64) for c in (one, other)]
            if min(v.std() for v in values) > 0:
                strength = float(np.corrcoef(values[0], values[1])[0, 1])
                if abs(strength) >= _SAME_ORDER:
                    return "moves with"
    return None


def _determines(fine: Column, coarse: Column, rows: Counts) -> bool:
    """Return whether each value of one column comes with a single value of the other."""
    filled = len(fine)
    if not 1 < coarse.known < fine.known or filled < _ROWS_PER_VALUE * fine.known:
        return False
    for some in (rows, np.arange(filled)):  # most pairs differ in the sample
        codes = fine.codes[some], coarse.codes[some]
        pairs = group(codes, [fine.domain, coarse.domain])
        if len(pairs) > len(np.unique(codes[0])):
            return False
        if np.bincount(codes[1]).max() > 0.95 * len(some):  # nearly constant
            return False
    return True


def _for_want_of_others(
    found: Mapping[str, Suggestion], columns: Mapping[str, Column]
) -> dict[str, Suggestion]:
    """Return quasi-identifiers of a table in which none is recognized: a release needs one.

    They are the undecided columns, else the numbers left out, else the sensitive columns.
    """
    if any(each.role is Role.QUASI for each in found.values()):
        return {}
    for role in (Advice.DECIDE, Advice.LEAVE_OUT, Role.SENSITIVE):
        some = [
            name
            for name, column in columns.items()
            if found[name].role is role and column.known > 1 and not Shape.of(column).is_sparse_text
        ]
        if some:
            return {
                name: Suggestion(Role.QUASI, "assumed to be known, as no column surely is")
                for name in some[:MAX_QUASI]
            }
    return {}


def _ranked(found: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """Return that quasi-identifiers beyond the eight best known are to be decided."""
    seen: Counter[Concept] = Counter()
    ranks = {}
    for name, each in found.items():
        if each.role is Role.QUASI and each.concept is not None:
            again = 0 if each.concept in (DEGREES, PLANE) else seen[each.concept]  # in two columns
            ranks[name] = each.concept.rank + _REPEATED * again
            seen[each.concept] += 1
    ordered = sorted(ranks, key=lambda name: ranks[name])
    reason = f"but {MAX_QUASI} others are better known"
    return {
        name: replace(found[name], role=Advice.DECIDE, reason=f"{found[name].reason}, {reason}")
        for name in ordered[MAX_QUASI:]
    }
