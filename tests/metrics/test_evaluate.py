import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.metrics import METRICS, evaluate

ORDER = ["low", "mid", "high"]
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
    """All metrics, cell by cell."""
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
def test_every_metric_agrees_with_a_count_by_hand(released, drawn):
    rows, ids = [r for r, _ in drawn], dense([i for _, i in drawn])
    release = released(columns(rows), ids, **OPTIONS)
    assert evaluate(release) == pytest.approx(naive(rows, ids))


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
    assert list(evaluate(release)) == list(METRICS)


def test_an_unknown_metric_is_named_with_those_that_are_there(released):
    with pytest.raises(InputError, match="no metric 'beauty'; there are ncp, class, pub"):
        evaluate(released({"c": [1, 2]}, (0, 0)), ["ncp", "beauty"])
