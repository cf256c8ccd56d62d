"""Patients: the admissions of a fictional hospital, any number of rows, in memory or in a file.

The diagnosis depends on age and sex, ethnicity and occupation on the postcode; some cells are
missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml
from numpy.typing import NDArray

from shoal.datasets import _vocabulary as vocabulary
from shoal.errors import InputError
from shoal.files.writing import check_ending, open_writer
from shoal.support.arrays import Counts, Floats
from shoal.support.files import check_writable, replace_file
from shoal.support.progress import report

Tree: TypeAlias = "dict[str, Tree] | list[str]"
Dates = NDArray[np.datetime64]

CHUNK = 250_000
MOST_ROWS = 100_000_000  # one for each patient number of eight digits
FIRST_DAY, LAST_DAY = np.datetime64("2023-01-01"), np.datetime64("2024-12-31")
MISSING = {"birth_date": 0.005, "postcode": 0.003, "ethnicity": 0.01, "occupation": 0.02}

DIAGNOSES: dict[str, Tree] = {
    chapter: [each.name for each in members] for chapter, members in vocabulary.CHAPTERS.items()
}
ETHNICITIES: dict[str, Tree] = {group: list(e) for group, e in vocabulary.ETHNICITIES.items()}
OCCUPATIONS: dict[str, Tree] = {
    "Employed": {
        sector: [each.name for each in members] for sector, members in vocabulary.EMPLOYED.items()
    },
    "Learning": [each.name for each in vocabulary.LEARNING],
    "At home": [each.name for each in vocabulary.AT_HOME],
}
SCHEMA: dict[str, dict[str, dict[str, Any]]] = {
    "columns": {
        "patient_id": {"role": "identifier"},
        "name": {"role": "identifier"},
        "birth_date": {
            "role": "quasi",
            "kind": "numeric",
            "hierarchy": {"dates": ["month", "year", "decade"]},
        },
        "sex": {"role": "quasi", "kind": "nominal"},
        "postcode": {"role": "quasi", "kind": "nominal", "hierarchy": {"mask": {"length": 5}}},
        "ethnicity": {"role": "quasi", "kind": "nominal", "hierarchy": {"tree": ETHNICITIES}},
        "occupation": {"role": "quasi", "kind": "nominal", "hierarchy": {"tree": OCCUPATIONS}},
        "admission_date": {
            "role": "quasi",
            "kind": "numeric",
            "hierarchy": {"dates": ["month", "year", "decade"]},
        },
        "diagnosis": {"role": "sensitive", "kind": "nominal", "hierarchy": {"tree": DIAGNOSES}},
        "cost": {"role": "insensitive"},
    }
}


def generate(rows: int, seed: int = 0) -> Iterator[pa.Table]:
    """Yield the table in chunks of at most CHUNK rows; only one chunk is in memory at a time.

    The same rows and seed give the same table. Tables with the same seed share their full chunks
    and, by position, their patient numbers. The last, shorter chunk is drawn for its own length,
    so a short table is not the beginning of a longer one. With 0 rows there is one empty chunk that
    holds the columns.
    """
    if not 0 <= rows <= MOST_ROWS:
        raise InputError(f"rows must be from 0 to {MOST_ROWS}, not {rows}")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, not {seed}")
    size = CHUNK
    starts = range(0, max(rows, 1), size)
    return (_chunk(start, min(size, rows - start), seed, i) for i, start in enumerate(starts))


def _chunk(start: int, rows: int, seed: int, index: int) -> pa.Table:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))
    hospital = _hospital()
    admitted = FIRST_DAY + hospital.day.draw(rng, rows)
    born = admitted - _days_lived(rng, hospital.age.draw(rng, rows))
    age = _age(born, admitted)
    sex = hospital.sex.draw(rng, rows, age)
    home = hospital.postcode.draw(rng, rows)
    ethnicity = hospital.ethnicity.draw(rng, rows, home)
    occupation = hospital.occupation.draw(rng, rows, age, sex, hospital.rural[home])
    winter = np.isin(admitted.astype("M8[M]").astype(np.int64) % 12, (11, 0, 1)).astype(np.int64)
    diagnosis = hospital.diagnosis.draw(rng, rows, age, sex, winter)
    names = (
        hospital.first_names.take(pa.array(hospital.first_name.draw(rng, rows, sex))),
        hospital.surnames.take(pa.array(hospital.surname.draw(rng, rows))),
    )

    def some(values: NDArray[Any], column: str) -> pa.Array:
        return pa.array(values, mask=rng.random(rows, dtype=np.float32) < MISSING[column])

    return pa.table(
        {
            "patient_id": _patient_numbers(start, rows, seed),
            "name": pc.binary_join_element_wise(*names, " "),
            "birth_date": some(born, "birth_date"),
            "sex": pa.array(vocabulary.SEXES).take(pa.array(sex)),
            "postcode": hospital.postcodes.take(some(home, "postcode")),
            "ethnicity": hospital.ethnicities.take(some(ethnicity, "ethnicity")),
            "occupation": hospital.occupations.take(some(occupation, "occupation")),
            "admission_date": pa.array(admitted),
            "diagnosis": hospital.diagnoses.take(pa.array(diagnosis)),
            "cost": _cost(rng, hospital.costs[diagnosis], age),
        }
    )


def _days_lived(rng: np.random.Generator, age: Counts) -> Counts:
    share = rng.random(len(age))
    share[age == 0] **= 3  # most infants come in their first weeks
    return ((age + share) * 365.2425).astype(np.int64)


def _age(born: Dates, admitted: Dates) -> Counts:
    """Return ages in whole calendar years, the unit of the age limits of a diagnosis."""
    months = (admitted.astype("M8[M]") - born.astype("M8[M]")).astype(np.int64)
    before = admitted - admitted.astype("M8[M]") < born - born.astype("M8[M]")
    years: Counts = (months - before) // 12
    return years


def _patient_numbers(start: int, rows: int, seed: int) -> pa.StringArray:
    """Scramble positions into numbers, one to one: a Feistel network over two halves."""
    left, right = np.divmod(np.arange(start, start + rows), 10_000)
    for key in np.random.default_rng(seed).integers(10_000, size=(4, 10_000)):
        left, right = right, (left + key[right]) % 10_000
    halves = pa.array([f"{half:04}" for half in range(10_000)])
    return pc.binary_join_element_wise("P", halves.take(left), halves.take(right), "")


def _cost(rng: np.random.Generator, median: Floats, age: Counts) -> pa.Array:
    spread = np.exp(0.5 * rng.standard_normal(len(age), dtype=np.float32))
    cents = np.rint(100 * median * (1 + 0.006 * np.maximum(age - 40, 0)) * spread)
    words = np.zeros((len(age), 2), dtype="<i8")  # a decimal is 16 bytes, low half first
    words[:, 0] = cents
    return pa.Array.from_buffers(pa.decimal128(10, 2), len(age), [None, pa.py_buffer(words)])


@dataclass(frozen=True, eq=False)
class _Odds:
    """Weighted choices, drawn for many rows at once."""

    edges: Floats  # (groups * choices,) running shares, those of group g between g and g + 1
    groups: tuple[int, ...]
    choices: int

    @classmethod
    def of(cls, weights: Floats) -> _Odds:
        """Take weights whose last axis is the choice and whose other axes are the conditions."""
        total = weights.reshape(-1, weights.shape[-1]).cumsum(axis=1)
        edges = total / total[:, -1:] + np.arange(len(total))[:, None]
        return cls(edges.ravel(), weights.shape[:-1], weights.shape[-1])

    def draw(self, rng: np.random.Generator, rows: int, *conditions: Counts) -> Counts:
        """Draw a choice for each row, given its position on every condition axis."""
        # Single precision stays exact when a group is added, so no row slips into the next group.
        point = rng.random(rows, dtype=np.float32).astype(np.float64)
        if not conditions:
            return self.edges.searchsorted(point, side="right")
        group = np.ravel_multi_index(conditions, self.groups)
        return self.edges.searchsorted(point + group, side="right") - group * self.choices


@dataclass(frozen=True, eq=False)
class _Hospital:
    """The vocabulary prepared for sampling: words as Arrow arrays, weights as odds."""

    first_names: pa.StringArray
    surnames: pa.StringArray
    postcodes: pa.StringArray
    ethnicities: pa.StringArray
    occupations: pa.StringArray
    diagnoses: pa.StringArray
    rural: Counts  # (postcodes,) 0 or 1
    costs: Floats  # (diagnoses,) medians
    day: _Odds
    age: _Odds
    sex: _Odds  # given age
    first_name: _Odds  # given sex
    surname: _Odds
    postcode: _Odds
    ethnicity: _Odds  # given postcode
    occupation: _Odds  # given age, sex and whether rural
    diagnosis: _Odds  # given age, sex and whether winter


@cache
def _hospital() -> _Hospital:
    female = _by_age(vocabulary.FEMALE_SHARE)
    other = np.full_like(female, vocabulary.OTHER_SHARE)
    starts, ends = vocabulary.SURNAME_STARTS.split(), vocabulary.SURNAME_ENDS.split()
    first_names = vocabulary.FEMALE_NAMES.split(), vocabulary.MALE_NAMES.split()
    codes, rural, people, ethnicity = _postcodes()
    employed = chain.from_iterable(vocabulary.EMPLOYED.values())
    occupations = [*employed, *vocabulary.LEARNING, *vocabulary.AT_HOME]
    diagnoses = list(chain.from_iterable(vocabulary.CHAPTERS.values()))
    return _Hospital(
        first_names=pa.array(first_names[0] + first_names[1]),
        surnames=pa.array([start + end for start in starts for end in ends]),
        postcodes=pa.array(codes),
        ethnicities=pa.array(list(chain.from_iterable(vocabulary.ETHNICITIES.values()))),
        occupations=pa.array([each.name for each in occupations]),
        diagnoses=pa.array([each.name for each in diagnoses]),
        rural=rural,
        costs=np.array([float(each.cost) for each in diagnoses]),
        day=_Odds.of(_days()),
        age=_Odds.of(_by_age(vocabulary.AGES)),
        sex=_Odds.of(np.stack([female, 1 - female - other, other], axis=1)),
        first_name=_Odds.of(
            np.outer([[1, 0], [0, 1], [1, 1]], _falling(len(first_names[0]))).reshape(3, -1)
        ),
        surname=_Odds.of(np.outer(_falling(len(starts)), _falling(len(ends))).ravel()),
        postcode=_Odds.of(people),
        ethnicity=_Odds.of(ethnicity),
        occupation=_given_age_and_sex(occupations, [each.rural for each in occupations]),
        diagnosis=_given_age_and_sex(diagnoses, [each.winter for each in diagnoses]),
    )


def _falling(count: int) -> Floats:
    return np.arange(5.0, 5.0 + count) ** -1.0


def _by_age(curve: vocabulary.Curve) -> Floats:
    points: Floats = np.array(curve, dtype=np.float64)  # (points, 2)
    ages = np.arange(vocabulary.AGES[-1][0] + 1)
    heights: Floats = np.interp(ages, points[:, 0], points[:, 1])
    return heights


def _days() -> Floats:
    since = np.arange((LAST_DAY - FIRST_DAY).astype(np.int64) + 1)
    season = 1 + 0.2 * np.cos(2 * np.pi * (since - 20) / 365.25)  # highest around 20 January
    week = np.array([0.75, 1.25, 1.15, 1.1, 1.05, 1.0, 0.7])  # the first day is a Sunday
    weights: Floats = season * week[since % 7]
    return weights


def _given_age_and_sex(
    members: Sequence[vocabulary.Occupation | vocabulary.Diagnosis], third: list[float]
) -> _Odds:
    age = np.stack([each.weight * _by_age(each.ages) for each in members], axis=1)
    female, male = (
        np.array([each.female for each in members]),
        np.array([each.male for each in members]),
    )
    # Geometric mean: "other" never gets a diagnosis that either sex cannot have.
    sex = np.stack([female, male, np.sqrt(female * male)])
    condition = np.stack([np.ones(len(members)), third])
    return _Odds.of(age[:, None, None] * sex[:, None] * condition)  # (ages, 3, 2, members)


def _postcodes() -> tuple[list[str], Counts, Floats, Floats]:
    """Return codes, whether rural, people, and ethnicities: towns of twelve postcodes each."""
    codes, rural, people, ethnicities = [], [], [], []
    for setting, regions in vocabulary.REGIONS.items():
        profile = np.array(vocabulary.ETHNICITY_BY_SETTING[setting], dtype=np.float64)
        for prefix, population in regions.items():
            town, street = np.divmod(np.arange(12 + 5 * population), 12)
            codes += [f"{prefix}{number:03}" for number in 100 * town + 4 * street]
            rural += [int(setting == "country")] * len(town)
            share = 1 / ((town + 1) * (street + 2))
            people.append(population * share / share.sum())
            mixture = np.tile(profile, (len(town), 1))
            # the first town is the largest, and the most mixed
            mixture[:, 1:] *= 1.6 / (1 + 0.5 * town[:, None])
            ethnicities.append(mixture)
    return codes, np.array(rural), np.concatenate(people), np.concatenate(ethnicities)


def write_patients(path: Path, rows: int, seed: int = 0, *, force: bool = False) -> Path:
    """Write the table and, next to it, its schema `<name>.yaml`; return the path of the schema."""
    check_ending(path)
    if rows < 1:
        raise InputError(f"rows must be 1 or more, not {rows}")
    chunks = generate(rows, seed)
    schema = path.with_suffix(".yaml")
    check_writable(schema, force=force)
    with replace_file(path, force=force) as temporary:
        done, (empty,) = 0, generate(0)
        with open_writer(temporary, empty.schema) as writer:
            for chunk in chunks:
                writer.write_table(chunk)
                done += chunk.num_rows
                report("generate", done, rows)
    with replace_file(schema, force=force) as temporary:
        temporary.write_text(schema_text(), encoding="utf-8")
    return schema


def schema_text() -> str:
    """Return the schema of the table as YAML."""
    text: str = yaml.safe_dump(SCHEMA, sort_keys=False, allow_unicode=True)
    return text
