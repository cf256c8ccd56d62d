"""Scores by counting, sensitivities by trying every neighbour, chances by their definition."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.lattice.drawing import SEEDS, draw_table
from tests.methods.lattice.letters import CELLS, neighbours, small

import shoal
from shoal import InputError, Table
from shoal.dp import expected_kept, kept_sensitivity, mechanisms
from shoal.dp.planning import surely_kept
from shoal.methods.lattice.lattice import Lattice
from shoal.methods.lattice.node_choice import (
    GRID,
    DictionaryInterpolation,
    LevelInterpolation,
    NodeChoice,
    all_published,
    score_sensitivity,
)

FILLS = [None, LevelInterpolation(), DictionaryInterpolation(0, 1)]


@given(seed=SEEDS)
@examples(60)
def test_records_expected_to_be_kept_are_counted_at_every_node(seed):
    drawn = draw_table(np.random.default_rng(seed))
    k, beta = 2 + seed % 3, (0.3, 0.7, 1.0)[seed % 3]
    choice = NodeChoice.of(drawn.table, k=k, beta=beta, epsilon=1, n0=20)
    worth = {
        size: expected_kept(size, k, str(beta)) if beta < 1 else size * (size >= k)
        for size in range(drawn.records + 1)
    }
    for node in drawn.nodes:
        classes = Counter()
        for members in drawn.classes(node):
            for i in members:
                key = (members[0], drawn.illness[i])  # the sensitive column is published too
                classes[key] += drawn.counts[i]
        exact = sum((worth[size] for size in classes.values()), Fraction(0))
        assert choice.kept[node] == pytest.approx(float(exact), abs=len(classes) * GRID)
        assert choice.kept[node] % GRID == 0


@given(seed=SEEDS)
@examples(30)
def test_classes_apart_are_those_of_a_further_attribute(seed):
    drawn = draw_table(np.random.default_rng(seed))
    apart = all_published(drawn.table)
    assert apart.apart == ("illness",)
    further = Table(
        (*drawn.table.quasi_columns, replace(drawn.table["illness"], role=shoal.Role.QUASI)),
        drawn.table.counts,
    )
    for k in (1, 3):
        inside, whole = apart.measure(k, threads=2), Lattice.of(further).measure(k, threads=1)
        for name in ("classes", "kept", "suppressed", "squares"):
            assert np.array_equal(getattr(inside, name), getattr(whole, name)[..., 0])
        for node in drawn.nodes:
            found = apart.measure_node(node, k)
            assert found[2] == whole.suppressed[(*node, 0)]


def test_every_column_that_is_published_tells_records_apart_and_no_other():
    cells = {"age": [1, 1, 1, 1], "ill": list("aabb"), "note": list("uvww"), "name": list("efgh")}
    roles = {"age": "quasi", "ill": "sensitive", "note": "insensitive", "name": "identifier"}
    table = Table.from_arrow(pa.table(cells), roles)
    for dropped, kept in (((), 2), (("note",), 4), (("ill", "note"), 4)):
        some = Table(tuple(c for c in table if c.name not in dropped))
        choice = NodeChoice.of(some, k=2, epsilon=1, n0=4, score="kept")
        assert choice.kept.tolist() == [kept, kept]


@pytest.mark.parametrize("beta", [1.0, 0.6])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("fill", FILLS, ids=str)
def test_no_neighbour_moves_a_score_by_more_than_its_sensitivity(k, beta, fill):
    score = "kept" if beta == 1 else "expected"
    made, most = {}, 0.0

    def choice(rows):
        key = tuple(sorted(rows))
        if key not in made:
            made[key] = NodeChoice.of(
                small(rows), k=k, beta=beta, epsilon=0.8, n0=3, score=score, interpolation=fill
            )
        return made[key]

    for rows, larger in neighbours(3):
        one = choice(rows)
        for other in map(choice, larger):
            step = other.scores - one.scores
            assert step.min() >= 0  # monotone
            assert step.max() <= one.sensitivity == other.sensitivity
            most = max(most, float(step.max()))
            loss = np.abs(np.log(other.probabilities / one.probabilities))
            assert loss.max() <= 0.8 + 1e-12
    if score == "kept" and fill is None:
        assert most == k
    assert most > 0.4


def of_one_class(size, k, beta):
    """The choice of a table with one class of this size."""
    rows = CELLS[:size][:1]
    table = Table(small(rows).columns, np.array([size] * len(rows)))
    return NodeChoice.of(table, k=k, beta=beta, epsilon=0.1, n0=1000)


@pytest.mark.parametrize("k", [2, 5, 75, 1000, 10_000])
@pytest.mark.parametrize("beta", [0.999999, 0.7, 1 / 3, 0.05])
def test_no_class_of_any_size_moves_a_score_by_more_than_the_sensitivity(k, beta):
    """In fractions, with all roundings: near the steepest size and where exact counts end."""
    steepest, last = math.ceil(k / beta) - 2, surely_kept(k, beta)
    for middle in (steepest, k, last):
        sizes = range(max(middle - 1, 0), middle + 3)
        found = [of_one_class(size, k, beta) for size in sizes]
        for one, more in pairwise(found):
            fine, finer = (Fraction(choice.scores[0, 0]) for choice in (one, more))
            assert 0 <= finer - fine <= Fraction(one.sensitivity)
            assert more.sensitivity == one.sensitivity
            assert abs(Fraction(one.kept[0, 0]) % Fraction(GRID)) == 0


def test_a_live_draw_gets_the_scores_as_they_are_and_returns_an_index_only(monkeypatch):
    given = []

    def drawing(*space, scale):
        given.append((space, Fraction(scale)))
        return lambda scores: given.append(scores) or 3

    opendp = mechanisms._opendp()
    monkeypatch.setattr(opendp.m, "make_noisy_max", drawing)
    choice = NodeChoice.of(small(CELLS * 3), k=2, beta=0.7, epsilon=0.1, n0=20)
    assert choice.draw() == np.unravel_index(3, choice.scores.shape)
    (space, scale), scores = given
    assert scores == choice.scores.ravel().tolist()
    assert all(Fraction(score) % Fraction(GRID) == 0 for score in scores)
    assert Fraction(choice.sensitivity) / scale <= Fraction(0.1)
    assert space[1:] == (opendp.linf_distance(T=float, monotonic=True), space[2])
    assert space[2] == opendp.zero_concentrated_divergence()  # Gumbel noise


def test_the_published_score_moves_by_no_more_than_the_paper_says():
    for rows, larger in neighbours(3):
        if rows:
            one = NodeChoice.of(small(rows), k=2, epsilon=1, penalty=1.5, n0=1, score="published")
            for more in larger:
                other = replace(one, **vars_of(more, score="published", penalty=1.5))
                assert np.abs(other.scores - one.scores).max() <= one.sensitivity


def vars_of(rows, **options):
    found = NodeChoice.of(small(rows), k=2, epsilon=1, n0=1, **options)
    return {"lattice": found.lattice, "kept": found.kept}


def test_the_sensitivity_is_that_of_the_records_kept_and_some_rounding():
    assert score_sensitivity(75, 0.7) == pytest.approx(4.7505, abs=1e-4)
    assert 0 < score_sensitivity(75, 0.7) - kept_sensitivity(75, 0.7) < 1e-5
    assert score_sensitivity(75, 1.0) == pytest.approx(75)


@examples(25)
@given(st.integers(0, 10**6), st.floats(0.05, 3), st.floats(0.2, 5), st.floats(1, 50))
def test_chances_follow_from_the_scores(seed, epsilon, penalty, n0):
    drawn = draw_table(np.random.default_rng(seed))
    for score in ("expected", "kept", "published"):
        choice = NodeChoice.of(
            drawn.table, k=2, beta=0.7, epsilon=epsilon, penalty=penalty, n0=n0, score=score
        )
        two = 2 if score == "published" else 1
        weights = {
            node: math.exp(
                epsilon * (choice.scores[node] - choice.scores.max()) / (two * choice.sensitivity)
            )
            for node in drawn.nodes
        }
        for node, weight in weights.items():
            assert choice.probabilities[node] == pytest.approx(weight / sum(weights.values()))
            g = np.mean([n / max(h, 1) for n, h in zip(node, drawn.heights, strict=True)])
            assert choice.generalization[node] == pytest.approx(g)
        assert choice.probabilities[choice.best] == choice.probabilities.max()
        assert choice.mass(np.ones(choice.lattice.shape)) == pytest.approx(1)
        assert choice.mass(lambda c: c.suppression > 2) == 0


def test_a_penalty_weighs_suppression_against_generalization():
    table = small([("a", "x")] * 6 + [("b", "x")] * 3 + [("c", "y")])
    choice = NodeChoice.of(table, k=4, epsilon=50, n0=10, score="kept")
    assert replace(choice, penalty=0.5).best == (0, 0)  # 6 kept, against 9 less 10 · 1/4 / 0.5
    assert choice.best == (1, 0)
    assert replace(choice, penalty=100).best == (2, 1)


def test_a_grid_is_what_each_budget_and_penalty_gives():
    choice = NodeChoice.of(small(CELLS * 2), k=3, beta=0.6, epsilon=1, n0=12)

    def good(each):
        return (each.suppression <= 0.5) & (each.generalization < 0.8)

    found = choice.grid([0.1, 2], [0.5, 1, 3], good)
    assert found.shape == (2, 3)
    for i, epsilon in enumerate((0.1, 2)):
        for j, penalty in enumerate((0.5, 1, 3)):
            fresh = NodeChoice.of(
                small(CELLS * 2), k=3, beta=0.6, epsilon=epsilon, penalty=penalty, n0=12
            )
            assert found[i, j] == fresh.mass(good(fresh))


def test_nodes_are_drawn_as_often_as_they_are_likely():
    choice = NodeChoice.of(small(CELLS * 2), k=3, beta=0.6, epsilon=2, n0=12)
    draws = 2000
    seen = Counter(choice.draw(seed) for seed in range(draws))
    for node in product(*map(range, choice.lattice.shape)):
        chance = choice.probabilities[node]
        assert abs(seen[node] / draws - chance) < 6 * math.sqrt(chance / draws)
    assert choice.draw() in seen


def test_a_small_or_empty_table_has_scores_too():
    empty = NodeChoice.of(small([]), k=2, beta=0.6, epsilon=1, n0=12)
    alone = NodeChoice.of(small([("a", "x")]), k=2, beta=0.6, epsilon=1, n0=12)
    assert empty.lattice.shape == alone.lattice.shape == (3, 2)
    assert np.array_equal(empty.scores, alone.scores)


def test_the_shape_of_the_lattice_does_not_depend_on_the_records():
    roles = {"bare": "quasi", "ill": "sensitive"}
    for bare in ([], ["x"], ["x", "y"], [None]):
        cells = pa.table({"bare": pa.array(bare, pa.string()), "ill": ["u"] * len(bare)})
        assert all_published(Table.from_arrow(cells, roles)).shape == (2,)


def test_two_choices_are_as_far_apart_as_their_chances():
    choice = NodeChoice.of(small(CELLS * 2), k=3, beta=0.6, epsilon=2, n0=12)
    other = replace(choice, penalty=3)
    assert choice.distance(choice) == 0
    gap = np.abs(choice.probabilities - other.probabilities).sum() / 2
    assert choice.distance(other) == pytest.approx(gap)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "k must be"),
        ({"beta": 0}, "beta must be"),
        ({"epsilon": 0}, "epsilon must be"),
        ({"penalty": 0}, "penalty must be"),
        ({"n0": 0}, "n0 must be"),
        ({"score": "best"}, "score must be one of"),
    ],
)
def test_options_without_meaning_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        NodeChoice.of(small(CELLS), **{"k": 2, "epsilon": 1, "n0": 5, **options})


def test_a_column_that_cannot_be_compared_is_refused_by_its_name():
    cells = pa.table({"age": [1, 2], "list": pa.array([[1], [2]])})
    table = Table.from_arrow(cells, {"age": "quasi", "list": "insensitive"})
    with pytest.raises(InputError, match=r"column 'list'.*leave the column out"):
        NodeChoice.of(table, k=2, epsilon=1, n0=5)


@pytest.fixture(scope="module")
def adult():
    try:
        return shoal.datasets.load("adult", {"salary-class": "quasi"})
    except InputError:
        pytest.skip("needs the adult table in SHOAL_DATA")


def test_the_published_form_on_the_census_table(adult):
    choice = NodeChoice.of(adult, k=75, epsilon=0.1, n0=1, score="published")
    assert choice.mass(choice.suppression <= 0.15) == pytest.approx(0.506215, abs=1e-6)
    assert choice.mass(lambda c: c.suppression <= 0.05) == pytest.approx(0.069372, abs=1e-6)
    bold = replace(choice, epsilon=1)
    assert bold.mass(bold.suppression <= 0.15) == pytest.approx(0.410352, abs=1e-6)
    assert bold.best == (0, 4, 0, 0, 3, 0, 0, 2, 0)
    assert bold.probabilities[bold.best] == pytest.approx(0.380848, abs=1e-6)


def test_expected_records_make_the_best_node_likely_on_the_census_table(adult):
    options = {"k": 75, "beta": 0.7, "epsilon": 0.1, "n0": 30_000}
    expected = NodeChoice.of(adult, **options)
    counted = NodeChoice.of(adult, **options, score="kept")
    assert expected.probabilities.max() > 0.8
    assert counted.probabilities.max() < 0.1
