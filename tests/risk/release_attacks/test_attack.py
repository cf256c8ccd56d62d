"""Four attacks: raw copies and planted leaks are found, clean releases are not flagged."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.risk import attack
from shoal.risk.release_attacks.attacked_tables import read_sources
from shoal.risk.release_attacks.four_attacks import ATTACKS
from shoal.risk.release_attacks.predicates import Crowd, from_rows, of_one_column, opened

SEEDS = range(100) if os.environ.get("SHOAL_DEEP") else range(3)
QUASI = ["age", "zip", "sex", "job", "weight"]
HIERARCHIES = {
    "age": {"intervals": [10, 40]},
    "zip": {"mask": "right"},
    "job": {"mask": "right"},
    "weight": {"intervals": [20, 100]},
}


def draw(count, rng, follows=False):
    """People; `follows`: their illness follows from age and sex, by a rule of this draw."""
    age, sex = rng.integers(20, 80, count), rng.integers(0, 2, count)
    ill = rng.integers(0, 8, count)
    if follows:
        ill = rng.integers(0, 8, (80, 2))[age, sex]
    return pa.table(
        {
            "age": age,
            "zip": [f"{z:03}" for z in rng.integers(0, 400, count)],
            "sex": [("f", "m")[s] for s in sex],
            "job": [f"{j:02}" for j in rng.integers(0, 40, count)],
            "weight": rng.normal(75, 12, count).round(1),
            "ill": [f"illness {i}" for i in ill],
        }
    )


def attacked(original, released, control, **options):
    stated = {"quasi": QUASI, "sensitive": "ill", "hierarchies": HIERARCHIES, **options}
    return attack(original, released, control=control, **stated)


def test_a_raw_copy_gives_everything_away():
    rng = np.random.default_rng(0)
    original, control = draw(600, rng), draw(600, rng)
    found = attacked(original, original, control)
    assert found.flagged == ATTACKS
    for risk in (found.singling_out, found.linkability, found.inference):
        assert 0.5 < risk.low <= risk.risk <= risk.high <= 1
    assert found.inference.baseline < 0.3


@pytest.mark.parametrize("seed", SEEDS)
def test_independent_rows_reveal_nothing(seed):
    rng = np.random.default_rng(seed)
    found = attacked(draw(800, rng), draw(800, rng), draw(800, rng), seed=seed)
    for risk in (getattr(found, name) for name in ATTACKS):
        assert risk.low < 0.05
        assert risk.risk < 0.25


@pytest.mark.skipif(not os.environ.get("SHOAL_DEEP"), reason="takes a minute")
def test_independent_rows_are_rarely_flagged():
    flags = dict.fromkeys(ATTACKS, 0)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = attacked(draw(800, rng), draw(800, rng), draw(400, rng), seed=seed)
        for name in found.flagged:
            flags[name] += 1
    assert max(flags.values()) <= 10


@pytest.mark.parametrize("seed", SEEDS)
def test_one_raw_row_in_a_hundred_is_found(seed):
    rng = np.random.default_rng(seed)
    original, control, synthetic = draw(2000, rng), draw(2000, rng), draw(1980, rng)
    released = pa.concat_tables([synthetic, original.slice(500, 20)])
    found = attacked(original, released, control, seed=seed)
    assert found.singling_out.flagged
    assert found.linkability.flagged
    assert not found.inference.risk > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_value_that_follows_from_two_quasi_identifiers_is_found_by_inference(seed):
    rng = np.random.default_rng(seed)
    original, control, others = draw(1500, rng, follows=True), draw(1500, rng), draw(1500, rng)
    known = ["age", "sex"]
    released = others.set_column(5, "ill", original.column("ill"))
    for name in known:
        released = released.set_column(
            released.column_names.index(name), name, original.column(name)
        )
    found = attacked(original, released, control, quasi=known, hierarchies={}, seed=seed)
    assert found.inference.flagged
    assert found.inference.low > 0.5


@pytest.mark.parametrize("seed", SEEDS)
def test_a_k_anonymous_release_by_hierarchies_is_not_flagged(seed):
    rng = np.random.default_rng(seed)
    original, control = draw(1000, rng), draw(1000, rng)
    found = attacked(original, flash_release(original), control, seed=seed)
    assert not found.singling_out.flagged
    assert found.linkability.low < 0.02


def test_a_small_control_group_does_not_turn_chance_into_risk():
    flagged = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        found = attacked(draw(1000, rng), draw(1000, rng), draw(100, rng), seed=seed)
        flagged += found.singling_out.flagged
    assert flagged <= 1


def test_predicates_count_people_not_rows():
    people = pa.table({"who": ["a", "a", "b", "c"], "age": [30, 30, 40, 40]})
    sources = read_sources(people, people, None, quasi="age", person="who")
    cells = list(sources.quasi.values())
    entries = cells[0].codes[:, None]
    predicates = from_rows(cells, entries, np.ones(entries.shape, dtype=np.bool_))
    assert Crowd(sources, slice(0, 4)).count(predicates).tolist() == [1, 2]  # 30 is one person
    drawn = sources.draw(10, np.random.default_rng(0), control=False)
    assert len(drawn) == 3


def test_one_column_predicates_are_rare_cells_and_ends():
    people = pa.table({"age": [20, 30, 30, 40, 50, 50]})
    released = pa.table({"age": ["20", "30", "30", "40", "[45, 55]", "[45, 55]"]})
    sources = read_sources(people, released, None, quasi="age")
    cells = list(sources.quasi.values())
    predicates = of_one_column(cells, 100, np.random.default_rng(0))
    fits = sorted(Crowd(sources, slice(0, 6)).count(predicates).tolist())
    assert fits == [1, 1, 1, 2]  # 20, 40, at most 20, at least 45


def test_open_ranges_lead_away_from_the_median_and_tolerate_noise():
    people = pa.table({"age": [20, 30, 40, 50, None]})
    released = pa.table({"age": ["21.5", "30", "[38, 45]", "51", "*", None]})
    sources = read_sources(people, released, None, quasi="age")
    cells = opened(sources.quasi["age"])
    runs = [
        list(zip(cells.starts[a:b].tolist(), cells.stops[a:b].tolist(), strict=True))
        for a, b in zip(cells.indptr[:-1], cells.indptr[1:], strict=True)
    ]
    assert [runs[entry] for entry in cells.codes] == [
        [(0, 1)],  # at most 21.5
        [(0, 2)],  # at most 30
        [(2, 4)],  # at least 38
        [],  # at least 51: nobody
        [(0, 5)],
        [(4, 5)],
    ]


def test_rows_with_noise_are_singled_out_by_open_ranges():
    rng = np.random.default_rng(0)
    original, control = draw(1000, rng), draw(1000, rng)
    noise = rng.normal(0, 0.2, 1000)
    noisy = original.set_column(4, "weight", pa.array(original.column("weight").to_numpy() + noise))
    found = attacked(original, noisy, control).singling_out
    assert found.flagged
    ways = {way.name: way for way in found.ways}
    assert ways["complete rows, open ranges"].risk > 0.4 > ways["complete rows"].risk


def test_files_frames_tables_and_releases_give_the_same_figures(tmp_path):
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    original, control, released = (draw(200, rng) for _ in range(3))
    text = ["zip", "job"]
    roles = {**dict.fromkeys(QUASI, "quasi"), "ill": "sensitive"}
    expected = attack(original, released, quasi=QUASI, sensitive="ill", control=control)
    for name, data in (("original", original), ("control", control), ("released", released)):
        csv.write_csv(data, tmp_path / f"{name}.csv")
        parquet.write_table(data, tmp_path / f"{name}.parquet")
    schema = {
        "columns": {
            name: {"role": role, **({"type": "text"} if name in text else {})}
            for name, role in roles.items()
        }
    }
    assert expected == attack(
        tmp_path / "original.csv",
        tmp_path / "released.csv",
        schema=schema,
        control=tmp_path / "control.csv",
    )
    assert expected == attack(
        tmp_path / "original.parquet",
        str(tmp_path / "released.parquet"),
        quasi=QUASI,
        sensitive=["ill"],
        control=control.to_pandas(),
    )
    assert expected == attack(
        shoal.read(original, roles=roles), pd.DataFrame(released.to_pydict()), control=control
    )
    assert expected != attack(
        original, released, quasi=QUASI, control=control, sensitive="ill", seed=1
    )


@pytest.mark.parametrize("person", [(), "who"])
def test_a_control_group_that_was_held_back_from_the_original_is_left_out_of_it(person):
    rng = np.random.default_rng(0)
    everyone = draw(900, rng).append_column("who", pa.array(np.arange(900) // 2))
    released, control = everyone.slice(100), everyone.slice(0, 100)
    found = attacked(everyone, released, control, person=person)
    apart = attacked(released, released, control, person=person)
    assert found.people == apart.people == (400 if person else 800)
    assert found.control == (50 if person else 100)
    assert found.singling_out == apart.singling_out
    assert any("part of the original" in note for note in found.notes)
    assert not any("part of the original" in note for note in apart.notes)


def test_named_columns_replace_those_of_the_table():
    people = pa.table({"age": [20, 30], "sex": ["f", "m"], "ill": ["a", "b"], "cost": [1, 2]})
    roles = {"age": "quasi", "sex": "quasi", "ill": "sensitive", "cost": "insensitive"}
    table = shoal.read(people, roles=roles)
    assert attack(table, people).quasi == ("age", "sex")
    found = attack(table, people, quasi="sex", sensitive=["cost"])
    assert (found.quasi, found.sensitive) == (("sex",), ("cost",))


def test_columns_that_are_not_released_and_cells_that_cannot_be_read_are_noted():
    people = pa.table({"age": [20, 30], "town": ["quokka", "wombat"], "ill": ["numbat", "bilby"]})
    released = pa.table({"town": ["marsupial", "quokka"]})
    found = attack(people, released, quasi=["age", "town"], sensitive="ill")
    notes = " ".join(found.notes)
    assert "age is not released" in notes
    assert "ill is not released" in notes
    assert "1 cell of town cannot be read" in notes
    assert "without a control group" in notes
    assert (found.linkability.attacks, found.inference.attacks) == (0, 0)
    shown = f"{found!r} {found.to_dict()} {found.sentences()}"
    assert not [s for s in ("quokka", "wombat", "numbat", "bilby", "marsupial") if s in shown]


def test_numbers_are_inferred_within_a_tolerance_of_their_range():
    rng = np.random.default_rng(0)
    age = np.arange(300)
    income = rng.permutation(300) * 100.0
    people = pa.table({"age": age, "income": income})
    noisy = pa.table({"age": age, "income": income + rng.uniform(-900, 900, 300)})
    others = pa.table({"age": age, "income": rng.permutation(income)})
    found = attack(people, noisy, quasi="age", sensitive="income", control=others)
    assert found.inference.risk > 0.9  # 900 is less than 5 % of the range of 27,000
    far = pa.table({"age": age, "income": income + 3000})
    assert attack(people, far, quasi="age", sensitive="income", control=others).inference.risk < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quasi": ["aeg"]}, "did you mean"),
        ({"quasi": ["age"], "sensitive": ["age"]}, "both quasi and sensitive"),
        ({}, "no column that an attacker knows"),
        ({"quasi": ["age"], "attacks": 0}, "attacks must be a whole number"),
        ({"quasi": ["age"], "control": pa.table({"who": ["a", "c"], "age": [1, 2]}),
          "person": "who"}, "1 person of the control group are in the original, and 1 are not"),
        ({"quasi": ["age"], "control": pa.table({"age": [30, 20]})}, "the whole original"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options, message):
    people = pa.table({"who": ["a", "b"], "age": [20, 30]})
    with pytest.raises(shoal.InputError, match=message):
        attack(people, people, **options)


def flash_release(original, k=10):
    roles = {**dict.fromkeys(QUASI, "quasi"), "ill": "sensitive"}
    return shoal.anonymize(
        shoal.read(original, roles=roles, hierarchies=HIERARCHIES), k=k, method="flash"
    )


def with_raw_row(release, original, row):
    """The release, with one row of the original kept as it is."""
    rows = release.to_arrow()
    raw = pa.table({n: [str(original.column(n)[row])] for n in rows.column_names})
    text = pa.table({n: rows.column(n).cast(pa.string()) for n in rows.column_names})
    return pa.concat_tables([text, raw])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_single_unique_combination_that_is_kept_raw_is_found_by_singling_out(seed):
    rng = np.random.default_rng(seed)
    original, control = draw(1000, rng), draw(1000, rng)
    release = flash_release(original)
    clean = attacked(original, release, control, seed=seed)
    assert not clean.singling_out.flagged
    leaking = attacked(original, with_raw_row(release, original, 7), control, seed=seed)
    assert leaking.singling_out.flagged
    assert leaking.singling_out.name == "rows kept raw"


def test_a_kept_row_that_many_people_share_is_no_risk():
    people = pa.table({"age": [30, 31] * 200, "sex": ["f", "m"] * 200, "ill": ["a"] * 400})
    released = pa.table({"age": ["[30, 31]"] * 10 + ["30"], "sex": ["*"] * 10 + ["f"]})
    found = attack(people, released, quasi=["age", "sex"], control=people.slice(0, 100))
    assert {way.name: way.risk for way in found.singling_out.ways}["rows kept raw"] == 0
    assert not found.singling_out.flagged


def test_a_single_raw_row_in_a_synthetic_table_is_within_chance_but_stated():
    rng = np.random.default_rng(0)
    original, control = draw(1000, rng), draw(1000, rng)
    released = pa.concat_tables([draw(999, rng), original.slice(7, 1)])
    found = attacked(original, released, control)
    assert not found.singling_out.flagged
    assert any("exactly one person of the original" in note for note in found.notes)


def test_members_of_a_raw_copy_are_recognized():
    rng = np.random.default_rng(0)
    original, control = draw(600, rng), draw(600, rng)
    found = attacked(original, original, control).membership
    assert found.flagged
    assert found.low > 0.9


def test_members_are_recognized_by_noisy_rows():
    rng = np.random.default_rng(0)
    original, control = draw(600, rng), draw(600, rng)
    noisy = original.set_column(
        4, "weight", pa.array(original.column("weight").to_numpy() + rng.normal(0, 2, 600))
    )
    found = attacked(original, noisy, control).membership
    assert (found.name, found.flagged) == ("nearest row", True)
    assert found.risk > 0.8


def test_membership_needs_a_control_group():
    people = pa.table({"age": [20, 30], "sex": ["f", "m"]})
    found = attack(people, people, quasi=["age", "sex"])
    assert found.membership.attacks == 0
    assert any("membership inference needs a control group" in note for note in found.notes)
