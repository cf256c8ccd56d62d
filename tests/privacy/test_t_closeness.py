import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.examples import examples

from shoal.errors import InputError
from shoal.privacy import TCloseness
from shoal.privacy.t_closeness import DISTANCES
from shoal.table.recipes import tree

# the paper's figure 1; its levels are 0 … 3
DISEASES = tree(
    {
        "respiratory": {
            "infection": ["flu", "pneumonia", "bronchitis"],
            "vascular": ["pulmonary edema", "pulmonary embolism"],
        },
        "digestive": {
            "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
            "colon": ["colitis", "colon cancer"],
        },
    }
)


def level(classes, distance=None):
    return TCloseness(1, "disease", distance).level(classes)


def test_the_paper_s_three_lowest_salaries_lie_0_375_off(grouped):
    classes = grouped([3, 4, 5], suppressed=[6, 7, 8, 9, 10, 11])
    assert level(classes) == pytest.approx(0.375)
    assert TCloseness(0.375, "disease").holds(classes).all()
    assert not TCloseness(0.3749, "disease").holds(classes).any()


def test_the_paper_s_scattered_salaries_lie_0_167_off(grouped):
    classes = grouped([6, 8, 11], suppressed=[3, 4, 5, 7, 9, 10])
    assert level(classes) == pytest.approx(1 / 6)


def test_the_paper_s_last_table_is_a_sixth_close_in_salary(grouped):
    classes = grouped([3, 5, 9], [6, 11, 8], [4, 7, 10])
    assert TCloseness(1 / 6, "disease").holds(classes).all()
    assert not TCloseness(0.16, "disease").holds(classes).all()


def test_the_paper_s_last_table_in_disease(grouped):
    # by hand, in 27ths, over values, groups and halves of the tree: each level adds what the
    # class has above the table's 1 flu, 1 pneumonia, 2 bronchitis, 1 ulcer, 2 cancer, 2 gastritis
    classes = grouped(
        ["gastric ulcer", "stomach cancer", "pneumonia"],  # 2+1+2, 1, 1
        ["gastritis", "flu", "bronchitis"],  # 1+2+1, 2, 2
        ["gastritis", "bronchitis", "stomach cancer"],  # 1+1+1, 1, 1
        hierarchy=DISEASES,
    )
    assert DISTANCES["hierarchical"](classes, "disease") == pytest.approx([7 / 27, 8 / 27, 5 / 27])
    assert level(classes) == pytest.approx(8 / 27)
    assert TCloseness(8 / 27, "disease").holds(classes).all()


@pytest.mark.parametrize(
    ("other", "distance"),
    [("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1)],
)
def test_the_paper_s_distances_from_flu(grouped, other, distance):
    # half the records are flu: half the class has to move, all the way to the other disease
    classes = grouped(["flu"], suppressed=[other], hierarchy=DISEASES)
    assert level(classes) == pytest.approx(distance / 2)


def test_equal_is_half_the_sum_of_differences(grouped):
    classes = grouped("aab", "bcc")
    # shares 2/3 1/3 0 against 1/3 1/3 1/3
    assert DISTANCES["equal"](classes, "disease") == pytest.approx([1 / 3, 1 / 3])


def test_the_default_distance_follows_the_kind_of_the_column(grouped):
    numeric = grouped([1], suppressed=[2, 3])
    ordinal = grouped("a", suppressed="bc", order="abc")
    nominal = grouped("a", suppressed="bc")
    nested = grouped("a", suppressed="bc", hierarchy=tree({"early": ["a", "b"], "late": ["c"]}))
    assert level(numeric) == level(numeric, "ordered") == pytest.approx(1 / 2)
    assert level(ordinal) == level(ordinal, "ordered") == pytest.approx(1 / 2)
    assert level(nominal) == level(nominal, "equal") == pytest.approx(2 / 3)
    assert level(nested) == level(nested, "hierarchical") == pytest.approx(1 / 2)
    assert level(nested, "equal") == pytest.approx(2 / 3)


def test_a_missing_value_is_the_far_end_of_an_order(grouped):
    near = grouped([9], suppressed=[1, None])
    far = grouped([None], suppressed=[1, 9])
    assert level(near) == pytest.approx(1 / 3)
    assert level(far) == pytest.approx(1 / 2)


def test_a_missing_value_meets_the_others_at_the_root(grouped):
    classes = grouped(["flu"], suppressed=[None], hierarchy=DISEASES)
    assert level(classes) == pytest.approx(1 / 2)


def test_the_reference_counts_suppressed_rows(grouped):
    assert level(grouped("ab")) == 0
    assert level(grouped("ab", suppressed="cc")) == pytest.approx(1 / 2)


def test_values_that_the_input_does_not_show_are_no_steps(grouped):
    whole = grouped([1, 2, 9, 3])
    part = whole.table.take([0, 1, 2])  # 3 stays in the ground domain, between 2 and 9
    ids = np.array([0, -1, -1], dtype=np.int32)
    assert level(type(whole).of(part, ids)) == pytest.approx(1 / 2)  # (2/3 + 1/3) / 2


def test_a_domain_of_one_value_is_at_no_distance(grouped):
    assert [level(grouped("aa", "a"), kind) for kind in ("equal", None)] == [0, 0]
    assert level(grouped([7, 7], [7])) == 0
    assert level(grouped("aa", hierarchy=tree(["a"]))) == 0


def test_a_distance_that_does_not_fit_the_column_is_refused(grouped):
    nominal = grouped("ab").table
    with pytest.raises(InputError, match="'disease' is nominal; give it an order"):
        TCloseness(0.2, "disease", "ordered").check(nominal)
    with pytest.raises(InputError, match="'disease' has no hierarchy"):
        TCloseness(0.2, "disease", "hierarchical").check(nominal)
    TCloseness(0.2, "disease", "equal").check(nominal)
    TCloseness(0.2, "disease").check(nominal)


def test_options_out_of_range_are_refused():
    with pytest.raises(InputError, match="t must be 0 or more and at most 1"):
        TCloseness(1.1, "disease")
    with pytest.raises(InputError, match="distance must be one of equal, ordered, hierarchical"):
        TCloseness(0.2, "disease", "euclidean")


def cheapest_transport(have, want, cost):
    """The earth mover's distance by its definition, a linear program."""
    m = len(have)
    leaving = np.kron(np.eye(m), np.ones(m))
    arriving = np.kron(np.ones(m), np.eye(m))
    found = linprog(
        np.ravel(cost), A_eq=np.vstack([leaving, arriving]), b_eq=np.concatenate([have, want])
    )
    assert found.success
    return found.fun


LETTERS = "abcdef"
NESTED = tree({"x": {"u": ["a", "b"], "v": ["c"]}, "y": ["d", "e", "f"]})
MEETING = {"ab": 1, "ac": 2, "bc": 2, "de": 2, "df": 2, "ef": 2}  # any other pair: 3, the root


def ground_distance(kind, a, b):
    if a == b:
        return 0
    if kind == "equal":
        return 1
    if kind == "ordered":
        return abs(LETTERS.index(a) - LETTERS.index(b)) / (len(LETTERS) - 1)
    return MEETING.get("".join(sorted(a + b)), 3) / 3


@pytest.mark.parametrize("kind", DISTANCES)
@examples(40)
@given(members=st.lists(st.sampled_from(LETTERS), min_size=1, max_size=8), more=st.data())
def test_every_distance_is_the_cheapest_transport(grouped, kind, members, more):
    others = more.draw(st.lists(st.sampled_from(LETTERS), max_size=8))
    everyone = [*members, *others, *LETTERS]
    classes = grouped(members, suppressed=[*others, *LETTERS], order=LETTERS, hierarchy=NESTED)
    cost = [[ground_distance(kind, a, b) for b in LETTERS] for a in LETTERS]
    have = np.array([members.count(letter) for letter in LETTERS]) / len(members)
    want = np.array([everyone.count(letter) for letter in LETTERS]) / len(everyone)
    assert level(classes, kind) == pytest.approx(cheapest_transport(have, want, cost), abs=1e-8)
