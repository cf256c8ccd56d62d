import math

import pytest

from shoal.privacy import profile


def test_tells_the_k_and_every_level_of_each_sensitive_column(grouped):
    # shares here: a 1/2 b 1/2 and a 3/4 b 1/4, in the input a 5/8 b 3/8
    told = profile(grouped("aabb", "aaab"), ["disease"])
    assert list(told) == [
        "k",
        "l(disease)",
        "entropy-l(disease)",
        "t(disease)",
        "alpha(disease)",
        "delta(disease)",
        "beta(disease)",
    ]
    assert told == pytest.approx(
        {
            "k": 4,
            "l(disease)": 2,
            "entropy-l(disease)": 4 / 3**0.75,  # e^(ln 4 − 3/4 ln 3)
            "t(disease)": 1 / 8,
            "alpha(disease)": 3 / 4,
            "delta(disease)": math.log(3 / 2),  # b: 3/8 against 1/4
            "beta(disease)": 1 / 3,  # b: 1/2 against 3/8
        }
    )


def test_t_goes_by_the_natural_distance(grouped):
    assert profile(grouped([1], suppressed=[2, 3]), ["disease"])["t(disease)"] == 1 / 2


def test_delta_is_infinite_where_a_class_lacks_a_value(grouped):
    assert profile(grouped("ab", "a"), ["disease"])["delta(disease)"] == math.inf


def test_beta_is_the_basic_one(grouped):
    assert profile(grouped("a", suppressed="b"), ["disease"])["beta(disease)"] == 1


def test_without_sensitive_columns_there_is_only_k(grouped):
    assert profile(grouped("abc", "ab"), []) == {"k": 2}
