import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import coo_array, csr_array
from tests.examples import examples
from tests.risk.matchings.enumeration import Enumerated, attacks

from shoal.errors import InputError
from shoal.risk.matchings.structure import NOWHERE, split


def kept(structure):
    """Return the whole matrix, put together from its components."""
    whole = np.zeros((structure.size, structure.size))
    for part in structure.components:
        whole[np.ix_(part.rows, part.columns)] = part.dense
    return whole


@given(attacks())
@examples(150)
def test_what_stays_are_the_pairs_of_perfect_matchings(attack):
    matrix, mapping = attack
    known = Enumerated(matrix)
    if not known.found:
        with pytest.raises(InputError, match="no perfect matching"):
            split(matrix, mapping)
        return
    possible = np.array([[share > 0 for share in row] for row in known.marginals()])
    for given_as in (matrix, csr_array(matrix)):
        structure = split(given_as, mapping)
        assert np.array_equal(kept(structure), np.where(possible, matrix, 0))
        for part in structure.components:
            true = [known_at in part.columns for known_at in mapping[part.rows]]
            usable = np.array(true) & possible[part.rows, mapping[part.rows]]
            assert np.array_equal(part.mapping != NOWHERE, usable)
            found = part.columns[part.mapping[usable]]
            assert np.array_equal(found, mapping[part.rows][usable])


@given(attacks())
@examples(60)
def test_components_hang_together_and_do_not_touch(attack):
    from scipy.sparse.csgraph import connected_components

    matrix, mapping = attack
    if not Enumerated(matrix).found:
        return
    structure = split(matrix, mapping)
    size = structure.size
    rows = np.concatenate([part.rows for part in structure.components])
    assert sorted(rows) == list(range(size))
    whole = kept(structure)
    graph = np.block([[np.zeros((size, size)), whole], [whole.T, np.zeros((size, size))]])
    assert connected_components(csr_array(graph))[0] == len(structure.components)
    assert [part.rows[0] for part in structure.components] == sorted(
        part.rows[0] for part in structure.components
    )


@given(attacks())
@examples(30)
def test_edges_and_the_dense_form_say_the_same(attack):
    matrix, mapping = attack
    if not Enumerated(matrix).found:
        return
    pairs = zip(
        split(matrix, mapping).components,
        split(csr_array(matrix), mapping).components,
        strict=True,
    )
    for dense, sparse in pairs:
        assert np.array_equal(dense.dense, sparse.dense)
        assert all(map(np.array_equal, dense.edges, sparse.edges))
        assert dense.share == sparse.share


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        ([[1, 2, 3], [1, 2, 3]], "as many rows as columns, not 2 × 3"),
        ([1, 2], "as many rows as columns, not 2"),
        (3.0, "not a single number"),
        ([], "as many rows as columns, not 0"),
        ([[1, 2], [3]], "rows of equal length"),
        ([["secret", 1], [1, 1]], "must contain numbers"),
        ([[1, np.nan], [np.inf, 1]], "2 entries of the attack matrix are missing or infinite"),
        ([[1, -0.125], [1, 1]], "1 entry of the attack matrix is negative"),
        ([[1, 0], [1, 0]], "at most 1 of 2 rows can have a record of their own"),
        ([[0.0]], "at most 0 of 1"),
    ],
)
def test_what_is_no_attack_is_refused_without_its_values(matrix, told):
    with pytest.raises(InputError, match=told) as refused:
        split(matrix)
    assert "secret" not in str(refused.value)
    assert "0.125" not in str(refused.value)


def test_sums_are_checked_on_request():
    rows = [[0.5, 0.5], [0.25, 0.75]]
    assert split(rows, sums="rows").size == 2
    assert split([[0.5, 0.5], [0.5, 0.5]], sums="both").size == 2
    with pytest.raises(InputError, match="2 columns of the attack matrix do not sum to 1"):
        split(rows, sums="both")
    with pytest.raises(InputError, match=r"1 rows .* the first is number 1"):
        split(csr_array([[1.0, 0.0], [0.5, 0.75]]), sums="rows")
    with pytest.raises(InputError, match="sums must be one of any, rows, both"):
        split(rows, sums="columns")


@pytest.mark.parametrize("mapping", [[0, 0], [0], [1, 2], [0.0, 1.0], [[0, 1]], ["a", "b"]])
def test_a_mapping_is_a_permutation(mapping):
    with pytest.raises(InputError, match="each from 0 to 1 once"):
        split(np.ones((2, 2)), mapping)


def test_sparse_matrices_are_read_as_they_are_meant_and_left_alone():
    entries = coo_array(([1.0, 2.0, 3.0, 0.0], ([0, 0, 1, 1], [0, 0, 1, 0])), shape=(2, 2))
    first, second = split(entries).components
    assert first.dense.tolist() == [[3.0]]
    assert second.dense.tolist() == [[3.0]]
    assert entries.nnz == 4


def test_a_true_record_that_is_ruled_out_is_nowhere():
    (part,) = split([[1, 1], [1, 1]], [1, 0]).components
    assert part.mapping.tolist() == [1, 0]
    first, second = split([[1, 1], [0, 1]], [1, 0]).components
    assert first.mapping.tolist() == second.mapping.tolist() == [NOWHERE]


def test_no_entry_is_shown():
    assert "0.123" not in repr(split([[0.123]]))
