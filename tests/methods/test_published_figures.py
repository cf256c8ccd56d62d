"""Worked examples of de Spoelberch (2020), section 2.1: figures 2.1 to 2.4 (2.5 is a lattice's)."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal import Column, KAnonymity, Recoding, Table

EDUCATION = {"H.S.": ["H.S.-Graduated"], "Further Studies": ["Bachelors", "Masters", "PhD"]}


def incomes(zipcodes, ages, hierarchy):
    data = pa.table({"zipcode": zipcodes, "age": ages, "income": ["52k", "98k", "36k", "64k"]})
    roles = {
        "zipcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "age": {"role": "quasi", "hierarchy": hierarchy},
        "income": "sensitive",
    }
    return Table.from_arrow(data, roles)


def published(release, name):
    return release.to_arrow().column(name).to_pylist()


@pytest.fixture
def figure_2_1():
    """Four people, two by two in region and decade of age."""
    return incomes(["28488", "79203", "28473", "79203"], [33, 24, 39, 27], {"intervals": [10]})


def test_figure_2_1_a_table_and_its_two_anonymous_form(figure_2_1):
    release = shoal.anonymize(figure_2_1, KAnonymity(2))
    assert published(release, "zipcode") == ["284**", "79203", "284**", "79203"]
    assert published(release, "age") == ["[30, 40[", "[20, 30[", "[30, 40[", "[20, 30["]
    assert release.classes.ids.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])


def test_figure_2_2_domains_of_a_zipcode_shrink_level_by_level():
    domain = Column.encode("zipcode", [str(z) for z in range(19300, 19400)])
    tree = domain.with_hierarchy({"mask": "right"}).hierarchy
    assert [len(level) for level in tree.levels] == [100, 10, 1, 1, 1, 1]
    assert tree.levels[2].labels == ("193**",)
    assert tree.levels[-1].labels == ("*",)


def test_figure_2_3_a_column_is_generalized_as_a_whole():
    cells = ["Bachelors", "PhD", "PhD", "H.S.-Graduated"]
    column = Column.encode("education", cells, hierarchy={"tree": EDUCATION})
    once, twice = (Recoding.at_level(column, level).to_arrow().to_pylist() for level in (1, 2))
    assert once == ["Further Studies", "Further Studies", "Further Studies", "H.S."]
    assert twice == ["*"] * 4


@pytest.fixture
def figure_2_4():
    """The ages are decades already; one of the zipcodes is shared, the other two are not."""
    ages = ["30's", "20's", "30's", "20's"]
    return incomes(["28498", "79203", "28473", "79203"], ages, {"tree": ["20's", "30's"]})


@pytest.mark.parametrize("method", ["flash", "ola", "mingen", "incognito", "samarati", "datafly"])
def test_figure_2_4_one_dimension_at_a_time_coarsens_every_zipcode(figure_2_4, method):
    release = shoal.anonymize(figure_2_4, KAnonymity(2), method, max_suppression=0)
    assert published(release, "zipcode") == ["284**", "792**", "284**", "792**"]
    assert published(release, "age") == ["30's", "20's", "30's", "20's"]
    assert release.node == {"zipcode": 2, "age": 0}


def test_figure_2_4_several_dimensions_at_once_keep_the_shared_zipcode(figure_2_4):
    release = shoal.anonymize(figure_2_4, KAnonymity(2), "mondrian")
    assert published(release, "zipcode") == ["284**", "79203", "284**", "79203"]
    assert published(release, "age") == ["30's", "20's", "30's", "20's"]
