"""Maximum and average risk, k-map and delta-presence, as models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle
from tests.examples import examples

import shoal
from shoal import (
    AverageRisk,
    Classes,
    DeltaPresence,
    KAnonymity,
    KMap,
    LDiversity,
    Release,
    Risk,
    Table,
)
from shoal.privacy import parse


def table(ages, person=None, weight=None, **more):
    data = {"age": ages, **more}
    roles = dict.fromkeys(data, "quasi")
    if weight is not None:
        data["w"], roles["w"] = weight, "weight"
    if person is not None:
        data["who"] = person
    return Table.from_arrow(pa.table(data), roles, person="who" if person is not None else ())


@pytest.mark.parametrize(("maximum", "k"), [(0.09, 12), (0.2, 5), (1 / 3, 3), (0.5, 2), (0.6, 2)])
def test_a_maximum_risk_is_a_size_of_classes(maximum, k):
    assert Risk(maximum).k == k
    assert (Risk(maximum) & LDiversity(2, "x")).least_size == k
    ages = table([30] * k + [40] * (k - 1))
    assert Risk(maximum).holds(Classes.by_quasi(ages)).tolist() == [True, k - 1 > 1 / maximum]


def test_methods_reach_a_maximum_risk_as_they_reach_k():
    patients = shoal.datasets.patients(300, seed=1)
    for method in ("mondrian", "flash", "sorted"):
        risk = shoal.anonymize(patients, "risk(0.09)", method)
        size = shoal.anonymize(patients, KAnonymity(12), method)
        assert risk.to_arrow().equals(size.to_arrow())
        assert str(risk.model) == "risk(maximum=0.09, by=sample)"
        assert risk.verify().levels[str(risk.model)] <= 0.09


def test_a_person_with_most_rows_of_a_class_has_a_higher_risk():
    visits = table([30] * 10, person=[1] * 6 + [2, 3, 4, 5])
    assert KAnonymity(5).holds(Classes.by_quasi(visits)).all()
    assert Risk(0.2).level(Classes.by_quasi(visits)) == 0.6
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(visits, Risk(0.2))
    assert shoal.anonymize(visits, Risk(0.6)).verify()


@pytest.mark.parametrize("method", ["mondrian", "sorted", "greedy", "flash", "datafly"])
def test_methods_reach_a_maximum_risk_by_weights(method):
    random = np.random.default_rng(3)
    weighted = table(random.integers(20, 60, 200), weight=random.uniform(1, 30, 200))
    ages = weighted["age"].with_hierarchy({"intervals": [5, 10, 20]})
    weighted = weighted.with_column(ages)
    model = Risk(0.02, by="weights")
    release = shoal.anonymize(weighted, model, method)
    assert release.verify().levels[str(model)] <= 0.02
    assert shoal.risk.individual_risk(release).highest <= 0.02
    assert len(release.classes) > 1
    with pytest.raises(shoal.InputError, match="role weight"):
        shoal.anonymize(replace(weighted, weights=None), model, method)


def test_an_average_risk_allows_smaller_classes():
    ages = table([30] * 2 + [40] * 18)
    assert AverageRisk(0.1).level(Classes.by_quasi(ages)) == 0.1
    patients = shoal.datasets.patients(300, seed=1)
    average = shoal.anonymize(patients, AverageRisk(0.09))
    maximum = shoal.anonymize(patients, Risk(0.09))
    assert average.verify().levels[str(average.model)] <= 0.09
    assert average.verify().smallest < 12
    assert len(average.classes) > len(maximum.classes)


def test_a_sampling_method_takes_no_average():
    with pytest.raises(shoal.InputError, match="differential privacy"):
        shoal.anonymize(
            shoal.datasets.patients(100), AverageRisk(0.1), "safe-la", allow_large_delta=True
        )


def test_k_counts_the_sample_and_k_map_the_population():
    """Nobody else in the sample has the age, but two others in the population do."""
    sample, everyone = table([30, 31, 40]), table([30] * 3 + [31] * 3 + [40] * 3)
    release = shoal.anonymize(sample, KMap(3), population=everyone)
    assert release.verify().levels == {"k-map(k=3)": 9.0}  # classes have two people at least
    raw = Release(
        replace(sample, population=everyone),
        {"age": shoal.Recoding.identity(sample["age"])},
        KMap(3),
    )
    assert raw.verify().holds
    assert raw.verify().smallest == 1
    assert not replace(raw, model=KMap(4)).verify().holds


def test_a_population_must_be_stated_and_have_all_columns():
    ages = table([30, 31, 40, 41])
    with pytest.raises(shoal.InputError, match="needs a population"):
        shoal.anonymize(ages, KMap(2))
    with pytest.raises(shoal.InputError, match="no column 'age'"):
        shoal.anonymize(ages, KMap(2), population=Table.from_arrow(
            pa.table({"x": [1]}), {"x": "quasi"}
        ))  # fmt: skip
    with pytest.raises(shoal.InputError, match="compares the release with a population"):
        shoal.check(pa.table({"age": [1, 1]}), replace_check(KMap(2)), quasi="age")
    with pytest.raises(shoal.Infeasible, match="cannot be met"):
        shoal.anonymize(ages, KMap(5), population=table([30]))


def replace_check(model):
    """Return the model without its check of the table, to reach the check of the release."""
    object.__setattr__(model, "check", lambda table: None)
    return model


@st.composite
def populations(draw):
    values = st.tuples(st.integers(0, 4), st.integers(0, 2))
    everyone = draw(st.lists(values, min_size=6, max_size=24))
    size = draw(st.integers(4, len(everyone)))
    groups = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    return everyone, everyone[:size], groups


@examples(80, deep=2000)
@given(populations(), st.sampled_from([0.0, 0.2]), st.sampled_from([0.4, 0.7, 1.0]))
def test_fits_of_a_population_are_counted_as_by_hand(case, low, high):
    """Releases of any groups, whose boxes may overlap."""
    everyone, sample, groups = case
    both = [table([a for a, _ in rows], town=[b for _, b in rows]) for rows in (everyone, sample)]
    ids = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    original = replace(both[1], population=both[0])
    release = Release.of_groups(
        original, ids, int(ids.max()) + 1, KAnonymity(2), use_hierarchies=False
    )
    rows = release.to_arrow().to_pylist()
    population = both[0].to_arrow().to_pylist()
    known = [{**row, oracle.PERSON: i} for i, row in enumerate(rows)]
    classes = oracle.classes(known, original.quasi)
    for model in (KMap(2), KMap(5), KMap(9), DeltaPresence(low, high)):
        found = replace(release, model=model).verify()
        assert found.holds == oracle.keeps_release(model, classes, population, original.quasi, {})


@st.composite
def registers(draw):
    """A population whose people and households have several rows, some of which are released."""
    values = st.tuples(st.integers(0, 3), st.integers(0, 2))
    everyone = draw(st.lists(values, min_size=6, max_size=20))
    who, home = (
        draw(st.lists(st.integers(0, most), min_size=len(everyone), max_size=len(everyone)))
        for most in (9, 5)
    )
    rows = draw(st.lists(st.integers(0, len(everyone) - 1), min_size=4, max_size=10, unique=True))
    groups = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    units = draw(st.sampled_from([("who",), ("who", "home"), ("home",)]))
    ages, towns = zip(*everyone, strict=True)
    whole = {"age": ages, "town": towns, "who": who, "home": home}
    return whole, rows, groups, units


@examples(80, deep=2000)
@given(registers(), st.sampled_from([0.0, 0.2]), st.sampled_from([0.4, 0.7, 1.0]))
def test_people_and_households_of_a_population_count_once(case, low, high):
    whole, rows, groups, units = case
    named = {"person" if unit == "who" else "household": unit for unit in units}
    everybody = Table.from_arrow(pa.table(whole), {"age": "quasi", "town": "quasi"}, **named)
    ids = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    original = replace(everybody.take(np.array(rows)), population=everybody)
    release = Release.of_groups(
        original, ids, int(ids.max()) + 1, KAnonymity(2), use_hierarchies=False
    )
    keys = {unit: oracle.PERSON if unit == "who" else oracle.HOUSEHOLD for unit in units}
    population = [
        {key: whole[unit][place] for unit, key in keys.items()} | row
        for place, row in enumerate(everybody.to_arrow().to_pylist())
    ]
    published = release.to_arrow().to_pylist()
    known = [
        {key: population[place].get(key, ("row", place)) for key in oracle.UNITS} | row
        for place, row in zip(rows, published, strict=True)
    ]
    classes = oracle.classes(known, original.quasi)
    for model in (KMap(2), KMap(3), KMap(5), DeltaPresence(low, high)):
        found = replace(release, model=model).verify()
        assert found.holds == oracle.keeps_release(model, classes, population, original.quasi, {})


def listed_ten_times():
    """Twelve people of different ages, each listed ten times, and six of them."""
    numbers = [who for who in range(12) for _ in range(10)]
    columns = {"number": numbers, "home": [who // 2 for who in numbers]}
    everyone = pa.table({**columns, "age": [20 + who for who in numbers]})
    sample = pa.table({"number": range(6), "home": [0, 0, 1, 1, 2, 2], "age": range(20, 26)})
    return sample, everyone


@pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
def test_one_person_who_is_listed_ten_times_counts_once():
    sample, everyone = listed_ten_times()
    options = {"quasi": "age", "population": everyone, "person": "number"}
    release = shoal.anonymize(sample, KMap(3), **options)
    assert release.verify().levels == {"k-map(k=3)": 3.0}
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(sample, KMap(13), **options)
    presence = shoal.anonymize(sample, DeltaPresence(0, 1), **options)
    assert presence.verify().levels == {"delta-presence(low=0, high=1)": 1.0}
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(sample, DeltaPresence(0, 0.4), **options)


@pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
def test_a_table_with_a_person_gives_it_to_its_population():
    sample, everyone = listed_ten_times()
    table = Table.from_arrow(sample, {"age": "quasi"}, person="number")
    release = shoal.anonymize(table, KMap(3), population=everyone)
    assert release.verify().levels == {"k-map(k=3)": 3.0}
    ages = everyone.select(["age"])  # nothing says whose rows these are
    assert shoal.anonymize(table, KMap(3), population=ages).verify().levels["k-map(k=3)"] >= 20


def test_households_of_a_population_are_counted_if_those_of_the_table_are():
    sample, everyone = listed_ten_times()
    options = {"quasi": "age", "person": "number", "household": "home"}
    release = shoal.anonymize(sample, KMap(3), population=everyone, **options)
    assert release.verify().levels == {"k-map(k=3)": 6.0}  # 12 people
    with pytest.raises(shoal.Infeasible):  # 6 people
        shoal.anonymize(sample, KMap(4), population=everyone.slice(0, 60), **options)
    unnamed = everyone.drop_columns(["home"])
    with pytest.raises(shoal.InputError, match="does not name them; add the columns home"):
        shoal.anonymize(sample, KMap(3), population=unnamed, **options)


@pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
def test_an_identifier_that_repeats_in_the_population_is_refused_as_in_the_table():
    sample, everyone = listed_ten_times()
    options = {"quasi": "age", "population": everyone}
    message = "population: column 'number' has 12 distinct values in 120 rows.*person='number'"
    with pytest.raises(shoal.errors.RepeatedIdentifier, match=message):
        shoal.anonymize(sample, KMap(3), identifier="number", **options)
    patients = (data.rename_columns(["patient_id", "home", "age"]) for data in (sample, everyone))
    own, others = patients
    with pytest.raises(shoal.errors.RepeatedIdentifier, match="population: column 'patient_id'"):
        shoal.anonymize(own, KMap(3), quasi="age", population=others)
    stated = shoal.anonymize(sample, KMap(3), rows_are_people=True, identifier="number", **options)
    assert stated.verify().levels == {"k-map(k=3)": 20.0}


def test_a_person_of_two_columns_needs_both_in_the_population():
    sample, everyone = listed_ten_times()
    options = {"quasi": "age", "person": ["number", "home"]}
    with pytest.raises(shoal.InputError, match="population: has no column 'home'; number, home"):
        shoal.anonymize(sample, KMap(3), population=everyone.drop_columns(["home"]), **options)


@pytest.mark.parametrize(("mark", "other"), [("*", 2), ("{a, b}", 2), ("a|b", 2), ("c", 0)])
def test_a_value_that_reads_as_a_published_form_counts_in_every_reading(mark, other):
    """The file does not show that the text is a value and not a hidden or listed one."""
    everyone = Table.from_arrow(pa.table({"x": ["a", "b", mark] * 4}), {"x": "quasi"})
    sample = replace(everyone.take(np.arange(6)), population=everyone)
    release = shoal.anonymize(sample, KAnonymity(2), "flash")
    assert release.to_arrow()["x"].to_pylist() == ["a", "b", mark] * 2
    presence = replace(release, model=DeltaPresence(0, 1)).verify()
    assert presence.levels["delta-presence(low=0, high=1)"] == pytest.approx(2 / 4 + other / 12)
    assert replace(release, model=KMap(2)).verify().levels["k-map(k=2)"] == 4


def test_models_are_written_and_read_as_text():
    for text in ("risk(maximum=0.09, by=weights)", "average-risk(maximum=0.1)", "k-map(k=5)"):
        assert str(parse(text)) == text
    assert parse("delta-presence(0, .5)") == DeltaPresence(0, 0.5)
    for wrong in ("risk(0)", "risk(1)", "average-risk(2)", "k-map(1)", "delta-presence(0.6, 0.5)"):
        with pytest.raises(shoal.InputError):
            parse(wrong)
    with pytest.raises(shoal.InputError, match="sample, weights"):
        Risk(0.1, by="heart")


def test_linked_rows_are_not_compared_one_by_one_with_a_population():
    """A pseudonym shows that two rows are of one person, who may be the only one to fit both."""
    data = pa.table({"who": [1, 1, 2, 2, 3, 3], "age": [30, 40, 31, 41, 32, 42]})
    visits = Table.from_arrow(data, {"age": "quasi"}, person="who")
    everyone = pa.table({"age": [*range(20, 60)] * 3})
    released = shoal.anonymize(visits, KMap(3), population=everyone)
    assert released.verify().holds
    options = {"population": everyone, "replace": {"who": "pseudonym"}, "domain": "study"}
    with pytest.raises(shoal.InputError, match="links the rows"):
        shoal.anonymize(visits, KMap(3), key=shoal.identifiers.Key.new(), **options)
