import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.risk.matchings.enumeration import TRUE, WORKED, Enumerated, worked

from shoal.errors import InputError
from shoal.risk.attacks import MatchingAttack, relation_attack, values_attack


@pytest.mark.parametrize("text", WORKED)
def test_a_relation_is_the_matrix(text):
    attack = relation_attack(worked(text), mapping=TRUE)
    known = Enumerated(attack.matrix)
    assert (known.permanent, sum(known.cracks(TRUE))) == WORKED[text]


def test_a_function_is_asked_about_every_pair():
    attack = relation_attack(lambda age, band: age // 10 == band, [31, 38, 45], [3, 4, 3])
    assert attack.matrix.tolist() == [[1, 0, 1], [1, 0, 1], [0, 1, 0]]
    assert attack.mapping.tolist() == [0, 1, 2]


def test_values_are_looked_up_in_what_is_released():
    known = {"age": [31, 38, 45], "sex": ["f", "m", "f"]}
    released = {
        "age": [range(30, 40), range(30, 50), range(30, 50)],
        "sex": [{"f"}, {"f", "m"}, frozenset("fm")],
    }
    attack = values_attack(known, released)
    assert attack.matrix.tolist() == [[1, 1, 1], [0, 1, 1], [0, 1, 1]]
    assert "age, sex of everyone" in attack.assumptions[0]
    only = values_attack({"sex": known["sex"]}, released)
    assert only.matrix.tolist() == [[1, 1, 1], [0, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    ("relation", "lists", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], (), "only 0 and 1"),
        (lambda one, other: True, (), "give the original and the released"),
        (lambda one, other: True, ([1, 2], [1]), "as many rows as columns, not 2 × 1"),
        ([[1, 0]], (), "as many rows as columns, not 1 × 2"),
    ],
)
def test_what_is_no_relation_is_refused(relation, lists, message):
    with pytest.raises(InputError, match=message):
        relation_attack(relation, *lists)


def test_no_value_is_told_in_a_refusal():
    with pytest.raises(InputError, match="released age: each cell must be") as refused:
        values_attack({"age": [31]}, {"age": [987]})
    assert "987" not in str(refused.value)
    with pytest.raises(InputError, match=r"no released attribute 'agee' \(did you mean 'age'"):
        values_attack({"agee": [31]}, {"age": [{31}]})
    with pytest.raises(InputError, match="at least one attribute"):
        values_attack({}, {})


def test_an_attack_holds_what_it_was_given_and_cannot_be_changed():
    given = np.ones((2, 2))
    attack = MatchingAttack(given, [1, 0], ("all",))
    given[0, 0] = 7
    assert attack.matrix[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        attack.matrix[0, 0] = 7
    assert len(attack) == 2
    with pytest.raises(InputError, match="true mapping"):
        MatchingAttack(given, [1, 1], ())


def test_a_prior_weighs_each_pair():
    attack = relation_attack(np.ones((2, 2))).with_prior([[3, 1], [1, 1]], "A rumour.")
    assert attack.matrix.tolist() == [[3, 1], [1, 1]]
    assert attack.assumptions[-1] == "A rumour."
    with pytest.raises(InputError, match="2 rows and columns, like the attack, not 3"):
        attack.with_prior(np.eye(3), "Too much.")


@pytest.mark.parametrize("text", WORKED)
def test_expected_cracks_are_those_of_the_worked_examples(text):
    found = relation_attack(worked(text), mapping=TRUE).psi()
    assert found.value == pytest.approx(float(WORKED[text][1]), rel=1e-12)


def test_a_prior_may_be_sparse_as_the_attack_may():
    dense, sparse = np.array([[1.0, 2], [3, 4]]), csr_array([[1.0, 0], [0, 5]])
    for weights, prior in ((dense, sparse), (sparse, dense), (sparse, sparse)):
        product = MatchingAttack(weights, None, ()).with_prior(prior, "Hearsay.").matrix
        expected = np.asarray((weights * 1).toarray() if weights is sparse else weights)
        expected = expected * (prior.toarray() if prior is sparse else prior)
        assert np.array_equal(product.toarray(), expected)
