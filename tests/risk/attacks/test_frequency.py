from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.matchings.enumeration import Enumerated

import shoal
from shoal.errors import InputError
from shoal.risk.attacks import beliefs_around, frequency, frequency_attack, item_frequencies
from shoal.risk.matchings.worm import sample

BASKETS = ["ab", "abc", "acc", "d", "ad", "ab"]  # frequencies: a 5, b 3, c 2, d 2 of 6


def test_items_are_counted_once_a_transaction():
    assert item_frequencies(BASKETS) == {"a": 5 / 6, "b": 1 / 2, "c": 1 / 3, "d": 1 / 3}


def test_a_table_has_a_row_for_each_item_of_a_transaction():
    pairs = [(str(place), item) for place, basket in enumerate(BASKETS) for item in basket]
    table = shoal.Table(
        (
            shoal.Column.encode("basket", [basket for basket, _ in pairs]),
            shoal.Column.encode("item", [item for _, item in pairs]),
        )
    )
    found = item_frequencies(table, transaction="basket", item="item")
    assert found == item_frequencies(BASKETS)
    with pytest.raises(InputError, match="name the columns"):
        item_frequencies(table)


def test_whoever_knows_frequencies_exactly_finds_all_items_that_have_their_own():
    shares = list(item_frequencies(BASKETS).values())
    attack = frequency_attack(beliefs_around(shares, 0.01), shares)
    assert attack.matrix.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    assert attack.swept.marginals.tolist() == [1, 1, 0.5, 0.5]
    assert attack.o_estimate == 3
    assert attack.compliant == 4


def test_the_attacker_of_lakshmanan_et_al_gets_more_than_one_over_degree():
    # a staircase: only one matching, so all are found, and Σ 1/degree says 1 + 1/2 + 1/3
    attack = frequency_attack([(1, 1), (1, 2), (1, 3)], [1, 2, 3])
    assert attack.swept.marginals.tolist() == [1, 1, 1]
    assert attack.o_estimate == pytest.approx(11 / 6)


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
@examples(120)
def test_the_matrix_and_the_sweep_agree(size, seed):
    rng = np.random.default_rng(seed)
    observed = rng.integers(0, 5, size) / 4
    mapping = rng.permutation(size)
    low = observed[mapping] - rng.integers(-1, 3, size) / 4
    high = np.maximum(observed[mapping] + rng.integers(-1, 3, size) / 4, low)
    attack = frequency_attack(np.column_stack([low, high]), observed, mapping=mapping)
    believed = (low[:, None] <= observed) & (observed <= high[:, None])
    assert np.array_equal(attack.matrix, believed)
    known = Enumerated(attack.matrix)
    if not known.found:
        with pytest.raises(InputError, match="no perfect matching"):
            _ = attack.swept
        return
    chances = [float(chance) for chance in known.cracks(mapping)]
    assert attack.swept.marginals.tolist() == pytest.approx(chances, rel=1e-12)
    inside = believed[np.arange(size), mapping]
    shares = [Fraction(1, int(d)) for d in believed.sum(axis=1)[inside]]
    assert attack.o_estimate == pytest.approx(float(sum(shares)))
    assert attack.compliant == inside.sum()


def test_many_items_are_held_sparsely():
    observed = np.arange(3000)
    attack = frequency_attack(beliefs_around(observed, 1), observed[::-1], mapping=observed[::-1])
    assert attack.matrix.nnz == 3 * 3000 - 2
    few = frequency_attack(beliefs_around(observed[:9], 1), observed[:9][::-1])
    assert np.array_equal(few.matrix, attack.matrix.toarray()[:9, -9:])


@pytest.mark.parametrize(
    ("beliefs", "observed", "message"),
    [
        ([(0, 1)], [1, 2], "1 beliefs and 2 released items"),
        ([(1, 0), (0, 1)], [1, 2], "1 of 2 beliefs are missing, or their lowest"),
        ([(float("nan"), 0)], [1], "1 of 1 beliefs are missing"),
        ([1, 2], [1, 2], "beliefs must be pairs of numbers"),
        ([("secret", 2)], [1], "beliefs must be pairs of numbers"),
        ([(0, 1)], [-1], "frequencies must be numbers of at least 0"),
        ([(0, 1)], ["secret"], "frequencies must be numbers"),
    ],
)
def test_what_is_no_attack_is_refused(beliefs, observed, message):
    with pytest.raises(InputError, match=message) as refused:
        frequency_attack(beliefs, observed)
    assert "secret" not in str(refused.value)


def test_no_transactions_are_refused():
    with pytest.raises(InputError, match="transactions are empty"):
        item_frequencies([])


def test_what_the_sweep_finds_is_told_as_any_other_figure():
    attack = frequency_attack([(1, 1), (2, 3), (2, 3)], [1, 2, 3])
    found = attack.psi()
    assert (found.value, found.method, found.guarantee, found.forced) == (2, "exact", "exact", 1)
    assert found.low <= 2 <= found.high
    assert found.high - found.low < 1e-12
    assert attack.psi(method="fast").guarantee == "none"


def test_too_many_states_leave_the_sweep_for_other_ways(monkeypatch):
    observed = np.arange(60)
    known = frequency_attack(beliefs_around(observed, 4), observed).psi()
    monkeypatch.setattr(frequency, "MAX_STEPS", 10)
    other = frequency_attack(beliefs_around(observed, 4), observed)
    assert other.swept is None
    assert other.psi().value == pytest.approx(known.value, rel=1e-9)
    wide = frequency_attack(beliefs_around(observed, 12), observed)
    walked = wide.psi(seed=3, half_width=0.05)
    assert (walked.method, walked.guarantee) == ("worm", "95 %")
    assert walked.low < walked.value < walked.high


def test_a_walk_tells_the_same_as_the_sweep():
    observed = np.arange(80)
    attack = frequency_attack(beliefs_around(observed, 5), observed)
    exact = attack.psi().value
    walked = walk(attack.matrix, seed=1)
    assert walked == pytest.approx(exact, rel=0.03)


def walk(matrix, seed):
    """Return the expected cracks by a walk, whatever could be had exactly."""
    rows, columns = np.nonzero(matrix)
    indptr = np.searchsorted(rows, np.arange(len(matrix) + 1))
    every = np.arange(len(matrix))
    ones = np.ones(len(matrix), dtype=np.int64)
    return sample(indptr, columns, np.ones(len(rows)), every, ones, every, seed=seed).value
