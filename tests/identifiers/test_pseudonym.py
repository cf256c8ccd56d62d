"""Pseudonyms: one person, one code, in one domain of one key."""

import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.identifiers import Key, Pseudonym
from shoal.identifiers.pseudonym import _count_shared, collision_probability
from shoal.identifiers.replacement import Context
from shoal.identifiers.replacements import as_replacement

KEY = Key(bytes(range(32)))


def made(cells, domain="study", key=KEY, **options):
    return Pseudonym(**options).publish("id", pa.array(cells), Context(key, domain))


def test_equal_people_have_equal_pseudonyms_in_every_table_of_a_domain():
    assert made(["a", "b", "a"]).cells.take([0, 2]).equals(made(["c", "a", "a"]).cells.slice(1))


def test_the_pseudonym_of_a_person_stays_the_same_in_later_versions():
    assert made(["4711"]).cells.to_pylist() == ["62nwi365jd3l25l7etsqfpeswv"]


@pytest.mark.parametrize("other", [{"domain": "b"}, {"key": Key.new()}, {"space": "visit"}])
def test_another_domain_key_or_space_has_nothing_in_common(other):
    people = [str(number) for number in range(1000)]
    one, two = made(people).cells.to_pylist(), made(people, **other).cells.to_pylist()
    assert not set(one) & set(two)


def test_a_number_joins_with_its_text_and_a_missing_value_stays_missing():
    expected = made(["7", None]).cells
    assert made([7, None]).cells.equals(expected)
    assert made([7.0, None]).cells.equals(expected)
    assert made(["7", ""]).cells.equals(expected)
    assert expected.null_count == 1


def test_numbers_with_fractions_are_refused():
    with pytest.raises(InputError, match="fractions"):
        made([7.5])


def test_the_record_states_length_and_collisions_and_no_secret():
    record = made(["a", "b", "c"], length=12).record
    assert (record["length"], record["bits"], record["values_up_to"]) == (12, 60, 10)
    assert record["collision_probability"] == pytest.approx(45 / 2**60)
    assert record["key"] == KEY.fingerprint
    assert KEY.secret.hex() not in str(record)


def test_the_chance_of_a_collision_bounds_the_birthday_problem():
    assert collision_probability(1, 10) == 0
    assert collision_probability(2, 10) == pytest.approx(2**-50)
    assert collision_probability(10**9, 10) == 1


def test_many_people_without_repeats_get_the_same_pseudonyms_as_few():
    people = [f"person {number}" for number in range(100_100)]
    many = made([*people, "person 7"]).cells
    assert many.slice(0, 3).equals(made(people[:3]).cells)
    assert many[-1] == many[7]


def test_pseudonyms_that_would_stand_for_two_people_are_refused():
    texts, same = pa.array(["a", "b", "c"]), pa.array(["x" * 12, "y" * 12, "x" * 12])
    assert _count_shared(same, texts) == 1
    assert not _count_shared(same, pa.array(["a", "b", "a"]))
    assert not _count_shared(pa.array(["x" * 12, "x" * 11 + "y"]), pa.array(["a", "b"]))
    with pytest.raises(InputError, match="1 pseudonym would stand for two people"):
        Pseudonym().refuse_shared("id", 1)


@pytest.mark.parametrize("length", [9, 52, "20", 20.0])
def test_a_length_outside_its_limits_is_refused(length):
    with pytest.raises(InputError, match="length"):
        Pseudonym(length=length)


@pytest.mark.parametrize("stated", ["pseudonim", {"pseudonym": {"size": 3}}, 7, {}])
def test_an_unknown_replacement_or_option_is_refused(stated):
    with pytest.raises(InputError, match="column 'id'"):
        as_replacement(stated, "id")


def test_without_a_key_or_a_domain_nothing_is_made():
    with pytest.raises(InputError, match="needs a key"):
        made(["a"], key=None)
    with pytest.raises(InputError, match="needs a domain"):
        made(["a"], domain="")
