"""Classifiers of tables vote behind noise, without torch."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.robust.forks import in_a_fork

from shoal.errors import InputError
from shoal.robust import NoisyVote

STREAM = np.random.default_rng(1)
ROWS = STREAM.normal(size=(300, 3)) * [1, 10, 1]
CLASSES = np.where(ROWS[:, 0] + ROWS[:, 1] / 10 > 0, "yes", "no")
PARTS = [(ROWS[i::3], CLASSES[i::3]) for i in range(3)]


class Sure:
    """A classifier that always gives the same probabilities."""

    def __init__(self, classes, shares):
        self.classes_ = np.array(list(classes))
        self.shares = np.array(shares)

    def predict_proba(self, rows):
        return np.tile(self.shares, (len(rows), 1))


def test_without_noise_the_vote_is_that_of_the_members():
    voted = NoisyVote.fit(DecisionTreeClassifier(max_depth=2, random_state=0), PARTS)
    members = [DecisionTreeClassifier(max_depth=2, random_state=0).fit(*part) for part in PARTS]
    named = np.stack([member.predict(ROWS) for member in members])
    most = np.where((named == "yes").sum(0) >= 2, "yes", "no")
    assert (voted.predict(ROWS) == most).all()
    assert voted.predict_proba(ROWS)[:, 1] == pytest.approx((named == "yes").mean(0))


@pytest.mark.parametrize(
    ("members", "winner", "tied"),
    [
        ([Sure("ab", [0.6, 0.4]), Sure("ab", [0.6, 0.4]), Sure("ab", [0, 1])], "a", False),
        ([Sure("ab", [0.6, 0.4]), Sure("ab", [0.1, 0.9])], "b", True),  # the surer
        ([Sure("ab", [0.75, 0.25]), Sure("ab", [0.25, 0.75])], "a", True),  # the first
        ([Sure("a", [1.0]), Sure("bc", [0.5, 0.5]), Sure("bc", [0.4, 0.6])], "c", True),
    ],
)
def test_ties_are_broken_as_said(members, winner, tied):
    voted = NoisyVote(members)
    assert voted.predict(np.zeros((1, 1)))[0] == winner
    assert bool(voted.vote(np.zeros((1, 1))).tied[0]) == tied


def test_noise_is_fresh_and_in_the_units_of_its_column():
    class Watching(Sure):
        def predict_proba(self, rows):
            seen.append(rows)
            return super().predict_proba(rows)

    seen = []
    voted = NoisyVote([Watching("ab", [1, 0])] * 2, 0.5, "uniform", units=[1, 0, 10], seed=2)
    for _ in range(3):
        voted.predict(np.zeros((400, 3)))
    drawn = np.concatenate(seen)
    assert len(np.unique(drawn[:, 0])) == 2400
    assert (drawn[:, 1] == 0).all()
    assert np.abs(drawn).max(0) == pytest.approx([0.5, 0, 5], rel=0.02)


def test_fitted_units_are_the_columns_deviations_and_a_seed_brings_the_same():
    made = [NoisyVote.fit(LogisticRegression(), PARTS, 0.5, seed=4) for _ in range(2)]
    assert made[0].units == pytest.approx(ROWS.std(axis=0))
    first, second = (each.vote(ROWS).counts for each in made)
    assert (first == second).all()
    assert (made[0].vote(ROWS).counts != first).any()


def test_members_are_not_to_be_found():
    voted = NoisyVote([Sure("ab", [1, 0])], 1.0)
    assert not any(isinstance(value, Sure | tuple) for value in vars(voted).values())
    with pytest.raises(InputError, match="cannot be copied"):
        copy.copy(voted)


@pytest.mark.parametrize("seed", [None, 5])
def test_a_fork_does_not_repeat_its_parent_unless_seeded(seed):
    class Telling(Sure):
        def predict_proba(self, rows):
            seen.append(rows)
            return super().predict_proba(rows)

    seen = []
    voted = NoisyVote([Telling("ab", [1, 0])], 1.0, seed=seed)

    def draw():
        voted.predict(np.zeros((2, 3)))
        return seen.pop().tobytes()

    assert (in_a_fork(draw) == draw()) is (seed is not None)


def test_wrong_options_are_refused():
    with pytest.raises(InputError, match="at least one"):
        NoisyVote([])
    with pytest.raises(InputError, match="no distribution"):
        NoisyVote([Sure("ab", [1, 0])], 1.0, "cauchy")


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("ours", [True, False])
def test_frames_are_read_by_name(frame, ours):
    names = ("c", "a", "b")
    made = FRAMES[frame]({name: ROWS[:, place] for place, name in enumerate(names)})
    turned = FRAMES[frame]({name: ROWS[:, names.index(name)] for name in sorted(names)})
    if ours:
        voted = NoisyVote.fit(LogisticRegression(), [(made, CLASSES)])
    elif frame == "pandas":
        voted = NoisyVote([LogisticRegression().fit(made, CLASSES)])
    else:
        voted = NoisyVote([LogisticRegression().fit(ROWS, CLASSES)], columns=names)
    expected = LogisticRegression().fit(ROWS, CLASSES).predict(ROWS)
    for rows in (made, turned, ROWS):
        assert (voted.predict(rows) == expected).all()


def test_columns_may_be_numbered():
    made = pd.DataFrame(ROWS)
    voted = NoisyVote.fit(LogisticRegression(), [(made, CLASSES)])
    assert (voted.predict(made[[2, 1, 0]]) == voted.predict(ROWS)).all()


def test_missing_values_are_for_those_who_can_take_them():
    holes = ROWS.copy()
    holes[::4, 1] = np.nan
    holes[:, 2] = np.nan
    voted = NoisyVote.fit(DecisionTreeClassifier(max_depth=2), [(holes, CLASSES)], 0.1, seed=1)
    assert voted.units == pytest.approx([ROWS[:, 0].std(), np.nanstd(holes[:, 1]), 0])
    assert voted.predict(holes).shape == (300,)
    with pytest.raises(InputError, match="300 rows have missing values, which LogisticRegression"):
        NoisyVote([LogisticRegression().fit(ROWS, CLASSES)]).predict(holes)
    with pytest.raises(InputError, match="300 rows have missing values, which LogisticRegression"):
        NoisyVote.fit(LogisticRegression(), [(holes, CLASSES)])


def test_nothing_asked_is_nothing_answered():
    voted = NoisyVote([LogisticRegression().fit(ROWS, CLASSES)], 0.1)
    assert voted.predict(ROWS[:0]).shape == (0,)
    assert voted.predict_proba(ROWS[:0]).shape == (0, 2)


NAMED = pd.DataFrame(ROWS, columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (ROWS[:, :2], "rows must have 3 columns, as classifiers and units do, not 2"),
        (ROWS[0], "give one row as"),
        (ROWS * np.inf, "rows must be finite"),
        ([["secret"] * 3], "rows must be numbers"),
        ([[1, 2, 3], [4, 5]], "rows must be numbers"),
        (NAMED.drop(columns="b"), "the frame lacks b; the classifiers use a, b, c"),
        (NAMED[["a", "b", "c", "c"]], "two columns of the same name"),
        (NAMED.assign(b="secret"), "column 'b' must be numbers"),
        (NAMED.assign(b=np.inf), "column 'b' must be finite; 300 numbers are not"),
    ],
)
def test_rows_that_cannot_be_asked_about_are_refused_without_a_value(rows, told):
    voted = NoisyVote.fit(LogisticRegression(), [(NAMED, CLASSES)], 0.1)
    with pytest.raises(InputError, match=told) as refused:
        voted.predict(rows)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("members", "options", "told"),
    [
        ([LogisticRegression()], {}, "must be fitted; LogisticRegression is not"),
        ([LinearSVC().fit(ROWS, CLASSES)], {}, "predict_proba"),
        ([Sure("ab", [1, 0]), Sure([0, 1], [1, 0])], {}, "others text"),
        ([Sure("ab", [1, 0])], {"units": [1, -1]}, "units must be"),
        ([Sure("ab", [1, 0])], {"units": "m"}, "units must be"),
        ([Sure("ab", [1, 0])], {"scale": "0.1"}, "scale must be a number of at least 0"),
        (
            [DecisionTreeClassifier().fit(NAMED[[*names]], CLASSES) for names in ("abc", "bca")],
            {},
            "the same columns in the same order",
        ),
    ],
)
def test_members_that_cannot_vote_are_refused(members, options, told):
    with pytest.raises(InputError, match=told):
        NoisyVote(members, **options)


@pytest.mark.parametrize(
    ("matrices", "told"),
    [
        ([], "matrices is empty"),
        ((ROWS, CLASSES), "a list of pairs"),
        ([(ROWS, CLASSES[:5])], "one class per row"),
        ([(ROWS[:0], CLASSES[:0])], "at least 1 row"),
        ([(ROWS, CLASSES), (ROWS[:, :2], CLASSES)], "the same number of columns"),
        ([(ROWS, ["secret"] * 300)], "only one class"),
    ],
)
def test_matrices_that_cannot_be_learned_from_are_refused(matrices, told):
    with pytest.raises(InputError, match=told) as refused:
        NoisyVote.fit(LogisticRegression(), matrices)
    assert "secret" not in str(refused.value)


def test_units_must_be_one_a_column():
    voted = NoisyVote([LogisticRegression().fit(ROWS, CLASSES)], 0.1, units=[1, 2])
    with pytest.raises(
        InputError, match="rows must have 2 columns, as classifiers and units do, not 3"
    ):
        voted.predict(ROWS)


def test_torch_is_not_needed():
    program = "import sys; from shoal.robust import NoisyVote; print('torch' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert shown.stdout.decode().strip() == "False"
