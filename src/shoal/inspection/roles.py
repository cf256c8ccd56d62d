"""Suggest the role of a column from its name, its type and its counts.

In doubt, a column becomes a quasi-identifier. A column that singles people out is never suggested
to be published unchanged, whatever its name.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from shoal.core.column import Column, Role
from shoal.inspection import words
from shoal.inspection.shapes import Shape

_FREE_TEXT = "free text may name people"
_OWN = "nearly all differ"
_MAX_CATEGORIES = 50  # distinct texts; more are not a category if many are unique
Suggestion = tuple[Role, str]


def suggest_role(name: str, column: Column | None, names: Collection[str] = ()) -> Suggestion:
    """Return a role for a column, and the reason.

    column: the encoded column, None if its values cannot be compared.
    names: all columns of the table.
    """
    if column is None:
        return Role.IDENTIFIER, "a list of values"
    shape = Shape.of(column)
    return (
        _sampling_weight(name, shape, names)
        or _identifier(name, shape)
        or _position(name, shape, names)
        or _number_or_text(name, shape)
        or _private(name, shape)
        or _by_values(name, shape)
    )


def _sampling_weight(name: str, shape: Shape, names: Collection[str]) -> Suggestion | None:
    """Return the role of the first column that is named like a sampling weight."""
    named = [other for other in names or [name] if words.is_sampling_weight(other)]
    positive = shape.distinct and shape.lies_within(math.inf) and min(shape.extent) > 0
    if name not in named or not positive:
        return None
    if name != named[0]:
        return Role.IDENTIFIER, "another sampling weight"
    return Role.WEIGHT, "a sampling weight"


def _identifier(name: str, shape: Shape) -> Suggestion | None:
    """Return the role of a column whose name identifies people, regardless of its counts."""
    if words.is_free_text(name):
        return Role.IDENTIFIER, _FREE_TEXT
    if words.is_person_name(name) or (words.is_direct(name) and not shape.is_choice):
        return Role.IDENTIFIER, "it names a person"
    if words.is_person_number(name) and not (words.is_class(name) and shape.is_category):
        return Role.IDENTIFIER, "it names a person"
    return None


def _position(name: str, shape: Shape, names: Collection[str]) -> Suggestion | None:
    degrees = words.is_degrees(name) and shape.lies_within(180)
    plane = words.is_plane(name, names) and shape.lies_within(math.inf)
    if shape.distinct and (degrees or plane):
        return Role.QUASI, "a position"
    if shape.is_position_text:
        return Role.IDENTIFIER, "a position, as text"
    return None


def _number_or_text(name: str, shape: Shape) -> Suggestion | None:
    """Return the role of numbers and names of records and of free text, by their counts."""
    if not shape.distinct or shape.is_temporal:
        return None
    if words.is_number_or_name(name) and not (shape.is_category or shape.is_fractional):
        return Role.IDENTIFIER, "it names a record"
    if shape.is_prose or (shape.is_text and words.may_be_text(name) and not shape.is_category):
        return Role.IDENTIFIER, _FREE_TEXT
    return None


def _private(name: str, shape: Shape) -> Suggestion | None:
    if not words.is_private(name) or shape.is_temporal:
        return None
    if shape.is_text and shape.is_own:
        return Role.IDENTIFIER, _OWN
    if shape.singles_out:
        return Role.QUASI, _OWN if shape.is_own else "it singles people out"
    return Role.SENSITIVE, "it sounds private"


def _by_values(name: str, shape: Shape) -> Suggestion:
    """Return the role of a column whose name does not sound private."""
    if shape.is_constant:
        return Role.INSENSITIVE, "same in all rows"
    if words.is_known(name):
        return Role.QUASI, "others may know it"
    if shape.is_own and (shape.is_temporal or shape.is_fractional or words.is_amount(name)):
        return Role.QUASI, _OWN
    if shape.is_temporal or words.is_amount(name):
        return Role.QUASI, "others may know it"
    if shape.is_fractional:
        return Role.QUASI, "a measurement"
    if shape.filled > 20 and shape.distinct == shape.filled:
        return Role.IDENTIFIER, "all values differ"
    if shape.is_number_text:
        return Role.QUASI, "unclear: assumed to be known"
    if shape.is_text and shape.singles_out and shape.distinct > _MAX_CATEGORIES:
        return Role.IDENTIFIER, "many occur once"
    return Role.QUASI, "unclear: assumed to be known"
