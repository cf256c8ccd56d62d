from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Auto, FreeformAnonymity, KAnonymity, LDiversity, Table


def numbers(rows, columns=2, **more):
    draw = np.random.default_rng(0)
    names = [f"q{i}" for i in range(columns)]
    data = pa.table({name: draw.integers(0, 1000, rows) for name in names})
    return Table.from_arrow(data, {name: {"role": "quasi", **more} for name in names})


@pytest.mark.parametrize(
    ("table", "model", "time_limit", "method"),
    [
        (numbers(40), KAnonymity(3), 60, "optimal"),
        (numbers(40), KAnonymity(8), 60, "anneal"),  # too many ways to group by eight
        (numbers(2_000), KAnonymity(5), 60, "anneal"),
        (numbers(500_000, 8), KAnonymity(5), 60, "mondrian"),
        (numbers(2_000, hierarchy={"intervals": [10, 100]}), KAnonymity(5), 60, "mondrian"),
        (numbers(2_000), FreeformAnonymity(5), 60, "doka-hungarian"),
        (numbers(5_000), FreeformAnonymity(5), 60, "anneal"),
        (numbers(2_000, hierarchy={"mask": "right"}), FreeformAnonymity(5), 60, "doka-hungarian"),
        (numbers(5_000, hierarchy={"mask": "right"}), FreeformAnonymity(5), 60, "anneal"),
        (numbers(50_000), FreeformAnonymity(5), 60, "anneal"),
        (numbers(60).distinct().table, KAnonymity(5), 60, "mondrian"),  # weighted
    ],
)
def test_the_choice_follows_the_table_the_model_and_the_time(table, model, time_limit, method):
    chosen, reason = Auto(time_limit=time_limit).choose(table, model)
    assert chosen.name == method
    assert reason


def test_less_time_means_a_shorter_search():
    full, _ = Auto(time_limit=600).choose(numbers(20_000, 8), KAnonymity(5))
    short, _ = Auto(time_limit=2.5 + 2).choose(numbers(20_000, 8), KAnonymity(5))
    hasty, _ = Auto(time_limit=0.5).choose(numbers(20_000, 8), KAnonymity(5))
    assert (full.name, full.time_limit) == ("anneal", None)
    assert short.name in ("anneal", "mondrian")
    assert hasty.name == "mondrian"


def test_the_release_says_which_method_was_taken_and_why():
    release = shoal.anonymize(numbers(200), KAnonymity(3), "auto", seed=4)
    assert release.run.method == "auto"
    assert release.run.notes[0].startswith("auto chose anneal: ")
    assert release.verify()


def test_a_sensitive_model_is_never_left_to_freeform_methods():
    table = Table.from_arrow(
        pa.table({"q": list(range(50)), "illness": ["a", "b"] * 25}),
        {"q": "quasi", "illness": "sensitive"},
    )
    chosen, _ = Auto().choose(table, FreeformAnonymity(3) & LDiversity(2, "illness"))
    assert not chosen.name.startswith("doka")


def test_no_time_is_refused():
    with pytest.raises(shoal.InputError, match="time_limit"):
        Auto(time_limit=0)
