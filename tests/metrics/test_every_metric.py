"""What holds of all metrics, and that each equals a count by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.metrics import naive
from tests.metrics.strategies import freeform, full_domain, grouped, releases, tables, with_trees

import shoal
from shoal.metrics import METRICS, evaluate, undefined
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.recoding import Recoding
from shoal.table.table import Table

NEAR = {"rel": 1e-7, "abs": 1e-9}


def untouched(table):
    recodings = {c.name: Recoding.identity(c) for c in with_trees(table)}
    return Release(table, recodings, KAnonymity(2))


@given(releases)
def test_every_metric_equals_a_count_by_hand(release):
    case = naive.read(release, "ill")
    for name, value in evaluate(release).items():
        if name in naive.RAW:
            assert value == pytest.approx(naive.scaled(name, case), **NEAR), name


@given(releases)
def test_every_raw_value_equals_a_count_by_hand(release):
    case = naive.read(release, "ill")
    for name, value in evaluate(release, raw=True).items():
        if name in naive.RAW:
            assert value == pytest.approx(naive.raw(name, case), **NEAR), name


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("mondrian", {}),
        ("mondrian", {"hierarchies": False, "strict": False}),
        ("mondrian", {"summary": "representative"}),
        ("datafly", {"max_suppression": 0.2}),
        ("flash", {"max_suppression": 0.2}),
    ],
)
def test_releases_of_the_methods_equal_a_count_by_hand(method, options):
    table = shoal.datasets.patients(40, seed=3)
    release = shoal.anonymize(table, KAnonymity(3), method, **options)
    target = table.sensitive[0]
    case = naive.read(release, target)
    for name, value in evaluate(release, target=target).items():
        if name in naive.RAW:
            assert value == pytest.approx(naive.scaled(name, case), rel=1e-7, abs=1e-9), name


@given(grouped() | freeform())
def test_a_named_target_is_the_one_that_is_counted(release):
    found = evaluate(release, ["classification"], target="note")["classification"]
    assert found == pytest.approx(naive.scaled("classification", naive.read(release, "note")))


@given(releases)
def test_values_are_plain_numbers_from_0_to_1(release):
    for name, value in evaluate(release).items():
        assert type(value) is float, name
        assert 0 <= value <= 1, name


@given(tables())
def test_the_untouched_table_has_lost_nothing(table):
    assert evaluate(untouched(table)) == pytest.approx(dict.fromkeys(_defined(table), 0), **NEAR)


@given(tables())
def test_a_table_of_suppressed_records_has_lost_everything(table):
    gone = np.ones(len(table), dtype=np.bool_)
    recodings = {c.name: Recoding.identity(c) for c in with_trees(table)}
    for cells in (recodings, {n: r.suppress(gone) for n, r in recodings.items()}):
        release = Release(table, cells, KAnonymity(2), gone)
        assert evaluate(release) == pytest.approx(dict.fromkeys(_defined(table), 1))


def _defined(table):
    return [n for n in METRICS if n != "bivariate-correlation" or len(table.quasi) > 1]


@given(tables(quasi=["age", "town"]))
def test_a_table_of_suppressed_cells_has_lost_everything_but_the_target(table):
    recodings = {c.name: Recoding.suppressed(c) for c in table.quasi_columns}
    found = evaluate(Release(table, recodings, KAnonymity(2)))
    # 1 for suppressed records alone
    for name in ("ncp", "class", "pub", "hierarchy-ncp", "classification"):
        del found[name]
    case = naive.read(Release(table, recodings, KAnonymity(2)))
    for name, value in found.items():
        worst, best = (naive.RAW[name](c) for c in (case.suppressed(), case.untouched()))
        if worst - best > 1e-9 and all(c.domain > 1 for c in table.quasi_columns):
            assert value == pytest.approx(1), name


# not entropy in general, nor what reads cells as averages or distributions
MONOTONE = """
    ncp class pub hierarchy-ncp absolute-distance relative-distance precision non-uniform-entropy
    classification discernibility average-class-size diameter ambiguity granularity
    information-loss entropy
""".split()


@given(st.data(), tables())
def test_going_up_the_lattice_never_costs_less(data, table):
    columns = with_trees(table)
    assume(all(c.domain > 1 for c in columns))  # the root over a single value is that value
    levels = [data.draw(st.integers(0, c.hierarchy.height)) for c in columns]
    higher = [
        data.draw(st.integers(low, c.hierarchy.height))
        for low, c in zip(levels, columns, strict=True)
    ]
    before, after = (
        evaluate(
            Release(
                table,
                {c.name: Recoding.at_level(c, n) for c, n in zip(columns, node, strict=True)},
                KAnonymity(2),
            ),
            MONOTONE,
        )
        for node in (levels, higher)
    )
    for name in MONOTONE:
        assert before[name] <= after[name] + 1e-12, name


@given(st.data(), freeform())
def test_suppressing_a_record_never_costs_less(data, release):
    hidden = release.suppressed
    hidden = np.zeros(len(release.original), np.bool_) if hidden is None else hidden.copy()
    hidden[data.draw(st.integers(0, len(hidden) - 1))] = True
    more = Release(release.original, release.recodings, release.model, hidden)
    names = ["ncp", "pub", "non-uniform-entropy", "ambiguity", "granularity", "information-loss"]
    before, after = (evaluate(r, names) for r in (release, more))
    for name in names:
        assert before[name] <= after[name] + 1e-12, name


@given(releases)
def test_the_mean_over_records_is_the_metric(release):
    counts = release.original.counts
    for name, value in evaluate(release).items():
        metric = METRICS[name]
        if metric.by_record is None:
            continue
        losses = metric.by_record(release)
        assert losses.shape == (len(release.original),)
        mean = np.average(losses, weights=counts)
        assert value == pytest.approx(min(mean, 1), **NEAR), name


@given(releases)
def test_the_loss_of_an_attribute_is_that_of_a_table_with_no_other(release):
    table = release.original
    for name in evaluate(release):
        metric = METRICS[name]
        if metric.by_attribute is None or name == "class":  # a class is of all attributes
            continue
        losses = metric.by_attribute(release)
        assert list(losses) == list(release.recodings)
        for column, loss in losses.items():
            alone = Release(
                Table((table[column], table["ill"]), table.counts),
                {column: release.recodings[column]},
                release.model,
                release.suppressed,
            )
            assert loss == pytest.approx(metric(alone), **NEAR), name


@given(releases)
def test_a_weighted_table_loses_what_the_expanded_one_does(release):
    table = release.original
    if table.counts is None:
        return
    rows = np.repeat(np.arange(len(table)), table.counts)
    recodings = {
        name: Recoding(
            r.column.take(rows), r.codes[rows], r.subsets, r.labels, r.low, r.high, r.levels
        )
        for name, r in release.recodings.items()
    }
    hidden = None if release.suppressed is None else release.suppressed[rows]
    plain = Table(tuple(c.take(rows) for c in table.columns))
    expanded = Release(plain, recodings, release.model, hidden)
    for raw in (False, True):
        assert evaluate(release, raw=raw) == pytest.approx(evaluate(expanded, raw=raw), **NEAR)


@given(full_domain())
def test_a_release_at_one_level_has_every_metric(release):
    missing = set() if len(release.recodings) > 1 else {"bivariate-correlation"}
    assert set(undefined(release)) == missing


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda m: m.name)
def test_no_records_lose_nothing(released, metric):
    empty = released({"c": np.array([], np.int64), "d": np.array([], np.int64)}, ())
    if metric.undefined(empty) is None:
        assert metric(empty) == 0
