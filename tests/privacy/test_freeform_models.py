"""Models of who may be whom: how strong each is, and how a release is judged by them."""

from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle
from tests.cases import told
from tests.judging import with_units

from shoal.errors import InputError, NotAnonymous
from shoal.privacy import (
    CoverageModel,
    FreeformAnonymity,
    KAnonymity,
    KConcealment,
    KKAnonymity,
    KOneAnonymity,
    LDiversity,
    OneKAnonymity,
)
from shoal.release.release import Release
from shoal.release.verification import judge
from shoal.table.recoding import Recoding
from shoal.table.table import Table

COVERAGE = (FreeformAnonymity, KConcealment, KKAnonymity, OneKAnonymity, KOneAnonymity)
IMPLIED = {  # what a model implies at the same k
    FreeformAnonymity: (KConcealment, KKAnonymity),
    KConcealment: (OneKAnonymity,),
    KKAnonymity: (OneKAnonymity, KOneAnonymity),
}
TREE = {"x": ["a", "b"], "y": ["c"]}


@st.composite
def grouped(draw):
    """A table and groups of its rows, −1 for rows left out."""
    rows = draw(st.integers(2, 14))
    numbers = draw(st.lists(st.none() | st.integers(0, 6), min_size=rows, max_size=rows))
    words = draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows))
    roles = {"number": "quasi", "word": {"role": "quasi", "hierarchy": {"tree": TREE}}}
    data = pa.table({"number": pa.array(numbers, pa.int64()), "word": words})
    ids = np.array(draw(st.lists(st.integers(-1, 2), min_size=rows, max_size=rows)))
    _, dense = np.unique(ids[ids >= 0], return_inverse=True)
    ids[ids >= 0] = dense
    return Table.from_arrow(data, roles), ids.astype(np.int32)


@given(drawn=grouped())
def test_k_anonymity_implies_them_all(drawn):
    table, ids = drawn
    if (ids < 0).all():
        return
    k = max(int(np.bincount(ids[ids >= 0]).min()), 2)
    for summary, hierarchies in product(["range", "set", "representative"], [True, False]):
        release = Release.of_groups(
            table, ids, int(ids.max()) + 1, KAnonymity(k), summary, use_hierarchies=hierarchies
        )
        if not release.verify():
            continue
        found = release.coverage.take(np.flatnonzero(ids >= 0))
        for model in COVERAGE:
            with told(summary, hierarchies, model):
                assert model(k).holds_for(found).all()  # by coverage alone, whatever classes say
                assert model(k).level_for(found) >= k
                assert replace(release, model=model(k)).verify()


@st.composite
def boxed(draw):
    """A release in which each row is published by a box of its own."""
    rows = draw(st.integers(2, 12))
    numbers = draw(st.lists(st.none() | st.integers(0, 5), min_size=rows, max_size=rows))
    words = draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows))
    data = pa.table({"number": pa.array(numbers, pa.int64()), "word": words})
    table = Table.from_arrow(data, {"number": "quasi", "word": "quasi"})
    others = draw(st.lists(st.integers(0, rows - 1), min_size=rows * 3, max_size=rows * 3))
    partners = np.column_stack([np.arange(rows), np.array(others).reshape(rows, 3)])
    return table, {c.name: _boxes(c, partners) for c in table.columns}


def _boxes(column, partners):
    """Publish each row by what covers the rows beside it in `partners`."""
    rows, k = partners.shape
    owners = np.repeat(np.arange(rows, dtype=np.int32), k)
    wide = Recoding.of_groups(column.take(partners.ravel()), owners, rows)
    return replace(wide, column=column, codes=wide.codes[::k])


@given(drawn=boxed(), k=st.integers(2, 4))
def test_each_is_judged_as_the_oracle_judges_the_text(drawn, k):
    table, recodings = drawn
    rows = Release(table, recodings, KAnonymity(k)).to_arrow().to_pylist()
    before = with_units(table.to_arrow().to_pylist(), table)
    graph = oracle.fits(rows, before, table.quasi, {})
    held = {}
    for model in COVERAGE:
        found = Release(table, recodings, model(k)).verify()
        assert found.truthful
        held[model] = found.holds
        assert found.holds == oracle.keeps_coverage(model(k), graph, before, [1] * len(before))
        assert (found.levels[str(model(k))] >= k) == found.holds
        assert (found.failing > 0) == (found.failing_records > 0) == (not found.holds)
    for stronger, weaker in IMPLIED.items():
        assert not held[stronger] or all(held[model] for model in weaker)


def chain():
    """Four ages, each published with the next, the last with the first: no two rows alike."""
    data = pa.table({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})
    table = Table.from_arrow(
        data, {"age": {"role": "quasi", "kind": "nominal"}, "ill": "sensitive"}
    )
    partners = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    return table, {"age": _boxes(table["age"], partners)}


def test_records_that_all_differ_may_keep_them():
    for model in COVERAGE:
        found = Release(*chain(), model(2)).verify()
        assert found
        assert (found.classes, found.smallest, found.failing) == (4, 1, 0)
        assert found.levels == {str(model(2)): 2.0}
    assert not Release(*chain(), KAnonymity(2)).verify()


def test_joined_with_a_model_of_classes_each_is_asked_in_its_way():
    found = Release(*chain(), FreeformAnonymity(2) & LDiversity(2, "ill")).verify()
    assert not found
    assert (found.failing, found.failing_records) == (4, 4)
    assert found.levels == {"freeform-anonymity(k=2)": 2.0, "l-diversity(l=2, column=ill)": 1.0}


def test_failing_records_are_counted_one_by_one():
    table, _ = chain()
    alone = Recoding.identity(table["age"])
    found = Release(table, {"age": alone}, KOneAnonymity(2)).verify()
    assert (found.failing, found.failing_records) == (4, 4)
    boxes = _boxes(table["age"], np.array([[0, 1], [0, 1], [2, 3], [3, 3]]))
    found = Release(table, {"age": boxes}, KOneAnonymity(2)).verify()
    assert (found.failing, found.failing_records) == (1, 1)


def test_a_file_is_judged_in_its_own_order(tmp_path):
    release = Release(*chain(), FreeformAnonymity(2))
    release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").exists()
    broken = replace(release, model=FreeformAnonymity(3))
    with pytest.raises(NotAnonymous, match="4 of 4 classes"):
        broken.write(tmp_path / "more.csv")
    assert not (tmp_path / "more.csv").exists()


def test_classes_alone_may_settle_it_or_say_that_they_cannot():
    table, recodings = chain()
    classes = Release(table, recodings, KAnonymity(2)).classes
    with pytest.raises(InputError, match="which classes do not show"):
        judge(classes, FreeformAnonymity(2))
    whole = Release.of_groups(table, np.zeros(4, dtype=np.int32), 1, KAnonymity(2)).classes
    assert judge(whole, FreeformAnonymity(4)).levels == {"freeform-anonymity(k=4)": 4.0}


@pytest.mark.parametrize("model", COVERAGE)
def test_searches_by_class_take_them_for_a_size(model):
    assert issubclass(model, CoverageModel)
    assert (model(4).least_size, model(4).by_size, model(4).by_class) == (4, True, False)
    joined = model(4) & LDiversity(2, "ill")
    assert (joined.least_size, joined.by_size, joined.by_class) == (4, False, False)
    assert "Weaker than k-anonymity" in model(4).describe().replace("\n", " ")


@pytest.mark.parametrize("model", COVERAGE)
@pytest.mark.parametrize("k", [1, 0, 2.5, "3"])
def test_k_must_be_a_whole_number_from_two(model, k):
    with pytest.raises(InputError, match="k must be a whole number, 2 or more"):
        model(k)


@pytest.mark.parametrize("model", COVERAGE)
def test_a_table_of_fewer_than_k_is_refused(model):
    with pytest.raises(InputError, match="the table has 4 people"):
        model(5).check(chain()[0])
