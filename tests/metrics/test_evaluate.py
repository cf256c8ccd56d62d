import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal.metrics.divergence  # noqa: F401
from shoal.errors import InputError
from shoal.metrics import METRICS, evaluate, undefined
from shoal.table.table import Table

kl = sys.modules["shoal.metrics.divergence"]  # the name itself is the function's

ORDER = ["low", "mid", "high"]
CELLS = ["ncp", "class", "pub"]
OPTIONS = {"rank": {"order": ORDER}, "bound": {"bounds": (-5, 20)}}
row = st.fixed_dictionaries(
    {
        "number": st.none() | st.integers(0, 9),
        "bound": st.none() | st.integers(0, 9),
        "rank": st.none() | st.sampled_from(ORDER),
        "name": st.none() | st.sampled_from("abc"),
    }
)
KINDS = {"number": pa.int64(), "bound": pa.int64(), "rank": pa.string(), "name": pa.string()}


def columns(rows):
    return {name: pa.array([r[name] for r in rows], kind) for name, kind in KINDS.items()}


def dense(ids):
    names = sorted(set(ids) - {-1})
    return [i if i < 0 else names.index(i) for i in ids]


def place(name, value, domain):
    """Where a value lies: its number, or its rank among those that occur."""
    if name != "rank":
        return value
    return [v for v in ORDER if v in domain].index(value)


def width(name, values, domain):
    """(greatest − least) / extent, 1 where missing is mixed in."""
    places = [place(name, v, domain) for v in values if v is not None]
    if not places:
        return 0
    if None in values:
        return 1
    every = [place(name, v, domain) for v in domain if v is not None]
    low, high = (-5, 20) if name == "bound" else (min(every), max(every))
    return (max(places) - min(places)) / (high - low) if high > low else 0


def between(name, values, domain):
    """The values of the domain inside the range of these."""
    places = [place(name, v, domain) for v in values if v is not None]
    if not places:
        return {None}
    inside = {
        v for v in domain if v is not None and min(places) <= place(name, v, domain) <= max(places)
    }
    return inside | ({None} & values)


def naive(rows, ids):
    """The metrics of cells, one by one."""
    losses = {"ncp": [], "class": [], "pub": []}
    covers = {}
    for name in KINDS:
        domain = {r[name] for r in rows}
        for g in set(ids) - {-1}:
            values = {r[name] for r, i in zip(rows, ids, strict=True) if i == g}
            covers[name, g] = values if name == "name" else between(name, values, domain)
    alike = {g: tuple(frozenset(covers[name, g]) for name in KINDS) for g in set(ids) - {-1}}
    for name in KINDS:
        domain = {r[name] for r in rows}
        spread = max(len(domain) - 1, 1)
        for g in ids:
            if g < 0:
                for found in losses.values():
                    found.append(1)
                continue
            mixed = {
                r[name] for r, i in zip(rows, ids, strict=True) if i >= 0 and alike[i] == alike[g]
            }
            cover = covers[name, g]
            if name == "name":
                losses["ncp"].append((len(cover) - 1) / len(domain))
                losses["pub"].append((len(cover) - 1) / spread)
                losses["class"].append((len(mixed) - 1) / spread)
                continue
            whole = cover == domain and len(domain) > 1 and name == "bound"  # a star: all bounds
            losses["ncp"].append(1 if whole else width(name, cover, domain))
            losses["pub"].append(losses["ncp"][-1])
            losses["class"].append(width(name, mixed, domain))
    return {metric: sum(found) / len(found) for metric, found in losses.items()}


@given(st.lists(st.tuples(row, st.integers(-1, 3)), min_size=1, max_size=12))
def test_cells_agree_with_a_count_by_hand(released, drawn):
    rows, ids = [r for r, _ in drawn], dense([i for _, i in drawn])
    release = released(columns(rows), ids, **OPTIONS)
    assert evaluate(release, CELLS) == pytest.approx(naive(rows, ids))


@given(st.lists(st.tuples(row, st.integers(-1, 3), st.integers(1, 4)), min_size=1, max_size=10))
def test_a_weighted_table_loses_what_the_expanded_one_does(released, drawn):
    ids = dense([i for _, i, _ in drawn])
    weighted = released(
        columns([r for r, _, _ in drawn]), ids, counts=[n for *_, n in drawn], **OPTIONS
    )
    repeated = [(r, i) for (r, _, n), i in zip(drawn, ids, strict=True) for _ in range(n)]
    expanded = released(columns([r for r, _ in repeated]), [i for _, i in repeated], **OPTIONS)
    assert evaluate(weighted) == pytest.approx(evaluate(expanded))
    assert weighted.to_arrow().equals(expanded.to_arrow())
    assert weighted.classes.sizes.tolist() == expanded.classes.sizes.tolist()
    assert weighted.verify() == expanded.verify()


def test_some_metrics_are_asked_for_by_name(released):
    release = released({"c": [1, 2]}, (0, 0))
    assert evaluate(release, ["pub"]) == {"pub": 1}
    assert evaluate(release, ["granularity", "ncp"], raw=True) == {"granularity": 1, "ncp": 1}


def test_an_unknown_metric_is_named_with_those_that_are_there(released):
    with pytest.raises(InputError, match="no metric 'beauty'; there are ncp, class, pub"):
        evaluate(released({"c": [1, 2]}, (0, 0)), ["ncp", "beauty"])


def test_all_that_are_defined_come_in_the_order_of_the_names(released):
    release = released({"c": [1, 2, 3], "d": list("xyy")}, (0, 0, 1))
    missing = undefined(release)
    assert list(missing) == [
        "absolute-distance",
        "relative-distance",
        "precision",
        "classification",
    ]
    assert list(evaluate(release)) == [name for name in METRICS if name not in missing]


def table_of(**roles):
    data = pa.table({"age": [1, 2], "ill": ["x", "y"], "note": ["p", "p"], "name": ["u", "v"]})
    return Table.from_arrow(data, {"age": "quasi"} | roles)


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ({}, "needs a sensitive or insensitive column as its target; the release has none"),
        ({"name": "identifier"}, "needs a sensitive or insensitive column as its target"),
        ({"note": "insensitive"}, "needs a target; choose one of note"),
        ({"ill": "sensitive", "note": "sensitive"}, "needs a target; choose one of ill, note"),
    ],
)
def test_without_a_target_there_is_no_classification(released, roles, told):
    release = released(table_of(**roles), (0, 0))
    assert undefined(release)["classification"].startswith(told)
    assert "classification" not in evaluate(release)
    with pytest.raises(InputError, match=f"metric classification: {told}"):
        evaluate(release, ["classification"])


def test_a_target_is_named_or_the_only_sensitive_column(released):
    release = released(table_of(ill="sensitive", note="insensitive"), (0, 0))
    assert evaluate(release, raw=True)["classification"] == 0.5
    assert evaluate(release, raw=True, target="note")["classification"] == 0


@pytest.mark.parametrize(
    ("target", "told"),
    [("age", "'age' is quasi"), ("name", "'name' is ident"), ("no", "no column")],
)
def test_what_is_no_target_is_refused_even_if_not_asked_for_by_name(released, target, told):
    release = released(table_of(ill="sensitive", name="identifier"), (0, 0))
    for names in (None, ["ncp"], ["classification"]):
        with pytest.raises(InputError, match=told):
            evaluate(release, names, target=target)


def test_levels_are_not_guessed(released):
    bare = released({"c": [1, 2]}, (0, 0))
    assert undefined(bare)["precision"] == "column 'c' has no hierarchy"
    for name in ("precision", "absolute-distance", "relative-distance"):
        with pytest.raises(InputError, match=f"metric {name}: column 'c' has no hierarchy"):
            evaluate(bare, [name])
    tree = {"hierarchy": {"intervals": [2]}}
    middle = released({"c": [1, 2]}, (0, 0), summary="representative", c=tree)
    reason = "column 'c' has cells that are not labels of its hierarchy"
    assert undefined(middle)["precision"] == reason
    mixed = released({"c": [0, 1, 2, 5]}, (0, 0, 1, 1), c=tree)
    assert "precision" not in undefined(mixed)
    assert "several levels" in undefined(mixed)["absolute-distance"]


def test_one_attribute_has_no_correlation(released):
    with pytest.raises(InputError, match="metric bivariate-correlation: needs at least two quasi"):
        evaluate(released({"c": [1, 2]}, (0, 0)), ["bivariate-correlation"])


def test_a_slow_divergence_is_left_out_unless_asked_for(released, monkeypatch):
    release = released({"c": [1, 2, 3], "d": list("xyy")}, (0, 0, 1))
    monkeypatch.setattr(kl, "_QUICK_PAIRS", 5)
    told = "slow to compute for 2 different boxes and 3 original tuples"
    assert undefined(release)["kl-divergence"].startswith(told)
    assert "kl-divergence" not in evaluate(release)
    assert 0 < evaluate(release, ["kl-divergence"])["kl-divergence"] < 1
    monkeypatch.setattr(kl, "_MAX_PAIRS", 5)
    with pytest.raises(InputError, match="kl-divergence: too many to compare: 2 different boxes"):
        evaluate(release, ["kl-divergence"])


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda m: m.name)
def test_a_metric_tells_of_itself(metric):
    assert METRICS[metric.name] is metric
    assert all((metric.title, metric.meaning, metric.formula, metric.use, metric.source))
    assert bool(metric.requires) is (metric.lacking is not None)
