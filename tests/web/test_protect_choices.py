"""Choices on the Protect screen: levels by hand, what a sentence costs, and what is promised."""

from __future__ import annotations

import asyncio
import csv
from collections import defaultdict

import pyarrow
import pyarrow.csv
import pytest

pytest.importorskip("nicegui")

from nicegui import ui
from tests.web.conftest import finished
from tests.web.test_screens import simulate, until

from shoal.web.project.analyst import Desk, FileRequest, TableRequest
from shoal.web.project.feedback import count_groups
from shoal.web.project.guarantee import PRIVATE, RARE, Sentence, not_promised
from shoal.web.project.lattice import offer_levels, stated_levels
from shoal.web.text import common, protect
from shoal.web.text import protect as private_draw


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


def test_rare_values_are_promised_to_stay_rare_and_a_column_without_a_promise_is_named(
    project, skewed
):
    async def body(user):
        await project.open(skewed)
        project.set_role(["diagnosis", "hiv"], "sensitive")
        usual = (Sentence("l-diversity", "diagnosis", 2), Sentence(RARE, "hiv", 0.2))
        assert project.guarantee.sentences == usual
        await user.open("/protect")
        await user.should_see("In each group, rare values of hiv are more frequent")
        await until(lambda: len(project.figures.costs) == 2)
        await user.should_see("Costs next to nothing.")
        await user.should_not_see(protect.PROMISE_IT)
        project.promise(sentences=usual[:1])
        (unprotected,) = not_promised(project.columns, project.guarantee)
        await user.should_see(protect.not_promised(unprotected.name))
        user.find(protect.PROMISE_IT).click()
        assert project.guarantee.sentences == usual
        await user.should_not_see(protect.PROMISE_IT)
        strict = Sentence("l-diversity", "hiv", 2)
        project.promise(sentences=(usual[0], strict))
        await until(lambda: strict in project.figures.costs)
        assert project.figures.costs[strict] > project.figures.costs[usual[0]]
        await user.should_see("the most of these sentences")

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


def test_a_promise_about_rare_values_holds_and_is_repeated_by_the_command(project, skewed):
    async def run():
        await project.open(skewed)
        project.set_role(["diagnosis"], "insensitive")
        project.set_role(["hiv"], "sensitive")
        project.start_run()
        return await finished(project)

    made = asyncio.run(run())
    assert made.state == "done", made.text
    assert "t-closeness(t=0.2, column=hiv, distance=equal)" in made.files["command"].read_text()
    with made.files["release"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    whole = sum(row["hiv"] == "yes" for row in rows) / len(rows)
    groups = defaultdict(list)
    for row in rows:
        groups[row["age"]].append(row["hiv"] == "yes")
    assert whole == 0.01
    assert max(sum(group) / len(group) for group in groups.values()) <= whole + 0.2 + 1e-9


def test_differential_privacy_and_back_keeps_the_sentences_and_every_part_follows(project, skewed):
    async def body(user):
        await project.open(skewed)
        project.set_role(["diagnosis", "hiv"], "sensitive")
        stated = project.guarantee.sentences
        await user.open("/protect")
        user.find(protect.ADVANCED).click()
        (method,) = (
            s for s in user.find(kind=ui.select).elements if s.props.get("label") == protect.METHOD
        )
        user.find(private_draw.SWITCH).click()
        assert (project.guarantee.method, method.value) == (PRIVATE, PRIVATE)
        assert str(project.guarantee.model) == "k-anonymity(k=5)"
        assert not_promised(project.columns, project.guarantee) == ()
        await user.should_see(protect.ONLY_SIZES)
        await user.should_not_see("In each group, there are at least")
        user.find(private_draw.SWITCH).click()
        assert (project.guarantee.method, method.value) == ("mondrian", "mondrian")
        assert project.guarantee.sentences == stated
        await user.should_see("In each group, there are at least")
        method.value = PRIVATE
        await user.should_see(private_draw.DECLARE)

    simulate(project, body)
