import pytest

from shoal.errors import InputError
from shoal.privacy import AlphaKAnonymity


def test_the_paper_s_half_two_anonymity_guards_one_value(grouped):
    # Wong et al. guard HIV at alpha 0.5, k 2; flu may fill a class
    classes = grouped(["HIV", "flu"], ["flu", "flu"], ["HIV", "HIV", "flu"], ["flu"])
    model = AlphaKAnonymity(0.5, 2, "disease", "HIV")
    assert model.holds(classes).tolist() == [True, True, False, False]
    assert model.level(classes) == pytest.approx(2 / 3)


def test_without_a_value_every_value_is_guarded(grouped):
    classes = grouped(["HIV", "flu"], ["flu", "flu"])
    assert AlphaKAnonymity(0.5, 2, "disease").holds(classes).tolist() == [True, False]
    assert AlphaKAnonymity(0.5, 2, "disease").level(classes) == 1


def test_a_missing_value_counts_as_a_value(grouped):
    classes = grouped([None, None, "flu"])
    assert AlphaKAnonymity(0.5, 2, "disease").level(classes) == pytest.approx(2 / 3)


def test_numbers_are_matched_as_text(grouped):
    classes = grouped([7, 8, 8, 9])
    assert AlphaKAnonymity(0.5, 2, "disease", "8").holds(classes).all()
    assert not AlphaKAnonymity(0.4, 2, "disease", "8").holds(classes).any()


@pytest.mark.parametrize("tenths", range(1, 10))
def test_a_share_of_just_alpha_holds(grouped, tenths):
    classes = grouped("a" * tenths + "b" * (10 - tenths))
    assert AlphaKAnonymity(tenths / 10, 2, "disease", "a").holds(classes).all()


def test_an_unknown_value_is_refused_and_not_repeated(grouped):
    table = grouped("ab").table
    AlphaKAnonymity(0.5, 2, "disease", "a").check(table)
    with pytest.raises(InputError, match="column 'disease' does not have the value") as refusal:
        AlphaKAnonymity(0.5, 2, "disease", "zebra").check(table)
    assert "zebra" not in str(refusal.value)


def test_a_table_of_fewer_than_k_records_is_refused(grouped):
    with pytest.raises(InputError, match="k is 3 but the table has 2 people"):
        AlphaKAnonymity(0.5, 3, "disease").check(grouped("ab").table)


def test_options_out_of_range_are_refused():
    with pytest.raises(InputError, match="alpha must be more than 0 and at most 1"):
        AlphaKAnonymity(0, 2, "disease")
    with pytest.raises(InputError, match="alpha must be more than 0 and at most 1"):
        AlphaKAnonymity(1.5, 2, "disease")
    with pytest.raises(InputError, match="k must be a whole number, 1 or more"):
        AlphaKAnonymity(0.5, 0, "disease")
