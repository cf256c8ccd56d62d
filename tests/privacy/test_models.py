"""Every model against an oracle that counts in dicts and exact fractions, on random classes."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import told
from tests.examples import examples

from shoal.privacy import (
    MODELS,
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    EntropyLDiversity,
    FreeformAnonymity,
    KAnonymity,
    KConcealment,
    KKAnonymity,
    KOneAnonymity,
    LDiversity,
    OneKAnonymity,
    RecursiveLDiversity,
    Risk,
    TCloseness,
)
from shoal.table.classes import SUPPRESSED, Classes
from shoal.table.recipes import tree
from shoal.table.table import Table

LETTERS = ["a", "b", "c", "d", "e", None]
SALARIES = [10, 20, 35, 50, 100, None]  # the same draw as numbers
PATHS = {  # each value's group at levels 0 … 3
    "a": ("a", "u", "x", "*"),
    "b": ("b", "u", "x", "*"),
    "c": ("c", "v", "x", "*"),
    "d": ("d", "d", "y", "*"),
    "e": ("e", "e", "y", "*"),
    None: (None, None, None, "*"),
}
NESTED = tree({"x": {"u": ["a", "b"], "v": ["c"]}, "y": ["d", "e"]})


def shares(values):
    return {value: Fraction(n, len(values)) for value, n in Counter(values).items()}


def naive_equal(members, everyone):
    q, p = shares(members), shares(everyone)
    return sum(abs(q.get(v, 0) - p[v]) for v in p) / 2


def naive_ordered(members, everyone):
    q, p = shares(members), shares(everyone)
    line = [v for v in LETTERS if v in p]
    total = sum(abs(sum(q.get(v, 0) - p[v] for v in line[: end + 1])) for end in range(len(line)))
    return total / Fraction(max(len(line) - 1, 1))


def naive_hierarchical(members, everyone):
    """The paper's recursion, node by node: height times the lesser of surplus and want."""
    q, p = shares(members), shares(everyone)
    total = Fraction(0)
    for height in (1, 2, 3):
        children = Counter()
        for v in p:
            node, child = PATHS[v][height:], PATHS[v][height - 1 :]
            children[node, child] += q.get(v, 0) - p[v]
        for node in {node for node, _ in children}:
            extras = [extra for (owner, _), extra in children.items() if owner == node]
            surplus = sum(extra for extra in extras if extra > 0)
            want = -sum(extra for extra in extras if extra < 0)
            total += Fraction(height, 3) * min(surplus, want)
    return total


def largest_share(members, _):
    return max(shares(members).values())


def share_of_a(members, _):
    return shares(members).get("a", Fraction(0))


def ratio_to_the_rest(l):  # noqa: E741
    def ratio(members, _):
        counts = sorted(Counter(members).values(), reverse=True)
        rest = sum(counts[l - 1 :])
        return Fraction(counts[0], rest) if rest else math.inf

    return ratio


def entropy_power(members, _):
    """(e^entropy)^n, exactly: the entropy is that of log l where this reaches l^n."""
    n = len(members)
    return math.prod(Fraction(n, count) ** count for count in Counter(members).values())


def entropy_l(members, everyone):
    return float(entropy_power(members, everyone)) ** (1 / len(members))


def widest_factor(members, everyone):
    """The largest of q / p and p / q."""
    q, p = shares(members), shares(everyone)
    return max(max(q[v] / p[v], p[v] / q[v]) if v in q else math.inf for v in p)


def log_widest_factor(members, everyone):
    factor = widest_factor(members, everyone)
    return math.inf if factor == math.inf else math.log(factor)


def gain(members, everyone):
    q, p = shares(members), shares(everyone)
    return max((q[v] - p[v]) / p[v] for v in q)


def enhanced_gain(members, everyone):
    q, p = shares(members), shares(everyone)
    over = any(q[v] > p[v] and (q[v] - p[v]) / p[v] > -math.log(p[v]) for v in q)
    return math.inf if over else gain(members, everyone)


@dataclass
class Case:
    """A model, when a class keeps it, and what a class reaches; `worst` picks among classes."""

    model: Any
    keeps: Any
    reaches: Any
    worst: Any = max
    none: float = 0.0  # the level of no classes

    def __str__(self):
        return str(self.model)


def at_most(bound, measure):
    return lambda members, everyone: measure(members, everyone) <= bound


def below(bound, measure):
    return lambda members, everyone: measure(members, everyone) < bound


def size(members, _):
    return len(members)


def distinct(members, _):
    return len(set(members))


def either_way(missing, worst, measure, none):
    """Measure a class with its missing values and, unless they count, without them too."""

    def both(members, everyone):
        known = [value for value in members if value is not None]
        ways = [members] if missing else [members, known]
        return worst(measure(way, everyone) if way else none for way in ways)

    return both


def diverse(name, missing):
    for l in (2, 3):  # noqa: E741
        measure = either_way(missing, min, distinct, 0)
        keeps = lambda m, e, l=l, f=measure: f(m, e) >= l  # noqa: E731, E741
        yield Case(LDiversity(l, name, missing), keeps, measure, min, math.inf)
    for l in (Fraction(3, 2), Fraction(2), Fraction(3)):  # noqa: E741
        enough = lambda m, e, l=l: entropy_power(m, e) >= l ** len(m)  # noqa: E731, E741
        keeps = either_way(missing, all, enough, False)
        measure = either_way(missing, min, entropy_l, 1)
        yield Case(EntropyLDiversity(float(l), name, missing), keeps, measure, min, math.inf)
    for c, l in ((Fraction(1), 2), (Fraction(3, 2), 2), (Fraction(2), 3)):  # noqa: E741
        measure = either_way(missing, max, ratio_to_the_rest(l), math.inf)
        yield Case(RecursiveLDiversity(float(c), l, name, missing), below(c, measure), measure)


def several(name):
    for k in (2, 3, 5):
        yield Case(KAnonymity(k), lambda m, _, k=k: len(m) >= k, size, min, math.inf)
    for model in (FreeformAnonymity, KConcealment, KKAnonymity, OneKAnonymity, KOneAnonymity):
        yield Case(model(3), lambda m, _: len(m) >= 3, size, min, math.inf)  # enough, of classes
    for highest in (Fraction(1, 2), Fraction(3, 10)):
        inverse = lambda m, _: Fraction(1, len(m))  # noqa: E731
        yield Case(Risk(float(highest)), at_most(highest, inverse), inverse)
    for missing in (True, False):
        yield from diverse(name, missing)
    for t in (Fraction(1, 10), Fraction(1, 4), Fraction(1, 3)):
        for kind, measure in (
            ("equal", naive_equal),
            ("hierarchical", naive_hierarchical),
            ("ordered", naive_ordered),
        ):
            column = "salary" if kind == "ordered" else name
            yield Case(TCloseness(float(t), column, kind), at_most(t, measure), measure)
    for alpha, k in ((Fraction(1, 2), 2), (Fraction(1, 3), 3), (Fraction(7, 10), 1)):
        for value, measure in ((None, largest_share), ("a", share_of_a)):
            keeps = lambda m, e, a=alpha, k=k, f=measure: len(m) >= k and f(m, e) <= a  # noqa: E731
            yield Case(AlphaKAnonymity(float(alpha), k, name, value), keeps, measure)
    for factor in (Fraction(3, 2), Fraction(2), Fraction(4)):
        keeps = below(factor, widest_factor)
        yield Case(DeltaDisclosure(math.log(factor), name), keeps, log_widest_factor)
    for beta in (Fraction(1, 4), Fraction(1, 2), Fraction(2)):
        yield Case(BetaLikeness(float(beta), name, enhanced=False), at_most(beta, gain), gain)
        yield Case(BetaLikeness(float(beta), name), at_most(beta, enhanced_gain), enhanced_gain)


CASES = list(several("disease"))
every_model = pytest.mark.parametrize("case", CASES, ids=str)

# (class or −1, place in LETTERS, records behind the row)
rows = st.lists(
    st.tuples(st.integers(-1, 3), st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=14
)


def build(drawn, *, weighted=False):
    """The classes of drawn rows, numbered without gaps."""
    if not weighted:
        drawn = [row for row in drawn for _ in range(row[2])]
    number = {old: new for new, old in enumerate(sorted({row[0] for row in drawn} - {-1}))}
    ids = np.array([number.get(row[0], SUPPRESSED) for row in drawn], dtype=np.int32)
    data = pa.table(
        {
            "zip": pa.array([str(i) for i in ids]),
            "disease": pa.array([LETTERS[row[1]] for row in drawn], pa.string()),
            "salary": pa.array([SALARIES[row[1]] for row in drawn], pa.int64()),
        }
    )
    roles = {"zip": "quasi", "disease": "sensitive", "salary": "sensitive"}
    counts = [row[2] for row in drawn] if weighted else None
    return Classes.of(Table.from_arrow(data, roles, {"disease": NESTED}, counts), ids)


def members(drawn):
    """The letters of each class, and of everyone, suppressed rows included."""
    spread = [(row[0], LETTERS[row[1]]) for row in drawn for _ in range(row[2])]
    kept = sorted({owner for owner, _ in spread} - {-1})
    return [[v for owner, v in spread if owner == c] for c in kept], [v for _, v in spread]


def test_every_model_has_a_case():
    whole = {model for model in MODELS.values() if model.by_release or model.over_rows}
    assert {type(case.model) for case in CASES} == set(MODELS.values()) - whole


@examples(120)
@given(drawn=rows)
def test_holds_and_level_agree_with_the_oracle(drawn):
    classes = build(drawn)
    groups, everyone = members(drawn)
    for case in CASES:
        with told(case):
            kept = [case.keeps(group, everyone) for group in groups]
            assert case.model.holds(classes).tolist() == kept
            reached = [float(case.reaches(group, everyone)) for group in groups]
            expected = case.worst(reached) if reached else case.none
            assert case.model.level(classes) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@examples(60)
@given(drawn=rows)
def test_a_weighted_table_is_the_table_written_out(drawn):
    weighted, expanded = build(drawn, weighted=True), build(drawn)
    for model in (case.model for case in CASES):
        with told(model):
            assert model.holds(weighted).tolist() == model.holds(expanded).tolist()
            assert model.level(weighted) == pytest.approx(model.level(expanded))


@examples(60)
@given(drawn=rows, into=st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_merging_classes_that_hold_makes_a_class_that_holds(drawn, into):
    fine = build(drawn)
    # 0 … classes − 1, merged into two at most and numbered without gaps
    target = np.unique(into[: len(fine)], return_inverse=True)[1]
    ids = np.append(target, SUPPRESSED)[fine.ids].astype(np.int32)
    coarse = Classes.of(fine.table, ids)
    for model in (case.model for case in CASES):
        assert model.monotone
        held, merged = model.holds(fine), model.holds(coarse)
        with told(model):
            for new in range(len(coarse)):
                if held[target == new].all():
                    assert merged[new]


@examples(60)
@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=12), data=st.data())
def test_merging_alike_classes_changes_little(values, data):
    """Merge a class with a near copy of itself, so that the case above is not empty."""
    other = list(values)
    other[data.draw(st.integers(0, len(values) - 1))] = data.draw(st.integers(0, 5))
    drawn = [(0, v, 1) for v in values] + [(1, v, 1) for v in other]
    fine = build(drawn)
    coarse = Classes.of(fine.table, np.zeros_like(fine.ids))
    for case in CASES:
        with told(case):
            if case.model.holds(fine).all():
                assert case.model.holds(coarse).all()
            before, after = (case.model.level(classes) for classes in (fine, coarse))
            if case.worst is min:
                assert after >= before - 1e-9
            else:
                assert after <= before + 1e-9


@every_model
def test_no_classes_break_nothing(case):
    classes = build([(-1, 0, 2), (-1, 1, 1)])
    assert case.model.holds(classes).tolist() == []
    assert case.model.level(classes) == case.none


@every_model
def test_a_sentence_describes_it(case):
    promise = case.model.describe()
    assert promise.endswith(".")
    assert all(name in promise for name in case.model.columns)


def test_a_column_of_many_values_agrees_with_the_oracle():
    # classes × values is too large for counting in one matrix: the sparse way is taken
    generator = np.random.default_rng(7)
    salary = generator.integers(0, 5000, size=3000)
    ids = np.sort(generator.integers(0, 900, size=3000))
    ids = np.unique(ids, return_inverse=True)[1].astype(np.int32)
    data = pa.table({"zip": pa.array(ids), "salary": pa.array(salary)})
    classes = Classes.of(Table.from_arrow(data, {"zip": "quasi", "salary": "sensitive"}), ids)
    line = np.unique(salary)
    whole = np.cumsum([np.mean(salary == v) for v in line])
    far = max(
        np.abs(np.searchsorted(np.sort(salary[ids == c]), line, "right") / (ids == c).sum() - whole)
        .sum()
        .item()
        for c in range(0, len(classes))
    )
    assert TCloseness(1, "salary").level(classes) == pytest.approx(far / (len(line) - 1))
