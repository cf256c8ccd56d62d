"""Documents with one to three wrong parts: what a person may write into YAML or JSON by mistake."""

from __future__ import annotations

import copy

from hypothesis import strategies as st

_LEAVES = (
    None, True, False, 0, -1, 1, 2, 3.5, -0.5, 1e308, 10**30, "", "a", "age", "0", "no", "null",
    "../a", "/", "a\x00b", "é", "x" * 300,
)  # fmt: skip
_VALUES = (
    *_LEAVES, [], {}, [None], [1], ["a"], [[]], [{}], {"a": 1}, {"a": None}, {"": ""}, {"a": {}},
    {"a": ["b"]}, ["a", "a"], [1, "a"], [True, None],
)  # fmt: skip


def places(document, here=()):
    """Return the path of every part of a document, its root first."""
    inside = []
    if isinstance(document, dict):
        inside = document.items()
    elif isinstance(document, list):
        inside = enumerate(document)
    return [here, *(path for key, part in inside for path in places(part, (*here, key)))]


def at(document, place):
    """Return the part of a document at a path."""
    for key in place:
        document = document[key]
    return document


def put(document, place, part):
    """Return the document with another part at a path."""
    if not place:
        return part
    at(document, place[:-1])[place[-1]] = part
    return document


@st.composite
def mutants(draw, document, values=()):
    """Draw a document of which one to three parts are replaced, dropped, added or renamed.

    values: further parts to put in the place of others.
    """
    found = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places(found)))
        part = at(found, place)
        how = draw(st.sampled_from(("replace", "replace", "drop", "add", "rename", "move", "wrap")))
        holder = at(found, place[:-1]) if place else None
        if how == "drop" and place:
            del holder[place[-1]]
        elif how == "rename" and isinstance(holder, dict):
            holder[draw(st.sampled_from(("", "a", "0", "columns", "é")))] = holder.pop(place[-1])
        elif how == "add" and isinstance(part, dict):
            name = draw(st.sampled_from(("a", "", "extra", "key", "columns")))
            part[name] = copy.deepcopy(draw(st.sampled_from(_VALUES)))
        elif how == "add" and isinstance(part, list):
            part.append(copy.deepcopy(draw(st.sampled_from(_VALUES))))
        elif how == "move":
            other = copy.deepcopy(at(found, draw(st.sampled_from(places(found)))))
            found = put(found, place, other)
        elif how == "wrap":
            wrapped = draw(st.sampled_from(("list", "mapping")))
            found = put(found, place, [part] if wrapped == "list" else {"a": part})
        else:
            new = draw(st.sampled_from((*_VALUES, *values)))
            found = put(found, place, copy.deepcopy(new))
        if not isinstance(found, (dict, list)):
            break
    return found
