"""Choices on the Protect screen: levels by hand, what a sentence costs, and what is promised."""

from __future__ import annotations

import asyncio

import pyarrow
import pyarrow.csv
import pytest

pytest.importorskip("nicegui")

from nicegui import ui
from tests.web.conftest import finished
from tests.web.test_screens import simulate, until

from shoal.web.project.desk import Desk, FileRequest, TableRequest
from shoal.web.project.feedback import count_groups
from shoal.web.project.guarantee import Sentence
from shoal.web.project.levels import offer_levels, stated_levels
from shoal.web.project.promises import not_promised
from shoal.web.text import common, protect


@pytest.fixture(scope="module")
def skewed(tmp_path_factory):
    """Four hundred people, of whom four have a rare illness."""
    path = tmp_path_factory.mktemp("skewed") / "people.csv"
    rows = range(400)
    table = {
        "age": [20 + i % 40 for i in rows],
        "diagnosis": ["flu" if i % 3 else "cold" for i in rows],
        "hiv": ["yes" if i % 100 == 0 else "no" for i in rows],
    }
    pyarrow.csv.write_csv(pyarrow.table(table), path)
    return path


def test_levels_are_offered_with_examples_and_a_valid_start(skewed):
    specs = {"age": {"role": "quasi"}, "diagnosis": {"role": "sensitive"}}
    trees = {"age": {"intervals": [5, 10]}}
    request = TableRequest(FileRequest(skewed), specs, trees, {"rows_are_people": True})
    desk = Desk()
    offer = offer_levels(desk, request, "k-anonymity(15)", 0.0)
    assert [(each.column, each.height) for each in offer.columns] == [("age", 3)]
    assert offer.columns[0].examples == ("20", "[20, 25[", "[20, 30[", "*")
    assert offer.start == {"age": 1}
    groups = count_groups(desk, request, 15, offer.start)
    assert (groups.smallest, groups.at_risk, groups.kept) == (50, 0, 0.0)
    hidden = TableRequest(FileRequest(skewed), specs, {}, {"rows_are_people": True})
    assert count_groups(desk, hidden, 15, {"age": 1}).smallest == 400


def test_a_level_chosen_by_hand_changes_the_figures_and_is_released(project, skewed):
    async def body(user):
        await project.open(skewed)
        await user.open("/protect")
        user.find(protect.BY_HAND_SWITCH).click()
        await until(lambda: stated_levels(project.guarantee) is not None)
        await user.should_see(protect.BY_HAND_HINT)
        await until(lambda: project.figures.levels is not None)
        label = f"{protect.BY_HAND}: age"
        (field,) = (
            s for s in user.find(kind=ui.select).elements if s.props.get("aria-label") == label
        )
        field.value = 2
        assert stated_levels(project.guarantee)["age"] == 2
        await until(lambda: project.figures.levels.smallest > 90)
        await user.should_see(protect.AT_LEVELS)
        await until(lambda: project.figures.outlook is not None and project.figures.outlook.exact)
        user.find(common.CREATE).click()
        await until(lambda: bool(project.runs))
        made = await finished(project)
        assert made.summary["node"] == {"age": 2}
        assert 'levels={"age": 2}' in made.files["command"].read_text()
        await user.open("/protect")
        user.find(protect.BY_HAND_SWITCH).click()
        await until(lambda: project.guarantee.method == "mondrian")

    simulate(project, body)


def test_nothing_is_promised_about_a_rare_value_until_it_is_asked_for(project, skewed):
    async def body(user):
        await project.open(skewed)
        project.set_role(["diagnosis", "hiv"], "sensitive")
        assert project.guarantee.sentences == (Sentence("l-diversity", "diagnosis", 2),)
        assert [column.name for column in not_promised(project.columns, project.guarantee)] == [
            "hiv"
        ]
        await user.open("/protect")
        await user.should_see("Nothing is promised about hiv: 99 % of the rows")
        await until(lambda: len(project.figures.costs) == 1)
        await user.should_see("Costs next to nothing.")
        user.find(protect.PROMISE_IT).click()
        await until(lambda: len(project.figures.costs) == 2)
        diagnosis, hiv = project.figures.costs.values()
        assert hiv > diagnosis
        await user.should_see("the most of these sentences")
        await user.should_not_see(protect.PROMISE_IT)

    simulate(project, body)


def test_a_guarantee_without_levels_has_no_figures_of_levels(project, skewed):
    async def run():
        await project.open(skewed)
        project.promise(method="flash", options={"levels": {"age": 1}})
        await until(lambda: project.figures.levels is not None)
        project.promise(method="mondrian", options={})
        await until(lambda: project.figures.levels is None)
        assert project.figures.groups is not None  # those of the values as they are

    asyncio.run(run())
