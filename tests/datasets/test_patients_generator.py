"""The generated hospital: same seed, same patients, and none of them impossible."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shoal.datasets import _vocabulary, hospital
from shoal.datasets.hospital import DIAGNOSES, SCHEMA, generate
from shoal.errors import InputError

ROWS = 60_000
PROSTATE = {"Prostate cancer", "Enlarged prostate"}


@pytest.fixture(scope="module")
def patients():
    return pa.concat_tables(generate(ROWS, seed=7))


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(hospital, "CHUNK", 40)


def leaves(tree):
    if isinstance(tree, list):
        return tree
    return [leaf for below in tree.values() for leaf in leaves(below)]


def ages(patients):
    """Count birthdays the slow way; a missing birth date has no age."""
    return [
        None
        if born is None
        else day.year - born.year - ((day.month, day.day) < (born.month, born.day))
        for born, day in zip(
            patients["birth_date"].to_pylist(), patients["admission_date"].to_pylist(), strict=True
        )
    ]


def who(patients, diagnoses):
    """Return (age, sex) of the patients with one of these diagnoses."""
    rows = zip(
        patients["diagnosis"].to_pylist(), ages(patients), patients["sex"].to_pylist(), strict=True
    )
    return [(age, sex) for diagnosis, age, sex in rows if diagnosis in diagnoses]


def test_same_rows_and_seed_give_the_same_table(small_chunks):
    assert list(generate(100, seed=3)) == list(generate(100, seed=3))


def test_another_seed_gives_other_patients_under_other_numbers():
    (one,), (other,) = generate(200, seed=1), generate(200, seed=2)
    for column in one.column_names:
        assert one[column] != other[column], column


@pytest.mark.parametrize(
    ("rows", "sizes"), [(0, [0]), (1, [1]), (40, [40]), (41, [40, 1]), (100, [40, 40, 20])]
)
def test_chunks_are_bounded_and_add_up(small_chunks, rows, sizes):
    assert [len(chunk) for chunk in generate(rows)] == sizes


def test_chunks_differ_from_each_other(small_chunks):
    first, second = generate(80)
    assert first.drop_columns("patient_id") != second.drop_columns("patient_id")


def test_tables_of_one_seed_share_their_full_chunks_only(small_chunks):
    short, long = list(generate(60)), list(generate(80))
    assert short[0] == long[0]
    assert short[1]["patient_id"] == long[1]["patient_id"].slice(0, 20)
    assert short[1] != long[1].slice(0, 20)


def test_chunks_are_made_one_at_a_time():
    most = generate(hospital.MOST_ROWS)
    assert len(next(most)) == hospital.CHUNK


@pytest.mark.parametrize(("rows", "seed"), [(-1, 0), (100_000_001, 0), (10, -1)])
def test_impossible_options_are_refused_before_the_first_chunk(rows, seed):
    with pytest.raises(InputError, match="must be"):
        generate(rows, seed)


def test_columns_have_the_schemas_order_and_the_stated_types(patients):
    string, day = pa.string(), pa.date32()
    types = [string, string, day, string, string, string, string, day, string]
    assert patients.column_names == list(SCHEMA["columns"])
    assert patients.schema.types == [*types, pa.decimal128(10, 2)]


def test_an_empty_table_still_has_its_columns(patients):
    assert next(generate(0)).schema == patients.schema


def test_patient_numbers_are_unique_across_chunks_and_scrambled(small_chunks):
    numbers = pa.concat_tables(generate(1000))["patient_id"].to_pylist()
    assert len(set(numbers)) == 1000
    assert all(len(number) == 9 and number[0] == "P" for number in numbers)
    gaps = np.diff([int(number[1:]) for number in numbers])
    assert len(set(gaps.tolist())) > 900  # no counting, no fixed step
    assert 400 < (gaps > 0).sum() < 600


def test_patient_numbers_far_apart_never_meet():
    parts = [hospital._patient_numbers(start, 10_000, 5) for start in range(0, 10**8, 10**7)]
    numbers = pa.concat_arrays(parts)
    assert pc.count_distinct(numbers).as_py() == len(numbers) == 100_000


def test_postcodes_keep_their_leading_zeros_and_crowd_in_few(patients):
    counts = patients["postcode"].drop_null().value_counts()
    codes = {entry["values"].as_py(): entry["counts"].as_py() for entry in counts}
    assert all(len(code) == 5 and code.isdigit() for code in codes)
    assert any(code.startswith("0") for code in codes)
    assert 900 < len(codes) < 1100
    assert len({code[:2] for code in codes}) == 24
    assert sum(sorted(codes.values())[-100:]) > 0.3 * ROWS  # a tenth of the postcodes


def test_pregnancy_is_for_women_from_16_to_48(patients):
    found = who(patients, set(DIAGNOSES["Pregnancy and childbirth"]))
    assert len(found) > 1000
    assert {sex for _, sex in found} == {"female"}
    assert {age for age, _ in found if age is not None} <= set(range(16, 49))


def test_prostates_trouble_men_from_50(patients):
    found = who(patients, PROSTATE)
    assert len(found) > 300
    assert {sex for _, sex in found} == {"male"}
    assert min(age for age, _ in found if age is not None) >= 50


@pytest.mark.parametrize(
    ("diagnosis", "youngest", "oldest"),
    [
        ("Premature birth", 0, 0),
        ("Chickenpox", 0, 18),
        ("Dementia", 55, 105),
        ("Heart failure", 55, 105),
    ],
)
def test_diagnoses_keep_to_their_ages(patients, diagnosis, youngest, oldest):
    found = [age for age, _ in who(patients, {diagnosis}) if age is not None]
    assert len(found) > 100
    assert youngest <= min(found) <= max(found) <= oldest


@pytest.mark.parametrize("injury", ["Broken arm or leg", "Concussion", "Torn ligament"])
def test_young_men_are_injured_more_often_than_young_women(patients, injury):
    sexes = [sex for age, sex in who(patients, {injury}) if age is not None and 15 <= age < 30]
    assert sexes.count("male") > 1.2 * sexes.count("female")


@pytest.mark.parametrize(
    ("born", "admitted", "age"),
    [
        ("2024-05-10", "2024-05-10", 0),
        ("1974-05-10", "2024-05-09", 49),  # the day before the birthday
        ("1974-05-10", "2024-05-10", 50),
        ("1974-05-10", "2024-12-01", 50),  # a later month, an earlier day
        ("2000-02-29", "2023-02-28", 22),
        ("2000-02-29", "2023-03-01", 23),
    ],
)
def test_age_counts_birthdays(born, admitted, age):
    days = np.array([born, admitted], dtype="M8[D]")
    assert hospital._age(days[:1], days[1:]).tolist() == [age]


def test_children_learn_and_the_old_have_retired(patients):
    pairs = list(zip(ages(patients), patients["occupation"].to_pylist(), strict=True))
    children = {work for age, work in pairs if age is not None and age < 15 and work}
    old = [work for age, work in pairs if age is not None and age > 67 and work]
    assert children == {"Preschool child", "Pupil"}
    assert 0.85 < old.count("Retired") / len(old) < 1


def test_ethnicity_varies_with_the_region(patients):
    def largest(prefix):
        there = patients.filter(pc.starts_with(patients["postcode"], prefix))["ethnicity"]
        return pc.mean(pc.equal(there, "Northern European").cast(pa.float64())).as_py()

    assert largest("04") > largest("10") + 0.2  # countryside, capital


def test_admissions_fill_two_years_and_peak_in_winter_and_on_mondays(patients):
    days = patients["admission_date"]
    assert str(pc.min(days)) == "2023-01-01"
    assert str(pc.max(days)) == "2024-12-31"
    months = np.bincount(pc.month(days).to_numpy())
    weekdays = np.bincount(pc.day_of_week(days).to_numpy())  # Monday is 0
    assert months[1] > 1.2 * months[7]
    assert weekdays.argmax() == 0
    assert weekdays[5:].max() < weekdays[:5].min()


def test_birth_never_follows_admission(patients):
    assert pc.all(pc.less_equal(patients["birth_date"], patients["admission_date"])).as_py()


def test_costs_are_positive_and_skewed_to_the_right(patients):
    costs = patients["cost"].to_pylist()
    assert min(costs) > Decimal("50.00")
    assert sum(costs) / ROWS > 1.15 * float(sorted(costs)[ROWS // 2])


def test_a_typical_premature_birth_costs_its_listed_median(patients):
    premature = patients.filter(pc.equal(patients["diagnosis"], "Premature birth"))["cost"]
    middle = sorted(premature.to_pylist())[len(premature) // 2]
    assert 16_000 < middle < 21_000


@pytest.mark.parametrize("column", list(SCHEMA["columns"]))
def test_missing_cells_are_as_rare_as_stated(patients, column):
    shares = {"birth_date": 0.005, "postcode": 0.003, "ethnicity": 0.01, "occupation": 0.02}
    expected = shares.get(column, 0) * ROWS
    assert abs(patients[column].null_count - expected) <= 5 * expected**0.5


@pytest.mark.parametrize("column", ["ethnicity", "occupation", "diagnosis"])
def test_a_tree_covers_its_column_and_holds_each_value_once(patients, column):
    words = leaves(SCHEMA["columns"][column]["hierarchy"]["tree"])
    assert len(set(words)) == len(words)
    assert set(patients[column].drop_null().unique().to_pylist()) == set(words)


def test_a_few_patients_are_neither_female_nor_male(patients):
    sexes = patients["sex"].to_pylist()
    assert set(sexes) == {"female", "male", "other"}
    assert 0.002 < sexes.count("other") / ROWS < 0.006


def test_first_names_go_with_the_sex(patients):
    first = [name.split()[0] for name in patients["name"].to_pylist()]
    pairs = set(zip(first, patients["sex"].to_pylist(), strict=True))
    by_sex = {sex: {name for name, other in pairs if other == sex} for sex in ("female", "male")}
    assert by_sex["female"] == set(_vocabulary.FEMALE_NAMES.split())
    assert by_sex["male"] == set(_vocabulary.MALE_NAMES.split())
