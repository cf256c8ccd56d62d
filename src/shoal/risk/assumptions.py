"""The assumptions of an assessment and the reliability of its figures, in words."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.risk.beliefs import Prior

GUARANTEES = {
    "exact": "Exact up to rounding.",
    "sampled": (
        "Estimated from sampled matchings, with a 95 % interval for the number of people found. "
        "The risk of a single person has no interval."
    ),
    "fast": (
        "A rough estimate that treats people as matched independently of each other; it can be "
        "far off and has no interval."
    ),
}


def assumptions(
    names: tuple[str, ...], prior: Prior | None, *, present: bool, repeated: bool
) -> tuple[str, ...]:
    """Return what the attacker is assumed to know and to do, in words.

    Parameters:
        names: The known attributes.
        prior: Why the attacker considers some matches more likely, if so.
        present: Whether the attacker knows who is in the release.
        repeated: Whether people have several rows.
    """
    known = ", ".join(names) or "nothing"
    who = (
        "of everyone in the release, and knows that they are in it"
        if present
        else "of everyone in the table, but not which of them are in the release"
    )
    if prior is None:
        sure = "The attacker's knowledge is correct, and all possible matchings are equally likely."
    elif isinstance(prior, Mapping):
        rates = ", ".join(f"{name} with probability {rate:g}" for name, rate in prior.items())
        sure = f"The attacker's knowledge may be wrong: {rates or 'nothing'}."
    else:
        sure = (
            "The attacker considers some matches more likely than others, according to the given "
            "function."
        )
    one_to_one = (
        "Everyone has one record, and the attacker uses that: a person matched with one record is "
        "not matched with another."
    )
    if repeated:
        one_to_one = (
            "The attacker knows every row of a person and matches rows with records one to one. A "
            "person is re-identified if at least one of their rows is matched with one of their "
            "records."
        )
    return (
        f"The attacker knows {known} {who}.",
        one_to_one,
        sure,
        "The attacker knows nothing else: no other values, no order of rows, no other release.",
    )
