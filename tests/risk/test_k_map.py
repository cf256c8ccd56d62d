import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tests.examples import examples
from tests.metrics.strategies import freeform, full_domain, tables
from tests.risk import naive

from shoal.errors import InputError
from shoal.release.fitting import codes_in, fit_people, published_cells, subsets_of
from shoal.risk import k_map
from shoal.table.table import Table


def table_of(roles="quasi", **columns):
    return Table.from_arrow(pa.table(columns), dict.fromkeys(columns, roles))


def weight(table, row):
    return 1 if table.counts is None else int(table.counts[row])


@examples(60)
@given(release=freeform() | full_domain())
def test_people_of_the_table_itself_are_counted_as_by_hand(release):
    table = release.original
    shown = [r for r in range(len(table)) if naive.look(release, r) is not None]
    found = k_map(release, table)
    wanted = [
        sum(
            weight(table, person)
            for person in range(len(table))
            if naive.fits(naive.cells(release, row), table, person)
        )
        for row in shown
    ]
    assert found.people.tolist() == wanted
    assert found.k == min(wanted, default=0)
    assert found.records == sum(weight(table, row) for row in shown)


@examples(60)
@given(table=tables(), population=tables())
def test_raw_rows_are_matched_by_their_very_values(table, population):
    names = [name for name in table.quasi if name in population.quasi]
    if not names:
        with pytest.raises(InputError, match="share no quasi-identifier"):
            k_map(table, population)
        return

    def rows(source):
        return list(zip(*(source[name].to_arrow().to_pylist() for name in names), strict=True))

    everybody = [
        values
        for row, values in enumerate(rows(population))
        for _ in range(weight(population, row))
    ]
    assert k_map(table, population).people.tolist() == [everybody.count(v) for v in rows(table)]


def test_values_that_the_original_lacks_lie_inside_published_bounds(released):
    release = released({"age": [20, 30, 41, 47]}, [0, 0, 1, 1])
    people = table_of(age=[19, 20, 25, 30, 31, 41, 44, 47, 47, 60])
    assert k_map(release, people).people.tolist() == [3, 3, 4, 4]


def test_what_is_hidden_may_be_anybody_and_a_new_name_fits_nothing_else(released):
    release = released({"town": ["a", "b", "c", "c"], "sex": ["m", "f", "m", "m"]}, [0, 0, 1, 1])
    people = table_of(town=["a", "new", "c"], sex=["m", "m", "m"])
    assert k_map(release, people, known=["town"]).people.tolist() == [1, 1, 1, 1]
    stars = released({"town": ["a", "b"]}, [0, 0], town={"hierarchy": {"suppression": None}})
    assert k_map(stars, people).people.tolist() == [3, 3]
    hidden = released({"town": ["a", "b"]}, [-1, -1])
    assert k_map(hidden, people).k == 0  # nobody is released


def test_records_below_are_counted_by_what_stands_behind_them(released):
    release = released({"age": [1, 2, 3, 4]}, [0, 0, 1, 1], counts=[5, 1, 1, 1])
    found = k_map(release, table_of(age=[1, 3, 3, 3]))
    assert (found.k, found.below(2), found.below(4), found.records) == (1, 6, 8, 8)


def test_identifiers_are_no_shared_columns():
    table = Table.from_arrow(pa.table({"id": [1, 2]}), {"id": "identifier"})
    with pytest.raises(InputError, match="is an identifier"):
        k_map(table, table, known=["id"])


def test_values_are_found_by_value_or_by_text():
    column, other = table_of(x=[3, 5])["x"], table_of(x=["5", "7"])["x"]
    assert codes_in(column, other).tolist() == [1, -1]
    assert codes_in(column, table_of(x=[3, 4, 5])["x"]).tolist() == [0, -1, 1]


def test_marked_codes_become_runs():
    marked = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.bool_)
    found = subsets_of(marked)
    assert [found.starts.tolist(), found.stops.tolist()] == [[0, 3, 0], [2, 4, 4]]
    assert found.indptr.tolist() == [0, 2, 2, 3]


def test_an_entry_that_admits_nobody_fits_nobody(released):
    release = released({"age": [20, 30, 60, 70]}, [0, 0, 1, 1])
    people = table_of(age=[40, 50, 65])
    published, rows = published_cells(release, people, ["age"])
    assert fit_people(published, people).people_of.tolist() == [0, 0, 1, 1]
    assert rows.tolist() == [0, 1, 2, 3]
