"""Every method, with every privacy model, on every nasty table, before an independent judge."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, seed
from hypothesis import strategies as st
from tests import oracle
from tests.cases import ready_for, told
from tests.examples import examples, is_deep
from tests.judging import can_leave_out, is_possible, judge
from tests.nasty import NASTY, about, people, tables, visits

import shoal
from shoal import (
    AlphaKAnonymity,
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    EntropyLDiversity,
    FreeformAnonymity,
    KAnonymity,
    KConcealment,
    KKAnonymity,
    KmAnonymity,
    KMap,
    KOneAnonymity,
    LDiversity,
    OneKAnonymity,
    RecursiveLDiversity,
    Release,
    Risk,
    Table,
    TCloseness,
)

# Each method with the options to try it with; the tables differ in what else a release must keep.
# These publish one level of a hierarchy for a whole column: equal records stay together.
LATTICE = {
    "datafly": [{}, {"max_suppression": 0}, {"max_suppression": 0.3}],
    "samarati": [{}, {"max_suppression": 0}, {"max_suppression": 0.3}],
    "mingen": [{}, {"max_suppression": 0.05}, {"max_suppression": 0.3}],
    "incognito": [{}, {"max_suppression": 0.3, "objective": "entropy"}],
    "ola": [
        {},
        {"max_suppression": 0, "objective": "ncp"},
        {"max_suppression": 0.3, "objective": "class-size"},
        {"max_suppression": 0.5, "local": True},
    ],
    "flash": [
        {},
        {"max_suppression": 0, "objective": "precision"},
        {"max_suppression": 0.3, "objective": "discernibility"},
        {"max_suppression": 1, "objective": "ncp"},
        {"max_suppression": 0.5, "local": True, "objective": "ncp"},
    ],
}
# these keep equal records together, unless the option strict is false
TOGETHER = {
    "mondrian": [
        {},
        {"strict": False},
        {"hierarchies": False},
        {"hierarchies": False, "summary": "set", "strict": False},
        {"summary": "representative"},
        {"effort": "high"},
        {"cuts": "median"},
        {"cuts": "median", "strict": False, "hierarchies": False},
    ],
}
# these group record by record: equal records may part, and a weighted table is refused
PARTING = {
    "auto": [{"time_limit": 1e-6}],
    "sorted": [{}, {"order": "variance", "grouping": "consecutive"}],
    "greedy": [{}, {"expand": True, "outliers_first": True}],
    "k-member": [{}],
    "split-carry": [
        {},
        {"sets_read": 2, "boundary": 1, "carry": "least-loss"},
        {"carry": "bubble", "order": "hilbert"},
        {"time_limit": 0},
    ],
    "optimal": [{"time_limit": 0}],
    "anneal": [{"steps": 30}, {"steps": 5, "threads": 2}, {"time_limit": 0}],
}
# these publish boxes that differ from record to record: no model of classes, no weighted table
FREEFORM = ("doka-greedy", "doka-sort-greedy", "doka-hungarian")
# these release a sample, in an order of its own, by class sizes alone, and it may be empty
SAMPLING = {
    "safe-la": [
        {"n0": 40, "allow_large_delta": True},
        {"n0": 40, "allow_large_delta": True, "penalty": 20, "epsilon": 3, "choice": 1},
        {"n0": 40, "allow_large_delta": True, "published": True},
    ],
}
VARIANTS = {**TOGETHER, **PARTING, **LATTICE}
METHODS = [
    pytest.param(name, options, id=f"{name}-{'-'.join(map(str, options.values())) or 'default'}")
    for name, variants in VARIANTS.items()
    for options in variants
]
WHOLE = [  # equal records stay together
    m for m in METHODS if m.values[1].get("strict", True) and m.values[0] not in PARTING
]
MODELS = [
    KAnonymity(2),
    KAnonymity(7),
    LDiversity(2, "illness"),
    KAnonymity(3) & LDiversity(3, "illness"),
    EntropyLDiversity(1.8, "illness"),
    RecursiveLDiversity(2.5, 2, "illness"),
    LDiversity(2, "illness", count_missing=True),
    KAnonymity(2) & TCloseness(0.35, "illness"),
    AlphaKAnonymity(0.7, 3, "illness"),
    DeltaDisclosure(1.9, "illness"),
    BetaLikeness(1.5, "illness"),
    KAnonymity(2) & BetaLikeness(2, "illness", enhanced=False),
    Risk(0.3),
    AverageRisk(0.3),
]
POPULATION = [KMap(4), DeltaPresence(0, 0.5)]  # these compare with a table of everyone
COVERAGE = [
    FreeformAnonymity(2),
    FreeformAnonymity(7),
    KConcealment(3),
    KKAnonymity(3),
    OneKAnonymity(4),
    KOneAnonymity(4),
]
EVENTS = [KmAnonymity(2, 1), KmAnonymity(2, 2), KmAnonymity(3, 3)]  # of several rows of a person
# a lattice method's further options are tried on these alone
NASTIEST = ("people", "one odd row", "all missing", "odd texts", "all different")
# random cases of each method and its options: ten thousand in all in the deep profile
QUICK, DEEP = 30, math.ceil(10_000 / (len(METHODS) + len(FREEFORM)))


def lined_up(release):
    """Return the published row of each row, None where it is suppressed."""
    rows = iter(release.to_arrow().to_pylist())
    if release.suppressed is None:
        return list(rows)
    return [None if out else next(rows) for out in release.suppressed.tolist()]


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_every_release_keeps_its_model_or_says_that_it_cannot(method, options):
    further = method in LATTICE and options != VARIANTS[method][0]
    for name, model in product(NASTIEST if further else NASTY, MODELS):
        with told(name, model):
            keeps_or_says(NASTY[name], model, method, options, many=name == "many columns")


def keeps_or_says(table, model, method, options, *, many):
    """Hold a method to one model on one table; many: there are more nodes than can be measured."""
    if many and method == "flash":
        options = {**options, "time_limit": 0.05}
    elif many and method in LATTICE and method != "datafly":
        with pytest.raises(shoal.InputError, match="nodes"):
            shoal.anonymize(table, model, method, **options)
        return
    try:
        release = shoal.anonymize(table, model, method, **options)
    except (shoal.Infeasible, shoal.InputError):
        assert not is_possible(table, model)
        return
    judge(table, model, release, whole=method in LATTICE)


def hold_to(case, models, request, record_property, drawn=None):
    """Run a case on as many tables and models as are asked; it tells what became of them."""
    became = Counter()

    @examples(QUICK, deep=DEEP)
    @given(table=tables() if drawn is None else drawn, model=st.sampled_from(models))
    def run(table, model):
        became[case(table, model)] += 1

    if not is_deep():  # other tables for each method, the same ones each time
        run = seed(crc32(request.node.name.encode()))(run)
    run()
    assert became.total() >= (DEEP if is_deep() else QUICK)
    assert became["released"] > became.total() / 5
    for outcome, cases in became.items():
        record_property(outcome, cases)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "options"), METHODS)
def test_random_tables_are_released_safely_or_not_at_all(method, options, request, record_property):
    def case(table, model):
        try:
            release = shoal.anonymize(table, model, method, **options)
        except (shoal.Infeasible, shoal.InputError):
            assert not is_possible(table, model)
            return "refused"
        # people with rows in several classes may break a model that each of these keeps
        split = table.unit is not None and not model.monotone_on(table)
        assert is_possible(table, model) or release.suppressed is not None or split
        judge(table, model, release, whole=method in LATTICE)
        return "released"

    hold_to(case, MODELS, request, record_property)


def keeps_events_or_says(table, model, method, options, share):
    """Hold a method to a model of combinations of rows; return whether it releases the table."""
    try:
        release = shoal.anonymize(table, model, method, max_left_out=share, **options)
    except shoal.Infeasible:
        assert not can_leave_out(table, model, share)
        return False
    except shoal.InputError:
        assert table.household is not None or fewest(table) < model.k
        return False
    if table.unit is None:
        judge(table, model, release, whole=method in LATTICE)
    else:
        assert can_leave_out(table, model, share)
        judge(table, model, release, left_out=share)
    return True


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_any_m_rows_fit_k_people_or_the_method_says_that_they_cannot(method, options):
    names = ("visits", "visits alike", "few come again", "linked homes")
    for name, model in product(names, EVENTS):
        with told(name, model):
            keeps_events_or_says(NASTY[name], model, method, options, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "options"), METHODS)
def test_any_m_rows_of_random_people_fit_k_people(method, options, request, record_property):
    draw = np.random.default_rng(0)

    def case(table, model):
        share = draw.choice([0.0, 0.05, 0.4, 1.0])
        kept = keeps_events_or_says(table, model, method, options, share)
        return "released" if kept else "refused"

    hold_to(case, EVENTS, request, record_property, visits())


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_the_order_of_rows_does_not_matter(method, options):
    table = people(80, seed=3)
    order = np.random.default_rng(0).permutation(80)
    straight = shoal.anonymize(table, KAnonymity(4), method, **options)
    mixed = shoal.anonymize(table.take(order), KAnonymity(4), method, **options)

    def cells(release):
        return Counter(
            tuple(r.values()) for r in release.to_arrow().select(table.quasi).to_pylist()
        )

    assert cells(mixed) == cells(straight)
    if options.get("strict", True) and method not in PARTING:  # each row is found again
        rows = lined_up(straight)
        assert lined_up(mixed) == [rows[i] for i in order]


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_the_same_input_gives_the_same_release(method, options):
    table = people(120, seed=5)
    once, again = (
        shoal.anonymize(table, KAnonymity(3) & LDiversity(2, "illness"), method, seed=1, **options)
        for _ in range(2)
    )
    assert once.to_arrow().equals(again.to_arrow())


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_a_table_of_one_row_is_refused(method, options):
    with pytest.raises(shoal.InputError, match="1 person"):
        shoal.anonymize(people(1), KAnonymity(2), method, **options)


@pytest.mark.parametrize(("method", "options"), WHOLE)
def test_a_weighted_table_is_released_as_the_table_it_stands_for(method, options):
    table = people(90, seed=9)
    light = table.distinct("illness", "note").table
    heavy = Table(light.columns, light.counts * 3)
    expanded = heavy.take(np.repeat(np.arange(len(heavy)), heavy.counts))
    expanded = Table(expanded.columns)
    for model in (KAnonymity(3), KAnonymity(5) & LDiversity(2, "illness")):
        with told(model):
            short, full = (shoal.anonymize(t, model, method, **options) for t in (heavy, expanded))
            assert short.to_arrow().equals(full.to_arrow())
            assert shoal.metrics.evaluate(short) == pytest.approx(shoal.metrics.evaluate(full))


@pytest.mark.parametrize("method", FREEFORM)
def test_every_freeform_release_keeps_its_model(method):
    for name, model in product(NASTY, COVERAGE):
        with told(name, model):
            if fewest(NASTY[name]) < model.k:
                with pytest.raises(shoal.InputError, match=f"k is {model.k}"):
                    shoal.anonymize(NASTY[name], model, method)
                continue
            judge(NASTY[name], model, shoal.anonymize(NASTY[name], model, method))


@pytest.mark.slow
@pytest.mark.parametrize("method", FREEFORM)
def test_random_tables_are_released_by_freeform_boxes_or_not_at_all(
    method, request, record_property
):
    def case(table, model):
        if fewest(table) < model.k:
            with pytest.raises(shoal.InputError, match=f"k is {model.k}"):
                shoal.anonymize(table, model, method)
            return "refused"
        judge(table, model, shoal.anonymize(table, model, method))
        return "released"

    hold_to(case, COVERAGE, request, record_property)


@pytest.mark.parametrize("method", FREEFORM)
def test_the_order_of_rows_does_not_matter_to_freeform_boxes(method):
    table = people(80, seed=3)
    order = np.random.default_rng(0).permutation(80)
    straight, mixed = (
        shoal.anonymize(t, FreeformAnonymity(4), method).to_arrow().select(table.quasi).to_pylist()
        for t in (table, table.take(order))
    )
    assert Counter(map(tuple, map(dict.values, mixed))) == Counter(
        map(tuple, map(dict.values, straight))
    )


@pytest.mark.parametrize("method", [name for name in VARIANTS if name != "auto"])
def test_groups_keep_a_model_of_coverage_by_their_size(method):
    table, options = people(80, seed=3), VARIANTS[method][0]
    for model in COVERAGE:
        if model.k < 7:
            with told(model):
                release = shoal.anonymize(table, model, method, **options)
                alike = shoal.anonymize(table, KAnonymity(model.k), method, **options)
                assert release.to_arrow().equals(alike.to_arrow())
                assert release.verify().levels[str(model)] >= model.k


def fewest(table):
    """Return the number of people, or of households if that is less."""
    return min(table.people, table.people if table.household is None else table.household.count)


def judge_sample(table, k, release):
    """Let the oracle count who is alike in all that is published; what it says is the door's."""
    rows = release.to_arrow().to_pylist()
    published = [column.name for column in table if column.role != "identifier"]
    assert release.to_arrow().column_names == published
    assert all(len(members) >= k for members in oracle.classes(rows, published))
    assert len(rows) <= table.records
    assert release.claims


@pytest.mark.parametrize(
    ("method", "options"), [(name, each) for name, some in SAMPLING.items() for each in some]
)
def test_every_sample_is_in_classes_of_its_size(method, options):
    tables = [name for name in NASTY if name != "many columns"]
    for name, k, number in product(tables, (2, 7), range(3)):
        with told(name, k, number):
            table = ready_for(method, NASTY[name])
            release = shoal.anonymize(table, KAnonymity(k), method, seed=number, **options)
            judge_sample(NASTY[name], k, release)


@pytest.mark.slow
@pytest.mark.parametrize("method", SAMPLING)
def test_random_tables_are_sampled_safely(method, request, record_property):
    def case(table, model):
        ready = ready_for(method, table)
        release = shoal.anonymize(ready, model, method, seed=3, **SAMPLING[method][1])
        judge_sample(table, model.least_size, release)
        return "released" if release.to_arrow().num_rows else "empty"

    hold_to(case, [KAnonymity(2), KAnonymity(3)], request, record_property)


@dataclass(frozen=True)
class Liar:
    """Claims any model and changes nothing."""

    name: ClassVar[str] = "liar"

    def search(self, table, model):
        recodings = {c.name: shoal.Recoding.identity(c) for c in table.quasi_columns}
        return Release(table, recodings, model)


@dataclass(frozen=True)
class RowCounter:
    """Takes every row for a person of their own."""

    name: ClassVar[str] = "row-counter"

    def search(self, table, model):
        alone = replace(table, person=None, household=None)
        return replace(shoal.anonymize(alone, model, "mondrian"), original=table)


@dataclass(frozen=True)
class Forgetter:
    """Releases the table as one that does not say who the people are."""

    name: ClassVar[str] = "forgetter"

    def search(self, table, model):
        return shoal.anonymize(replace(table, person=None), model, "mondrian")


@dataclass(frozen=True)
class Forger:
    """Publishes one value for everybody, which most people do not have."""

    name: ClassVar[str] = "forger"

    def search(self, table, model):
        recodings = {}
        for column in table.quasi_columns:
            same = shoal.Recoding.identity(column)
            recodings[column.name] = replace(same, codes=np.zeros(len(table), np.int32))
        return Release(table, recodings, model)


@dataclass(frozen=True)
class Shirker:
    """Keeps a lesser model than it was asked for."""

    name: ClassVar[str] = "shirker"

    def search(self, table, model):
        return shoal.anonymize(table, KAnonymity(2), "mondrian")


@dataclass(frozen=True)
class Renamer:
    """Calls a quasi-identifier insensitive, so that nobody counts by it."""

    name: ClassVar[str] = "renamer"

    def search(self, table, model):
        passed = replace(table["age"], role="insensitive")
        return shoal.anonymize(table.with_column(passed), model, "mondrian")


class Swapper:
    """Releases as many rows, of other people."""

    name: ClassVar[str] = "swapper"

    def search(self, table, model):
        ages = table["age"]
        others = replace(ages, codes=np.roll(ages.codes, 1))
        return shoal.anonymize(table.with_column(others), model, "mondrian")


@pytest.mark.parametrize("model", [KAnonymity(2), *COVERAGE], ids=str)
def test_the_door_does_not_let_a_lying_algorithm_through(model):
    with pytest.raises(shoal.NotAnonymous, match=f"liar broke {re.escape(str(model))}"):
        shoal.anonymize(people(), model, Liar())


def test_the_door_counts_people_whatever_an_algorithm_counts():
    visits = NASTY["visits alike"]
    with pytest.raises(shoal.NotAnonymous, match="row-counter broke"):
        shoal.anonymize(visits, KAnonymity(5), RowCounter())
    with pytest.raises(shoal.NotAnonymous, match="forgetter released another table"):
        shoal.anonymize(visits, KAnonymity(5), Forgetter())


def test_the_door_does_not_let_a_forged_value_through():
    with pytest.raises(shoal.NotAnonymous, match="does not cover the original"):
        shoal.anonymize(people(), KAnonymity(2), Forger())


def test_the_door_asks_for_what_was_asked_of_the_table_that_was_given():
    with pytest.raises(shoal.NotAnonymous, match=r"shirker broke k-anonymity\(k=5\)"):
        shoal.anonymize(people(), KAnonymity(5), Shirker())
    for table in (people(), replace(people(), counts=np.full(60, 2))):
        with pytest.raises(shoal.NotAnonymous, match="renamer released another table"):
            shoal.anonymize(table, KAnonymity(2), Renamer())
    with pytest.raises(shoal.NotAnonymous, match="swapper released another table"):
        shoal.anonymize(people(), KAnonymity(2), Swapper())


def test_a_release_that_lies_is_not_written(tmp_path):
    release = Liar().search(people(), KAnonymity(2))
    with pytest.raises(shoal.NotAnonymous, match="nothing was written"):
        release.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_every_method_is_under_contract():
    assert {*VARIANTS, *FREEFORM, *SAMPLING} == set(shoal.METHODS)


def test_every_model_is_under_contract():
    asked = [*MODELS, *COVERAGE, *POPULATION, *EVENTS]
    assert {part.name for model in asked for part in model.parts} == set(shoal.MODELS)


# the boxes of these may overlap, so they may fail to hide who is in the release
OVERLAPPING = {*PARTING, "mondrian"}


@pytest.mark.parametrize("method", [name for name in VARIANTS if name != "auto"])
def test_a_population_protects_or_the_method_says_that_it_cannot(method):
    """The population is everyone three times, so two of three people are never released."""
    names = ("people", "one odd row", "all different", "visits alike")
    for name, model in product(names, POPULATION):
        table = NASTY[name]
        own = replace(table, person=None, household=None)
        everyone = own.take(np.tile(np.arange(len(own)), 3))
        rows = everyone.to_arrow().to_pylist()
        with told(name, model):
            options = VARIANTS[method][0]
            try:
                release = shoal.anonymize(table, model, method, population=everyone, **options)
            except shoal.Infeasible:
                assert isinstance(model, DeltaPresence)
                assert method in OVERLAPPING
                continue
            judge(table, model, release, whole=method in LATTICE, population=rows)


@pytest.mark.parametrize("name", ["people", "visits alike", "visits", "homes", "linked homes"])
@pytest.mark.parametrize("method", ["mondrian", "flash", "greedy"])
def test_people_of_a_population_count_once_however_often_they_are_listed(method, name):
    """Everyone and two others with the same rows, each listed three times."""
    table = NASTY[name]
    everyone = listed(table, copies=3, times=3)
    rows = everyone.to_arrow().to_pylist()
    for key, unit in zip(oracle.UNITS, (everyone.person, everyone.household), strict=True):
        if unit is not None:
            rows = [{**row, key: who} for row, who in zip(rows, unit.ids.tolist(), strict=True)]
    for model in POPULATION:
        with told(model):
            options = VARIANTS[method][0]
            try:
                release = shoal.anonymize(table, model, method, population=everyone, **options)
            except shoal.Infeasible:
                assert isinstance(model, DeltaPresence)
                continue
            judge(table, model, release, whole=method in LATTICE, population=rows)


def listed(table, copies, times):
    """Return a population: the people of a table and copies of them, each listed several times."""
    place = np.tile(np.arange(len(table)), copies * times)
    copy = np.repeat(np.arange(copies * times) // times, len(table))
    ids = [None if unit is None else unit.ids for unit in (table.person, table.household)]
    ids[0] = np.arange(len(table)) if ids[0] is None else ids[0]
    named = [None if own is None else copy * (own.max() + 1) + own[place] for own in ids]
    return about(replace(table, person=None, household=None).take(place), *named)
