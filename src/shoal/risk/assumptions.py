"""What an assessment takes for granted, and what its figures are worth, in words."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.risk.beliefs import Prior

GUARANTEES = {
    "exact": "Exact, save for rounding.",
    "sampled": (
        "Estimated from sampled matchings, with a 95 % interval for the number of people found. "
        "The risk of a single person has no interval."
    ),
    "fast": (
        "A guess as if people chose their records independently of each other; it can be far off "
        "and has no interval."
    ),
}


def assumptions(
    names: tuple[str, ...], prior: Prior | None, *, present: bool, repeated: bool
) -> tuple[str, ...]:
    """Say what the attacker is taken to know and to do.

    present: whether it is known who is in the release; repeated: whether people have several rows.
    """
    told = ", ".join(names) or "nothing"
    who = (
        "of everybody in the release, and knows that they are in it"
        if present
        else "of everybody in the table, but not who of them is in the release"
    )
    if prior is None:
        sure = "What the attacker knows is right, and no way to match is likelier than another."
    elif isinstance(prior, Mapping):
        rates = ", ".join(f"{name} with a chance of {rate:g}" for name, rate in prior.items())
        sure = f"What the attacker knows may be wrong: {rates or 'nothing'}."
    else:
        sure = (
            "Some matches are likelier to the attacker than others, by a function that was given."
        )
    one_to_one = (
        "Everybody has one record, and the attacker uses that: who is matched to one record is out "
        "of the question for another."
    )
    if repeated:
        one_to_one = (
            "The attacker knows every row of a person and matches rows with records one to one. "
            "A person is found when at least one of her rows is matched with one of her records."
        )
    return (
        f"The attacker knows {told} {who}.",
        one_to_one,
        sure,
        "The attacker knows nothing else: no further values, no order of rows, no other release.",
    )
