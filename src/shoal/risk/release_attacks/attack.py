"""Four attacks on any release, each beyond a control group of people who were not released.

Beside them, the people whose own values the released cells list are counted.

The three criteria of anonymization: Article 29 Working Party, Opinion 05/2014 (WP216). Measured as
in Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023,
here for generalized, suppressed, perturbed and synthetic releases. Membership inference is the
fourth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.risk.release_attacks.estimates import AttackRisk
from shoal.risk.release_attacks.listed_members import ListedMembers, list_members
from shoal.support.options import check_seed, check_whole
from shoal.support.wording import counted, option

_FEW_CONTROLS = 500  # with fewer people, intervals are too wide to find a leak of some percent
_MEANINGS = {
    "singling_out": "predicates from the release that exactly one released person fits",
    "linkability": "people whose two halves of quasi-identifiers lead to the same released row",
    "inference": "people whose sensitive value the nearest released rows reveal",
    "membership": "people of whom the nearest released row reveals that they are in the release",
}
ATTACKS = tuple(_MEANINGS)
_NOBODY = "no released cell writes out a value that only one person has, beyond chance"


@dataclass(frozen=True)
class ReleaseAttacks:
    """Result of `attack`: the risk of four attacks on a release.

    Attributes:
        singling_out: Predicates from the release that exactly one person of the original fits.
        linkability: Two halves of a person's quasi-identifiers that lead to the same released row.
        inference: Sensitive values that the nearest released rows reveal; `ways` has every column.
        membership: Released people who are recognized as released; needs a control group.
        people: Number of people in the original.
        control: Number of people in the control group, None without one.
        quasi: The released quasi-identifiers, which the attacker knows.
        sensitive: The released sensitive columns.
        notes: What to know about the figures.
        listed_members: For each released quasi-identifier, the people whose own value, which nobody
            else has, its cells write out: anyone who knows it learns that they are in the release.
    """

    singling_out: AttackRisk
    linkability: AttackRisk
    inference: AttackRisk
    membership: AttackRisk
    people: int
    control: int | None
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    notes: tuple[str, ...]
    listed_members: tuple[ListedMembers, ...] = ()

    @property
    def listing(self) -> tuple[str, ...]:
        """The columns that list more people by their own values than chance explains."""
        return tuple(each.column for each in self.listed_members if each.discloses)

    @property
    def flagged(self) -> tuple[str, ...]:
        """The attacks that find more than in the control group, beyond chance."""
        return tuple(name for name in _MEANINGS if getattr(self, name).flagged)

    def sentences(self) -> list[str]:
        """Return the result of each attack in words, and the columns that list people."""
        listed = [each.sentence() for each in self.listed_members if each.discloses]
        return [
            *(_sentence(name, getattr(self, name), self.control) for name in _MEANINGS),
            *(f"listed members: {each}" for each in listed or [_NOBODY]),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            **{name: getattr(self, name).to_dict() for name in _MEANINGS},
            "flagged": list(self.flagged),
            "listed_members": [each.to_dict() for each in self.listed_members],
            "listing": list(self.listing),
            "people": self.people,
            "control": self.control,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "notes": list(self.notes),
        }


def attack(
    original: Any,
    released: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    control: Any = None,
    person: str | Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    schema: Any = None,
    attacks: int = 2000,
    seed: int = 0,
) -> ReleaseAttacks:
    """Attack a release in four ways: singling out, linkability, inference, membership.

    The release may be made by any tool: generalized, suppressed, perturbed or synthetic. Each
    attack is also tried on a control group of people who were not released. The risk is the success
    beyond that: what the release reveals about its own people, not about people in general.
    Without being an attack, `listed_members` counts the people whom the cells list by values that
    nobody else has.

    Parameters:
        original: The table that was released: a file, a frame or a `Table`.
        released: The release: a file, a frame or a `Release`.
        quasi: The columns that the attacker knows; by default those of the schema or the `Table`.
        sensitive: The columns to infer, in the same way.
        control: People of the same population who were not released. If all of them are in the
            original, they are left out of it. Without them the risk includes what anyone could
            learn about people in general.
        person: The columns that identify the person of a row, if people have several.
        hierarchies: `{column: CSV path, Hierarchy or recipe}`, to read labels in the release.
        schema: A YAML file, or its content as a mapping.
        attacks: The maximum number of attacks of each kind.
        seed: Seed of the drawn people and predicates.

    Returns:
        For each attack the risk with its 95 % interval, and the baseline of a naive guesser.

    Raises:
        InputError: A table cannot be read, or lacks a column.

    >>> import pyarrow as pa
    >>> ages = list(range(20, 80))
    >>> people = pa.table({"age": ages, "zip": [f"{7 * a % 60}" for a in ages], "ill": ages})
    >>> others = pa.table({"age": ages, "zip": [f"{11 * a % 60}" for a in ages], "ill": ages})
    >>> found = attack(people, people, quasi=["age", "zip"], sensitive="ill", control=others)
    >>> found.flagged
    ('singling_out', 'linkability', 'inference', 'membership')
    """
    from shoal.risk.release_attacks.inference import infer
    from shoal.risk.release_attacks.linkability import link_halves
    from shoal.risk.release_attacks.membership import recognize_members
    from shoal.risk.release_attacks.singling_out import single_out
    from shoal.risk.release_attacks.sources import read_sources

    check_whole("attacks", attacks, 1)
    check_seed(seed)
    sources = read_sources(
        original,
        released,
        control,
        quasi=quasi,
        sensitive=sensitive,
        person=person,
        hierarchies=hierarchies,
        schema=schema,
    )
    people = sources.people_counts
    notes = [*_control_notes(people[1]), *sources.notes]
    if len(sources.quasi) < 2:
        notes.append("linkability needs two released quasi-identifiers or more")
    if not sources.sensitive:
        notes.append(f"inference needs a released sensitive column; name it: {option('sensitive')}")
    if not people[1]:
        notes.append("membership inference needs a control group")
    singled_out = single_out(sources, attacks, seed)
    notes += _isolated_notes(singled_out)
    return ReleaseAttacks(
        singled_out,
        link_halves(sources, attacks, seed),
        infer(sources, attacks, seed),
        recognize_members(sources, attacks, seed),
        people[0],
        people[1] or None,
        tuple(sources.quasi),
        tuple(sources.sensitive),
        tuple(notes),
        list_members(sources),
    )


def _isolated_notes(found: AttackRisk) -> list[str]:
    """State rows that fit exactly one person, which the interval leaves to chance."""
    from shoal.risk.release_attacks.singling_out import COMPLETE_ROWS

    way = next((way for way in found.ways if way.name == COMPLETE_ROWS), None)
    if way is None or found.flagged:
        return []
    rows, chance = (round((share or 0.0) * way.attacks) for share in (way.success, way.control))
    if rows <= chance:
        return []
    which = counted(rows, "different row fits", "different rows fit")
    return [
        f"{which} exactly one person of the original, and chance explains about {chance:,}; "
        "unless the release is synthetic, generalize or remove such rows"
    ]


def _control_notes(controls: int) -> list[str]:
    if not controls:
        return [
            "without a control group the risk includes what anyone could learn about people in "
            f"general; hold people back before anonymizing and name them: {option('control')}"
        ]
    if controls < _FEW_CONTROLS:
        return [
            f"the control group has only {counted(controls, 'person', 'people')}, so the intervals "
            "are wide"
        ]
    return []


def _sentence(name: str, found: AttackRisk, control: int | None) -> str:
    title = name.replace("_", " ")
    if not found.attacks and name == "membership" and control is None:
        return f"{title}: not measured, it needs a control group"
    if not found.attacks:
        return f"{title}: not possible with these columns"
    share = f"{100 * found.risk:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f} %)"
    if control is None:
        return f"{title}: {share} of attacks succeed, including those that succeed by chance"
    if found.flagged:
        return f"{title}: {share} of attacks succeed beyond the control group: {_MEANINGS[name]}"
    return f"{title}: not more than in the control group, beyond chance; the risk is {share}"
