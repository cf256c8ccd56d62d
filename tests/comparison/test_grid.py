import pytest
from tests.comparison.tasks import Whole

import shoal
from shoal import Flash, KAnonymity, LDiversity, Mondrian
from shoal.comparison.grid import grid
from shoal.errors import InputError


def told(trials):
    return [(trial.method, trial.options, str(trial.model), trial.k) for trial in trials]


def test_every_method_meets_every_model():
    methods = ["mondrian", ("flash", {"max_suppression": 0}), Whole(seed=4, note="mine")]
    assert told(grid((), [2, 3], methods, 0)) == [
        ("mondrian", {}, "k-anonymity(k=2)", 2),
        ("flash", {"max_suppression": 0}, "k-anonymity(k=2)", 2),
        ("whole", {"note": "mine"}, "k-anonymity(k=2)", 2),
        ("mondrian", {}, "k-anonymity(k=3)", 3),
        ("flash", {"max_suppression": 0}, "k-anonymity(k=3)", 3),
        ("whole", {"note": "mine"}, "k-anonymity(k=3)", 3),
    ]


def test_every_k_is_joined_with_every_model():
    models = ["l-diversity(2, disease)", LDiversity(3, "disease")]
    trials = grid(models, [4, 5], "mondrian", None)
    assert [trial.model for trial in trials] == [
        KAnonymity(k) & LDiversity(least, "disease") for least in (2, 3) for k in (4, 5)
    ]
    assert [trial.k for trial in trials] == [4, 5, 4, 5]


def test_single_things_need_no_list():
    [trial] = grid("t-closeness(0.2, disease)", (), Flash(), 0)
    assert (trial.method, trial.k) == ("flash", None)
    [trial] = grid((), 5, "mondrian", 0)
    assert (trial.algorithm, trial.k) == (Mondrian(), 5)


@pytest.mark.parametrize(
    ("models", "k", "methods", "match"),
    [
        ((), (), ["mondrian"], "no guarantee is requested"),
        ((), [1], ["mondrian"], "k must be"),
        ((), [5], [], "no method to compare"),
        ((), [5], ["mondriaan"], "no method 'mondriaan'"),
        ((), [5], [("flash", {"speed": 1})], "flash has no option 'speed'"),
        ((), [5], [("flash", "fast")], "options must be a mapping, not str"),
        ((), [5], ["flash", {"max_suppression": 0}], "a pair .* not dict"),
        ((), [5], [Mondrian], "an instance, not Mondrian"),
        ([5], (), ["mondrian"], "or its expression, not int"),
        (["k-anonymous"], (), ["mondrian"], "no privacy model"),
    ],
)
def test_what_is_asked_wrongly_is_refused_before_anything_runs(models, k, methods, match):
    with pytest.raises(InputError, match=match):
        shoal.compare(
            shoal.datasets.load("fars-sample"), models=models, k=k, methods=methods, processes=1
        )
