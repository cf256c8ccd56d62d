"""A report may be published: nobody's cell is in it, and the left-out ones leave no trace."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.report.report_tables import RELEASES, ROLES, SECRETS, made, people, release, table

import shoal
from shoal import KAnonymity, Release, Table, TCloseness
from shoal.report import contents
from shoal.report.masking import Mask, names_any, released_only
from shoal.report.page import page


@pytest.mark.parametrize("name", RELEASES)
def test_no_cell_of_a_single_person_is_told(name):
    told = contents(release(name))
    for text in (page(told), json.dumps(told, ensure_ascii=False)):
        plain = text.replace(",", "")  # thousands stand apart
        assert not [secret for secret in SECRETS if secret in plain]
        assert "<h2" in text or '"format"' in text


def test_common_values_are_told():
    """So the test above looks at a page that does show values."""
    shown = page(contents(release("mondrian")))
    assert all(value in shown for value in ("Bonn", "koala", "cold", "1985 to 1989"))


def test_a_rare_value_is_told_once_enough_people_share_it():
    rows = [{"age": 30, "town": "Ulm" if i % 2 else "Kiel"} for i in range(40)]
    for copies, shown in ((4, False), (5, True)):
        some = [*rows, *[{"age": 30, "town": "Zzyzx"}] * copies]
        found = made(table(some, {"age": "quasi", "town": "quasi"}), "mondrian")
        assert ("Zzyzx" in page(contents(found))) is shown
        assert "Zzyzx" in page(contents(found, least=2))


def test_others_are_never_so_few_that_they_can_be_counted():
    rows = [{"town": t} for t in ["Ulm"] * 20 + ["Kiel"] * 6 + ["Bonn"] * 2]
    release = made(table(rows, {"town": "quasi"}), "mondrian", hierarchies=False)
    told = contents(release, least=5)["distributions"][0]["groups"]
    assert [(g["label"], g["before"]) for g in told] == [("Ulm", 0.714), ("all others", 0.286)]


@st.composite
def left_out_differently(draw):
    """Return two tables with the same released rows, and others of any kind that are left out."""
    cell = st.tuples(st.integers(0, 99), st.sampled_from("abcde"), st.sampled_from("xyz"))
    kept = draw(st.lists(cell, min_size=4, max_size=20))
    count = draw(st.integers(1, 7))
    hidden = [draw(st.lists(cell, min_size=count, max_size=count)) for _ in range(2)]
    return [(kept + rows, len(kept)) for rows in hidden]


def grouped(rows, kept):
    spec = {
        "age": "quasi",
        "letter": {"role": "quasi", "hierarchy": {"tree": {"ab": ["a", "b"], "ce": list("cde")}}},
        "ill": "sensitive",
    }
    made_of = Table.from_arrow(
        pa.table(dict(zip(spec, zip(*rows, strict=True), strict=True))), spec
    )
    ids = np.full(len(rows), -1, dtype=np.int32)
    ids[:kept] = np.arange(kept) // 2
    ids[kept - 1] = ids[kept - 2]  # an odd one joins the last pair
    ids[:kept] = np.unique(ids[:kept], return_inverse=True)[1]
    model = KAnonymity(2) & TCloseness(1, "ill")
    return Release.of_groups(made_of, ids, int(ids.max()) + 1, model)


@examples(40)
@given(left_out_differently())
def test_who_is_left_out_changes_nothing_but_their_number(pair):
    first, second = (contents(grouped(*rows), least=3) for rows in pair)
    assert first == second


@examples(40)
@given(left_out_differently())
def test_the_released_rows_by_themselves_are_the_same_release(pair):
    release = grouped(*pair[0])
    kept = released_only(release)
    assert kept.to_arrow().equals(release.to_arrow())
    assert kept.classes.sizes.tolist() == release.classes.sizes.tolist()
    for name, recoding in kept.recodings.items():
        assert kept.original[name].domain == len(set(kept.original[name].codes.tolist()))
        assert recoding.subsets.sizes.min() > 0
        assert recoding.covers()


def test_without_left_out_rows_a_release_stays_as_it_is():
    release = made(table(), "mondrian")
    assert released_only(release) is release


def test_few_left_out_records_are_not_counted():
    for hidden, told, total in ((3, "fewer than 5", None), (6, 6, 26)):
        rows = [(i // 10, "a", "x") for i in range(20)] + [(90, "b", "y")] * hidden
        found = contents(grouped(rows, 20))["records"]
        assert found == {
            "released": 20,
            "suppressed": told,
            "suppressed_share": None if total is None else round(hidden / total, 3),
            "total": total,
            "released_people": 20,
            "suppressed_people": told,
            "total_people": total,
        }


def test_the_report_says_how_rows_are_ordered():
    release = made(table(), "mondrian")
    assert "Row order" not in page(contents(release))
    assert "Row order" in page(contents(release, order="original"))


def test_only_the_names_of_files_are_told(tmp_path):
    release = made(table(), "mondrian")
    release.write(tmp_path / "out.csv")
    release.report(tmp_path / "report.html", released=tmp_path / "out.csv")
    text = (tmp_path / "report.html").read_text()
    assert "out.csv" in text
    assert str(tmp_path) not in text


def test_there_is_no_report_of_a_release_that_breaks_its_guarantee(tmp_path):
    good = made(table(), "mondrian")
    untouched = {c.name: shoal.Recoding.identity(c) for c in good.original.quasi_columns}
    with pytest.raises(shoal.NotAnonymous, match="no report was written"):
        replace(good, recodings=untouched).report(tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("found", "total", "told"),
    [
        (0, 100, 0),
        (1, 100, "fewer than 5"),
        (4, 100, "fewer than 5"),
        (5, 100, 5),
        (95, 100, 95),
        (96, 100, "more than 95"),
        (99, 100, "more than 95"),
        (100, 100, 100),
    ],
)
def test_small_counts_and_what_they_leave_are_masked(found, total, told):
    assert Mask(5).count(found, total) == told
    assert Mask(5).share(found, total) == (found / total if isinstance(told, int) else None)


def test_a_mask_hides_at_least_single_people():
    with pytest.raises(shoal.InputError, match="least"):
        contents(made(table(), "mondrian"), least=1)


@pytest.mark.parametrize(
    ("label", "value", "named"),
    [("[31, 999]", "999", True), ("{ape, emu}", "emu", True), ("99*", "999", False),
     ("1999", "999", False), ("all", "", False), ("all", None, False)],
)  # fmt: skip
def test_labels_that_spell_out_a_value_are_known(label, value, named):
    assert bool(names_any(label, [value])) is named


def test_the_secrets_are_in_the_table():
    cells = {str(cell) for row in people() for cell in row.values()}
    assert all(any(secret in cell for cell in cells) for secret in SECRETS)
    assert set(people()[0]) == set(ROLES)
