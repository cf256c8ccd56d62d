"""Charts and notebook views: what they show, and that they show no few."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal

PEOPLE = pa.table(
    {
        "age": [*range(20, 40), *range(40, 60)],
        "city": ["ulm"] * 20 + ["bonn"] * 18 + ["<b>rare</b>"] * 2,
        "disease": ["flu", "gout"] * 20,
    }
)


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(PEOPLE, k=5, quasi=["age", "city"], sensitive=["disease"])


def values(chart):
    return chart.to_dict()["data"]["values"]


def test_a_column_is_shown_before_and_after(release):
    found = values(release.chart("city"))
    assert {each["side"] for each in found} == {"before", "after"}
    by_side = {
        side: sum(each["share"] for each in found if each["side"] == side)
        for side in ("before", "after")
    }
    assert by_side == {"before": pytest.approx(1), "after": pytest.approx(1)}


def test_a_value_that_few_people_have_is_not_named(release):
    assert not [each for each in values(release.chart("city")) if "rare" in each["value"]]


def test_a_sensitive_column_is_shown_as_it_is_published(release):
    found = values(release.chart("disease"))
    assert [(each["value"], each["side"], each["share"]) for each in found] == [
        ("flu", "after", 0.5), ("gout", "after", 0.5)
    ]  # fmt: skip


def test_classes_are_counted_by_their_size(release):
    found = values(release.chart())
    assert sum(each["number"] for each in found) == len(release.classes)


def test_the_loss_of_each_column_is_that_of_the_metric(release):
    found = {each["value"]: each["loss"] for each in values(release.chart(of="loss"))}
    by_column = shoal.metrics.ncp_by_attribute(release)
    assert found == pytest.approx(dict(by_column), abs=1e-3)


def test_what_cannot_be_drawn_is_refused(release):
    with pytest.raises(shoal.UnknownColumn, match="there are age, city, disease"):
        release.chart("name")
    with pytest.raises(shoal.InputError, match="did you mean 'loss'"):
        release.chart(of="los")


def test_notebooks_escape_what_they_show(release):
    page = release._repr_html_()
    assert "k-anonymity(k=5): holds" in page
    assert "<b>" not in page
    table = release.original._repr_html_()
    assert "<td>quasi</td>" in table
    assert "ulm" not in table  # a table shows its columns, not its cells


def test_losses_and_risks_are_tables_in_notebooks(release):
    losses = shoal.metrics.evaluate(release, ["ncp"])
    assert losses == {"ncp": losses["ncp"]}
    assert "<td>ncp</td>" in losses._repr_html_()
    assert "age, city" in shoal.risk.assess(release)._repr_html_()
