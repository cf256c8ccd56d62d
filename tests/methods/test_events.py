"""kᵐ-anonymity of releases, against counting multisets of rows by hand."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle
from tests.cases import told
from tests.examples import examples
from tests.judging import can_leave_out, judge
from tests.nasty import visits as visits_of_people

import shoal
from shoal import KAnonymity, KmAnonymity
from shoal.identifiers import Key, Pseudonym
from shoal.methods.events import EventTable, divide_events
from shoal.table.column import Column

KEY = Key(bytes(range(32)))


def visits(people=60, seed=0, most=5):
    """Rows of people: age and sex do not vary, day and ward do."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), draw.integers(1, most + 1, people))
    return pa.table(
        {
            "who": [f"p{number}" for number in who],
            "age": draw.integers(20, 90, people)[who],
            "sex": draw.choice(["f", "m"], people)[who],
            "day": draw.integers(0, 30, len(who)),
            "ward": draw.choice(list("abcdef"), len(who)),
            "ill": draw.choice(["flu", "gout", "cold"], len(who)),
        }
    )


def released(data, k, m, method="mondrian", **options):
    return shoal.anonymize(
        data, KmAnonymity(k, m), method, quasi=["age", "sex", "day", "ward"], sensitive="ill",
        person="who", replace={"who": "pseudonym"}, key=KEY, domain="d", **options,
    )  # fmt: skip


def fewest(rows, owners, m):
    """Return the fewest people who have a multiset of at most m rows that a person has."""
    found = [{oracle.PERSON: who, "row": row} for who, row in zip(owners, rows, strict=True)]
    return oracle.fewest_with_rows(oracle.classes(found, ["row"]), m)


def shown(data):
    columns = [map(str, data.column(name).to_pylist()) for name in ("age", "sex", "day", "ward")]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("method", ["mondrian", "greedy", "sorted", "k-member", "anneal", "auto"])
@pytest.mark.parametrize(("k", "m"), [(2, 1), (3, 2), (4, 3)])
def test_any_m_rows_fit_k_people(method, k, m):
    data = visits()
    release = released(data, k, m, method)
    published = release.to_native()
    assert fewest(shown(published), published["who"].to_pylist(), m) >= k
    assert release.verify().holds
    assert f"{len(data) - len(published)} of {len(data)} rows" in " ".join(release.run.notes)
    kept = np.flatnonzero(release.classes.ids >= 0)
    assert len(kept) == len(published)
    for name in ("age", "day", "ward", "sex"):
        cells = zip(published[name].to_pylist(), data[name].take(kept).to_pylist(), strict=True)
        assert all(oracle.covers(cell, value, {}) for cell, value in cells)


def test_two_rows_with_equal_cells_fit_only_people_who_have_two():
    """Person a was in ward 1 twice, all others once."""
    rows = pa.table({"who": list("aabcde"), "ward": ["1"] * 6})
    assert shoal.check(rows, "km-anonymity(5, 1)", quasi="ward", person="who").holds
    with pytest.raises(shoal.NotAnonymous, match="does not hold"):
        shoal.check(rows, "km-anonymity(2, 2)", quasi="ward", person="who")
    with pytest.raises(shoal.Infeasible, match=r"1 of 6 rows would have .* max_left_out allows 0"):
        shoal.anonymize(rows, "km-anonymity(5, 2)", quasi="ward", person="who")
    release = shoal.anonymize(rows, "km-anonymity(5, 2)", quasi="ward", person="who",
                              max_left_out=0.2)  # fmt: skip
    assert release.to_native().column("ward").to_pylist() == ["1"] * 5
    assert "1 of 6 rows left out, because too few" in " ".join(release.run.notes)


def test_cells_that_do_not_vary_distinguish_rows_too():
    """Two visits to ward 1 in each age group, but of one person in the first."""
    rows = {"who": list("aabccdd"), "age": [30, 30, 30, 40, 40, 40, 40], "ward": ["1"] * 7}
    with pytest.raises(shoal.NotAnonymous, match=r"1 of 2 classes .*\(3 of 7 rows\)"):
        shoal.check(pa.table(rows), "km-anonymity(2, 2)", quasi=["age", "ward"], person="who")


def test_missing_values_are_no_reason_to_leave_out_all_rows():
    rows = pa.table({"who": list("aabbcc"), "day": [1, None, 2, None, 3, None]})
    release = shoal.anonymize(rows, KmAnonymity(3, 1), quasi="day", person="who", max_left_out=1)
    assert release.released_records >= 3


def test_a_release_without_rows_is_no_success():
    columns = [Column.encode("day", [1, 2])]
    suppressed = np.array([-1, -1], np.int32)
    people = np.array([0, 1], np.int32)
    divided = divide_events([EventTable(people, columns)], suppressed, k=2, m=1, share=1.0)
    assert (divided.left_out, divided.rows, divided.fits) == (2, 2, False)


def test_rows_of_suppressed_people_are_left_out_rows():
    """Suppressing the one person of another town would leave out most of the rows."""
    who = ["z"] * 12 + [f"p{n}" for n in range(10)]
    rows = pa.table({"who": who, "town": ["x"] * 12 + ["y"] * 10, "day": [*range(12), *[3] * 10]})
    options = {"quasi": ["town", "day"], "person": "who", "max_suppression": 0.1}
    release = shoal.anonymize(rows, KmAnonymity(2, 1), "flash", max_left_out=0, **options)
    assert release.released_records == len(rows)
    assert set(release.to_native().column("town").to_pylist()) == {"*"}


@pytest.mark.parametrize("method", ["flash", "ola", "datafly", "incognito", "samarati", "mingen"])
def test_columns_without_a_hierarchy_are_released_beside_suppressed_rows(method):
    who = [f"p{n // 2}" for n in range(40)]
    town = [["x", "y", "z"][min(n // 18, 2)] for n in range(40)]
    rows = pa.table({"who": who, "town": town, "day": [n % 3 for n in range(40)]})
    options = {"max_suppression": 0.2, "max_left_out": 0.2}
    release = shoal.anonymize(
        rows, KmAnonymity(4, 1), method, quasi=["town", "day"], person="who", **options
    )
    assert release.suppressed is not None
    assert {"x", "y"} <= set(release.to_native().column("town").to_pylist())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["flash", "ola"])
@examples(60, deep=1500)
@given(table=visits_of_people(), data=st.data())
def test_any_m_rows_of_random_people_fit_k_people_on_a_lattice(method, table, data):
    """With and without hierarchies and pseudonyms, whatever may be suppressed or left out."""
    model = KmAnonymity(data.draw(st.integers(2, 4)), data.draw(st.integers(1, 3)))
    share = data.draw(st.sampled_from([0.0, 0.05, 0.3, 1.0]))
    options = {"max_suppression": data.draw(st.sampled_from([0.0, 0.05, 0.3, 1.0]))}
    options["local"] = data.draw(st.booleans())
    linked = data.draw(st.booleans())
    if linked:
        who = [f"p{number}" for number in table.person.ids.tolist()]
        named = Column.encode("who", who, "identifier")
        table = replace(table, columns=(*table.columns, named), replacements={"who": Pseudonym()})
        options |= {"key": KEY, "domain": "d"}
    with told(model, share, options):
        try:
            release = shoal.anonymize(table, model, method, max_left_out=share, **options)
        except shoal.Infeasible:
            assert table.unit is None or not can_leave_out(table, model, share)
        except shoal.InputError:
            assert table.people < model.k
        else:
            rows = [
                {name: cell for name, cell in row.items() if name != "who"}
                for row in release.to_arrow().to_pylist()
            ]
            own = {} if table.unit is None else {"left_out": share}
            judge(table, model, release, rows=rows, **own)


def test_lattice_methods_group_the_people():
    data = visits(200, seed=3)
    trees = {"age": {"intervals": [10, 30]}, "day": {"intervals": [5, 10]}}
    trees |= {"sex": {"suppression": True}, "ward": {"suppression": True}}
    release = released(data, 3, 2, "flash", hierarchies=trees)
    published = release.to_native()
    assert fewest(shown(published), published["who"].to_pylist(), 2) >= 3
    assert not {"0", "29"} & set(published["day"].to_pylist())  # labels of the hierarchy


def test_events_keep_more_detail_than_under_k_anonymity_of_all_rows():
    data = visits(300, seed=1)
    options = {"person": "who", "replace": {"who": "pseudonym"}, "key": KEY, "domain": "d"}
    quasi = ["age", "sex", "day", "ward"]
    whole = shoal.anonymize(data, KAnonymity(3), quasi=quasi, sensitive="ill", **options)
    events = released(data, 3, 2)
    ncp = [shoal.metrics.evaluate(each)["ncp"] for each in (events, whole)]
    assert ncp[0] < ncp[1]


def test_no_more_rows_are_left_out_than_allowed():
    data = visits(120, seed=2)
    assert released(data, 3, 2, max_left_out=0).suppressed is None
    release = released(data, 3, 2, max_left_out=0.1)
    assert len(release.to_native()) >= 0.9 * len(data)
    with pytest.raises(shoal.InputError, match="max_left_out"):
        released(data, 3, 2, max_left_out=2)


def test_people_with_one_row_each_have_k_anonymity():
    data = visits(40, most=1)
    quasi = ["age", "sex", "day", "ward"]
    plain = shoal.anonymize(data, k=4, quasi=quasi, sensitive="ill", person="who")
    assert released(data, 4, 2).to_native().drop_columns("who") == plain.to_native()


def test_linked_rows_that_single_out_are_not_km_anonymous():
    rows = pa.table({"who": list("aabbcd"), "ward": ["1", "2", "1", "2", "1", "2"]})
    assert shoal.check(rows, "km-anonymity(3, 1)", quasi="ward", person="who").holds
    assert shoal.check(rows, "km-anonymity(2, 2)", quasi="ward", person="who").holds
    with pytest.raises(shoal.NotAnonymous, match="does not hold"):
        shoal.check(rows, "km-anonymity(3, 2)", quasi="ward", person="who")


def test_other_models_cannot_be_joined():
    with pytest.raises(shoal.InputError, match="cannot be joined"):
        shoal.anonymize(
            visits(), "km-anonymity(3, 2) & l-diversity(2, ill)", sensitive="ill", person="who",
            quasi=["age", "sex", "day", "ward"],
        )  # fmt: skip


def test_more_events_than_can_be_counted_are_refused():
    with pytest.raises(shoal.InputError, match="m must be 5 or less"):
        KmAnonymity(2, 6)


ROWS = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 4), st.sampled_from("abc")), min_size=1, max_size=40
)


@examples(150)
@given(ROWS, ROWS, st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.0, 0.1, 1.0]))
def test_events_of_several_tables_are_counted_together(first, second, k, m, share):
    classes = np.array([0, 0, 0, 0, 0, 1, 1, -1], np.int32)
    tables, rows = [], []
    for data in (first, second):
        who = np.array([row[0] for row in data], np.int32)
        columns = [Column.encode("day", [row[1] for row in data]),
                   Column.encode("ward", [row[2] for row in data])]  # fmt: skip
        tables.append(EventTable(who, columns))
        rows.append(who)
    divided = divide_events(tables, classes, k=k, m=m, share=share)
    kept = []
    for number, (who, groups) in enumerate(zip(rows, divided.groups, strict=True)):
        for owner, event in zip(who.tolist(), groups.tolist(), strict=True):
            assert event < 0 or classes[owner] >= 0
            if event >= 0:
                kept.append({oracle.PERSON: owner, "event": (classes[owner], number, event)})
    every = len(first) + len(second)
    assert (divided.left_out, divided.rows) == (every - len(kept), every)
    if kept:
        assert oracle.fewest_with_rows(oracle.classes(kept, ["event"]), m) >= k
    if divided.fits:
        assert len(kept) > 0
        assert divided.left_out <= share * every
