"""Assessment: how many people an attacker who knows some attributes of everyone re-identifies.

The attacker draws one of all possible matchings of people's rows with records that fit them; the
assessment computes the expected number of people with a row that is matched with their own record.

    consistency or believed   the graph of who can have which record (`graphs.py`)
    cracks_of                 expected cracks, if each record is a different person (`cracks.py`)
    people_cracks             expected people found, if people have several rows
    household_chances         from people to households (`reidentification.py`)
    assumptions               what the figures assume and how reliable they are, in sentences

Lakshmanan, Ng & Ramesh, "To do or not to do: the dilemma of disclosing anonymized data", SIGMOD
2005; Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.risk.graphs import Graph, Prior, believed, check_known, consistency
from shoal.risk.known_rows import KnownRows, known_rows
from shoal.risk.reidentification import HouseholdRisk, by_person, household_risk
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.options import check_choice, check_range, check_whole
from shoal.support.wording import counted, html_table
from shoal.table.members import KindEdges, Members
from shoal.table.people import Unit

Method = Literal["auto", "exact", "fast"]
METHODS = ("auto", "exact", "fast")
_ABOVE = 1e-9  # tolerance when a risk is compared with 1/k
_NOBODY = {
    "value": 0.0,
    "low": 0.0,
    "high": 0.0,
    "method": "exact",
    "sampled": 0,
    "forced": 0,
    "links": 0.0,
}


@dataclass(frozen=True, eq=False, repr=False)
class Assessment:
    """Result of `assess`: how many people an attacker with this knowledge re-identifies.

    Attributes:
        known: The attributes that the attacker knows of everyone.
        people: Number of released people.
        records: Number of their released records.
        value: Expected number of re-identified people. A person is re-identified if one of their
            rows is matched with one of their records.
        low: Lower end of its interval; "fast" has no interval.
        high: Upper end of its interval.
        links: Expected number of records that are matched with a row of their person.
        method: `exact`, `sampled` or `fast`.
        sampled: People whose risk is a mean over sampled matchings, or with "fast" an
            approximation.
        guarantee: How reliable the figures are, in words.
        forced: People with a row that can only be matched with their own records.
        risks: (rows,) the probability that the person of the row is re-identified, NaN for
            suppressed rows.
        candidates: (rows,) people with a record that the row fits, 0 for suppressed rows.
        feasible: (rows,) those of them whose record the row can have while all other rows are
            matched as well, 0 for suppressed rows.
        k: Risks above 1/k count as high; by default the k of the model.
        counts: (rows,) records behind each row, 0 for suppressed rows.
        person: The person of each row, None if each record is a different person.
        assumptions: What the attacker is assumed to know and to do, in words.
        household: The risk of households, None if the table declares none.
        known_rows: People re-identified by an attacker who knows 1, 2, 3 of their rows, if people
            have several rows.
    """

    known: tuple[str, ...]
    people: int
    records: int
    value: float
    low: float | None
    high: float | None
    method: str
    sampled: int
    guarantee: str
    forced: int
    links: float
    k: int
    assumptions: tuple[str, ...]
    risks: Floats = field(repr=False)
    candidates: Counts = field(repr=False)
    feasible: Counts = field(repr=False)
    counts: Counts = field(repr=False)
    person: Unit | None = field(default=None, repr=False)
    household: HouseholdRisk | None = None
    known_rows: tuple[KnownRows, ...] = ()

    def __repr__(self) -> str:
        interval = "" if self.low is None else f" [{self.low:.6g}, {self.high:.6g}]"
        return (
            f"Assessment(known={list(self.known)}, {self.value:.6g}{interval} of {self.people:,} "
            f"people, {self.method}, forced={self.forced:,}, highest_risk={self.highest_risk:.4g})"
        )

    def _repr_html_(self) -> str:
        interval = "" if self.low is None else f" (from {self.low:.4g} to {self.high:.4g})"
        rows = [
            ("expected number of re-identified people", f"{self.value:.4g}{interval}"),
            ("expected share of re-identified people", f"{self.share:.2%}"),
            ("highest re-identification risk of one person", f"{self.highest_risk:.2%}"),
            ("people who can only be matched with their own record", f"{self.forced:,}"),
            (f"people whose risk exceeds 1/{self.k}", f"{self.above:,}"),
        ]
        known = ", ".join(self.known)
        return html_table(
            f"An attacker who knows {known} of {counted(self.people, 'person', 'people')}",
            ("risk", ""),
            rows,
            self.guarantee,
        )

    @property
    def share(self) -> float:
        """Expected share of people who are re-identified, 0 if no one is released."""
        return self.value / self.people if self.people else 0.0

    @property
    def highest_risk(self) -> float:
        """Re-identification risk of the person with the highest risk, 0 if no one is released."""
        return float(np.nanmax(self.risks)) if self.people else 0.0

    @property
    def above(self) -> int:
        """Number of people whose risk exceeds 1/k."""
        risks, people = self._by_person(self.risks, np.maximum)
        return int(people[risks > 1 / self.k + _ABOVE].sum())

    @property
    def above_share(self) -> float:
        """Share of people whose risk exceeds 1/k."""
        return self.above / self.people if self.people else 0.0

    @property
    def mean_candidates(self) -> float:
        """Mean number of people who match a person's cells.

        For a person with several rows, the row with the fewest matches counts.
        """
        return self._mean(self.candidates)

    @property
    def mean_feasible(self) -> float:
        """Mean number of those people who remain possible when everyone else is matched."""
        return self._mean(self.feasible)

    def _mean(self, values: Counts) -> float:
        figures, people = self._by_person(values, np.minimum)
        return float((figures * people).sum()) / self.people if self.people else 0.0

    def _by_person(self, values: Any, choose: np.ufunc) -> tuple[Any, Counts]:
        """Return a figure for each kind of people, and the number of people of each kind."""
        rows = np.flatnonzero(self.counts)
        person = None if self.person is None else self.person.take(rows)
        return by_person(values[rows], self.counts[rows], person, choose)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, without the rows."""
        names = (
            "people records value low high share method sampled guarantee forced links "
            "highest_risk k above above_share mean_candidates mean_feasible"
        )
        return {
            "known": list(self.known),
            **{name: getattr(self, name) for name in names.split()},
            "household": None if self.household is None else self.household.to_dict(),
            "known_rows": [each.to_dict() for each in self.known_rows],
            "assumptions": list(self.assumptions),
        }


def assess(
    release: Release,
    known: Iterable[str] | None = None,
    prior: Prior | None = None,
    *,
    method: Method = "auto",
    half_width: float = 0.01,
    present: bool = True,
    k: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
) -> Assessment:
    """Return how many people an attacker is expected to re-identify in a release.

    If people have several rows, rows are matched with records, and a person is re-identified if at
    least one of their rows is matched with one of their records. The result is exact if the
    consistency graph consists of parts in which all rows fit all records; otherwise it is sampled.

    Parameters:
        release: The release.
        known: The attributes that the attacker knows of everyone, by default the quasi-identifiers.
        prior: Probabilities that a known attribute is wrong, by name; or a function of rows of
            people and rows of records that returns the weight of each pair.
        method: "auto" is exact where that is fast and otherwise samples matchings; "exact" raises
            an error for what it cannot solve; "fast" is an approximation without an interval.
        half_width: Half the width of a sampled interval, relative to the value.
        present: Whether the attacker knows who is in the release; if not, suppressed people are
            candidates too.
        k: Risks above 1/k count as high; by default the k of the model.
        seed: Seed of sampled matchings.
        threads: Number of threads; by default all cores.

    Returns:
        The assessment.

    Raises:
        InputError: An option is wrong, or the release is too large for the method.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> assess(shoal.anonymize(rows, k=2, quasi="age", sensitive="ill"))
    Assessment(known=['age'], 2 [2, 2] of 4 people, exact, forced=0, highest_risk=0.5)
    """
    check_choice("method", method, METHODS)
    check_range("half_width", half_width, 0.0, 1.0, above=True)
    least = int(getattr(release.model, "least_size", 1)) if k is None else k
    check_whole("k", least, 1)
    names = check_known(release, known)
    if prior is not None and not present:
        raise InputError(
            "a prior does not cover people outside the release; omit prior, or set present=True "
            "so that the attacker knows who is in the release"
        )
    counts = _released(release)
    options = {"method": method, "half_width": half_width, "seed": seed, "threads": threads}
    figures: dict[str, Any] = _NOBODY | _rows(len(counts))
    person = _repeated(release)
    if counts.any():
        graph = (
            consistency(release, names, present=present)
            if prior is None
            else believed(release, names, prior)
        )
        figures = _figures(graph, counts, person, options)
    table, classes = release.original, release.classes
    return Assessment(
        known=names,
        people=classes.released_people,
        records=int(counts.sum()),
        guarantee=GUARANTEES[figures["method"]],
        k=least,
        assumptions=assumptions(names, prior, present=present, repeated=person is not None),
        counts=frozen(counts),
        person=person,
        household=household_risk(table, figures["risks"], classes),
        known_rows=known_rows(classes) if person is not None else (),
        **figures,
    )


def _repeated(release: Release) -> Unit | None:
    """Return the person of each row, None if each record is a different person."""
    person = release.original.person
    return None if person is None or person.count == release.original.records else person


def _figures(
    graph: Graph, counts: Counts, person: Unit | None, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the figures and the values by row that follow from a graph."""
    from shoal.risk.cracks import cracks_of, people_cracks

    pruned, released = graph.pruned(), counts > 0
    options = options | {"threads": options["threads"] or os.cpu_count() or 1}
    kinds, rows = pruned.person[released], _rows(len(counts))
    if person is None:
        cracks: Any = cracks_of(pruned, **options)
        links = cracks.value
        rows["risks"][released] = cracks.risks[pruned.pair[released]]
        candidates, feasible = graph.candidates, pruned.candidates
    else:
        cracks = people_cracks(pruned, person, **options)
        links = cracks.links
        rows["risks"][released] = cracks.risks[person.ids[released]]
        candidates, feasible = (_people_reached(each, person) for each in (graph, pruned))
    rows["candidates"][released] = candidates[kinds]
    rows["feasible"][released] = feasible[kinds]
    sure = rows["feasible"] == 1
    if pruned.hidden:  # a row that may be outside the release is never certain
        outside = pruned.heads[pruned.indices == len(pruned.copies) - 1]
        sure[released] &= ~np.isin(kinds, outside)
    return {
        "value": cracks.value,
        "low": cracks.low,
        "high": cracks.high,
        "method": "fast" if cracks.guessed else "sampled" if cracks.sampled else "exact",
        "sampled": cracks.sampled + cracks.guessed,
        "forced": int(counts[sure].sum()) if person is None else len(np.unique(person.ids[sure])),
        "links": links,
        **{name: frozen(values) for name, values in rows.items()},
    }


def _people_reached(graph: Graph, person: Unit) -> Counts:
    """(kinds of rows,) the number of people with a released record that each kind fits."""
    shown = graph.record < len(graph.copies) - graph.hidden
    members = Members.of(np.where(shown, graph.record, np.int32(-1)), person)
    return KindEdges(graph.indptr, graph.indices, len(graph.copies)).count_people(members)


def _rows(many: int) -> dict[str, Any]:
    """Return the initial values by row."""
    none = np.zeros(many, dtype=np.int64)
    return {"risks": np.full(many, np.nan), "candidates": none, "feasible": none.copy()}


def _released(release: Release) -> Counts:
    """(rows,) the number of records behind each row, 0 for suppressed rows."""
    ids, counts = release.classes.ids, release.original.counts
    every = np.ones(len(ids), dtype=np.int64) if counts is None else counts
    return np.where(ids >= 0, every, 0)


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
