import numpy as np
import pytest
from tests.risk.with_people import grouped_people

from shoal.risk import record_risk
from shoal.risk.reidentification import household_risk


def test_a_household_is_found_with_any_member():
    """Household h has people a and b, household i has c; each class is two rows of two people."""
    release = grouped_people("abca", [0, 0, 1, 1], household="hhih")
    found = record_risk(release).household
    assert (found.households, found.k) == (2, 1)
    assert found.highest == pytest.approx(1 - (1 - 0.5) ** 2)
    assert found.expected == pytest.approx(0.75 + 0.5)
    assert found.average == pytest.approx(1.25 / 2)


def test_members_that_are_not_released_do_not_count():
    release = grouped_people("abc", [0, -1, 0], household="hhi")
    found = record_risk(release).household
    assert (found.households, found.expected) == (2, 1.0)


def test_a_person_of_two_households_is_a_member_of_both():
    release = grouped_people("aab", [0, 0, 0], household="hii")
    found = household_risk(release.original, np.array([0.2, 0.2, 0.5]), release.classes)
    assert found.expected == pytest.approx(0.2 + 1 - 0.8 * 0.5)


def test_tables_without_households_have_no_such_risk():
    assert record_risk(grouped_people("ab", [0, 0])).household is None


def test_nobody_released_is_no_household_found():
    found = record_risk(grouped_people("ab", [-1, -1], household="hi")).household
    assert (found.households, found.k, found.average, found.highest) == (0, 0, 0.0, 0.0)
