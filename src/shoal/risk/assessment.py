"""Assessment: how many people an attacker finds who knows some attributes of everybody.

The attacker draws one of all ways to give everybody a record that fits them; what is expected is
the number of people who get their own.
Lakshmanan, Ng & Ramesh, "To do or not to do: the dilemma of disclosing anonymized data", SIGMOD
2005; Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.anonymize.algorithm import check_choice
from shoal.core.arrays import Counts, Floats, frozen
from shoal.core.release import Release
from shoal.errors import InputError
from shoal.privacy.model import check_range, check_whole
from shoal.risk.beliefs import Prior, believed
from shoal.risk.graphs import Graph, check_known, consistency

if TYPE_CHECKING:
    from shoal.risk.cracks import Cracks

Method = Literal["auto", "exact", "fast"]
METHODS = ("auto", "exact", "fast")
_ABOVE = 1e-9  # by which a risk must exceed 1/k to be more
_NOBODY = {"value": 0.0, "low": 0.0, "high": 0.0, "method": "exact", "sampled": 0, "forced": 0}


@dataclass(frozen=True, eq=False, repr=False)
class Assessment:
    """What an attacker with this knowledge finds.

    known: the attributes that are known of everybody; people: how many people that is.
    value, low, high: expected number of people found, with its interval; no interval by "fast".
    method: `exact`, `sampled` or `fast`; sampled: people whose risk is a mean over sampled
        matchings, or with "fast" a guess.
    guarantee: what the figures are worth, in words.
    forced: people whose record is certain.
    risks: (rows,) the chance that a person of the row is found, NaN for those left out.
    candidates, feasible: (rows,) records that a person fits, and of these the ones that they can
        have with everybody else matched as well, 0 for those left out.
    k: by which risks are called high; by default the model's.
    counts: (rows,) people behind each row, 0 for those left out.
    assumptions: what the attacker is taken to know and to do, in words.
    """

    known: tuple[str, ...]
    people: int
    value: float
    low: float | None
    high: float | None
    method: str
    sampled: int
    guarantee: str
    forced: int
    k: int
    assumptions: tuple[str, ...]
    risks: Floats = field(repr=False)
    candidates: Counts = field(repr=False)
    feasible: Counts = field(repr=False)
    counts: Counts = field(repr=False)

    def __repr__(self) -> str:
        told = "" if self.low is None else f" [{self.low:.6g}, {self.high:.6g}]"
        return (
            f"Assessment(known={list(self.known)}, {self.value:.6g}{told} of {self.people:,} "
            f"people, {self.method}, forced={self.forced:,}, highest_risk={self.highest_risk:.4g})"
        )

    @property
    def share(self) -> float:
        """Expected share of people who are found, 0 where nobody is released."""
        return self.value / self.people if self.people else 0.0

    @property
    def highest_risk(self) -> float:
        """The chance to be found of the person worst off, 0 where nobody is released."""
        return float(np.nanmax(self.risks)) if self.people else 0.0

    @property
    def above(self) -> int:
        """People whose chance to be found is more than 1/k."""
        return self._count(self.risks > 1 / self.k + _ABOVE)

    @property
    def above_share(self) -> float:
        """Their share."""
        return self.above / self.people if self.people else 0.0

    @property
    def mean_candidates(self) -> float:
        """Records that a person fits, on average."""
        return self._mean(self.candidates)

    @property
    def mean_feasible(self) -> float:
        """Records that a person can have with everybody else matched as well, on average."""
        return self._mean(self.feasible)

    def _count(self, rows: Any) -> int:
        return int(self.counts[rows].sum())

    def _mean(self, values: Counts) -> float:
        return float((values * self.counts).sum()) / self.people if self.people else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, without the rows."""
        names = (
            "people value low high share method sampled guarantee forced highest_risk k above "
            "above_share mean_candidates mean_feasible"
        )
        told = {name: getattr(self, name) for name in names.split()}
        return {"known": list(self.known), **told, "assumptions": list(self.assumptions)}


def assess(
    release: Release,
    known: Iterable[str] | None = None,
    prior: Prior | None = None,
    *,
    method: Method = "auto",
    target: float = 0.01,
    present: bool = True,
    k: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
) -> Assessment:
    """Return how many people an attacker is expected to find in a release.

    known: the attributes that are known of everybody, by default the quasi-identifiers.
    prior: chances that a known attribute is wrong, by name; or a function of rows of people and
        rows of records that returns how much each such pair is held for.
    method: "auto" is exact where that is quick and else samples matchings; "exact" refuses what it
        cannot solve; "fast" guesses.
    target: half of the width of a sampled interval, as a share of the value.
    present: whether it is known who is in the release; if not, people left out are candidates too.
    k: by which risks are called high; by default the model's.
    """
    check_choice("method", method, METHODS)
    check_range("target", target, 0.0, 1.0, above=True)
    least = int(getattr(release.model, "least_size", 1)) if k is None else k
    check_whole("k", least, 1)
    names = check_known(release, known)
    if prior is not None and not present:
        raise InputError(
            "a prior says nothing of people outside the release: leave it away, or let it be known "
            "who is in the release"
        )
    counts = _released(release)
    how = {"method": method, "target": target, "seed": seed, "threads": threads}
    found: dict[str, Any] = _NOBODY | _rows(len(counts))
    if counts.any():
        whole = (
            consistency(release, names, present=present)
            if prior is None
            else believed(release, names, prior)
        )
        found = _figures(whole, counts, how)
    return Assessment(
        known=names,
        people=int(counts.sum()),
        guarantee=_GUARANTEES[found["method"]],
        k=least,
        assumptions=_assumptions(names, prior, present=present),
        counts=frozen(counts),
        **found,
    )


def _figures(whole: Graph, counts: Counts, how: dict[str, Any]) -> dict[str, Any]:
    """Return what follows from a graph, figures and rows."""
    from shoal.risk.cracks import cracks_of

    graph, released = whole.pruned(), counts > 0
    how = how | {"threads": how["threads"] or os.cpu_count() or 1}
    found, kinds = cracks_of(graph, **how), graph.person[released]
    rows = _rows(len(counts))
    rows["risks"][released] = found.risks[graph.pair[released]]
    rows["candidates"][released] = whole.candidates[kinds]
    rows["feasible"][released] = graph.candidates[kinds]
    sure = rows["feasible"] == 1
    if graph.hidden:  # who may be outside is never certain
        sure[released] &= np.diff(graph.indptr)[kinds] == 1
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "method": _way(found),
        "sampled": found.sampled + found.guessed,
        "forced": int(counts[sure].sum()),
        **{name: frozen(values) for name, values in rows.items()},
    }


def _rows(many: int) -> dict[str, Any]:
    """Return what is told of rows, before anything is known."""
    none = np.zeros(many, dtype=np.int64)
    return {"risks": np.full(many, np.nan), "candidates": none, "feasible": none.copy()}


def _way(found: Cracks) -> str:
    if found.guessed:
        return "fast"
    return "sampled" if found.sampled else "exact"


def _released(release: Release) -> Counts:
    """(rows,) the people behind each row, 0 where it is left out."""
    ids, counts = release.classes.ids, release.original.counts
    every = np.ones(len(ids), dtype=np.int64) if counts is None else counts
    return np.where(ids >= 0, every, 0)


_GUARANTEES = {
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


def _assumptions(names: tuple[str, ...], prior: Prior | None, *, present: bool) -> tuple[str, ...]:
    """Say what the attacker is taken to know and to do."""
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
    return (
        f"The attacker knows {told} {who}.",
        "Everybody has one record, and the attacker uses that: who is matched to one record is out "
        "of the question for another.",
        sure,
        "The attacker knows nothing else: no further values, no order of rows, no other release.",
    )
