"""The screens Open, Describe and Protect, in a simulated browser."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("nicegui")

from nicegui import ui
from nicegui.testing import user_simulation
from tests.web.conftest import finished

from shoal.support.wording import option
from shoal.web.project import guarantee
from shoal.web.project.topics import Step, Topic
from shoal.web.screens import layout
from shoal.web.text import common, group, open, protect
from shoal.web.text import open as describe

SECONDS = 60  # for a busy machine


def simulate(project, body):
    """Run the body with a user whose browser shows the pages of a project."""

    async def main():
        async with user_simulation() as user:
            layout.register(project)
            await body(user)

    asyncio.run(main())


async def until(condition):
    for _ in range(20 * SECONDS):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("what was expected did not happen")


async def go_on(user, title):
    """Press Next, and wait for the title of the screen that it leads to."""
    user.find(common.NEXT).click()
    await user.should_see(title)


def test_five_actions_lead_from_a_file_to_a_release(project, patients):
    async def body(user):
        await user.open("/")
        await user.should_see(open.TITLE)
        user.find(open.PATH).type(str(patients))
        user.find(kind=ui.button, content=open.OPEN).click()
        await until(lambda: project.is_ready(Step.DESCRIBE) and not project.busy)
        await go_on(user, describe.DESCRIBE_TITLE)
        await go_on(user, group.LEAD)
        await go_on(user, protect.TITLE)
        user.find(common.CREATE).click()
        await until(lambda: bool(project.runs))
        done = await finished(project)
        assert done.state == "done"
        assert done.files["release"].exists()

    simulate(project, body)


def test_a_step_that_is_not_open_leads_back_to_the_one_that_is_missing(project, patients):
    async def body(user):
        await user.open("/protect")
        await user.should_see(open.TITLE)
        await user.should_see("Open a table first.")
        await project.open(patients)
        await user.open("/release")
        await user.should_see(protect.TITLE)

    simulate(project, body)


def test_a_reload_and_a_second_tab_see_the_same_state(project, patients):
    async def body(user):
        await project.open(patients)
        project.promise(k=9)
        await user.open("/protect")
        fields = [n.value for n in user.find(kind=ui.number).elements]
        assert 9 in fields
        await user.open("/protect")
        assert 9 in [n.value for n in user.find(kind=ui.number).elements]

    simulate(project, body)


def test_the_file_that_cannot_be_read_is_explained_and_corrected(project, tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("31,f\n47,m\n33,f\n", encoding="utf-8")

    async def body(user):
        await user.open("/")
        await project.open(path)
        await user.should_see(open.NO_NAMES)
        user.find(open.NO_NAMES_YES).click()
        await until(lambda: not project.problem and not project.busy and len(project.columns))
        await user.should_see(open.FIRST_ROWS)

    simulate(project, body)


def test_names_that_look_like_data_can_be_names(project, tmp_path):
    path = tmp_path / "years.csv"
    path.write_text("2001,2002\n31,47\n33,40\n31,52\n", encoding="utf-8")

    async def body(user):
        await user.open("/")
        await project.open(path)
        await user.should_see(open.NO_NAMES)
        await user.should_see(guarantee.NOT_READ)
        user.find(open.NO_NAMES_NO).click()
        await until(lambda: not project.problem and not project.busy and len(project.columns))
        assert [column.name for column in project.columns] == ["2001", "2002"]

    simulate(project, body)


def test_the_person_is_asked_and_counted(project, tmp_path):
    path = tmp_path / "visits.csv"
    rows = "".join(f"p{i // 2},{20 + i % 9}\n" for i in range(40))
    path.write_text(f"patient_id,age\n{rows}", encoding="utf-8")

    async def body(user):
        await project.open(path)
        await user.open("/")
        await user.should_see(open.PERSON)
        user.find(open.PERSON_ROWS).click()
        assert project.source.rows_are_people
        await project._live._task
        assert project.figures.groups.people == 40

    simulate(project, body)


def test_hints_are_in_the_words_of_the_screen(project, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("age\n" + "".join(f"{20 + i % 9}\n" for i in range(40)), encoding="utf-8")

    async def body(user):
        await project.open(path)
        project.hints = (
            {"columns": ["age"], "hint": f"repeats: state {option('rows_are_people', True)}"},
            {"columns": ["age"], "hint": f"numbers; fix or declare with {option('missing')}"},
            {"columns": ["age"], "hint": f"a decimal comma: add {option('decimal', ',')}"},
            {"columns": ["sex"], "hint": f"spaces around cells: add {option('trim', True)}"},
        )
        await user.open("/")
        await user.should_see("40 records · 1 column ·")
        await user.should_not_see("rows_are_people")
        await user.should_see(f"age: numbers; fix them, or list them below: {open.MISSING}")
        await user.should_see("age: a decimal comma")
        await user.should_not_see("decimal=")
        await user.should_see("sex: spaces around cells")
        await user.should_not_see("trim=")

    simulate(project, body)


def test_roles_change_one_by_one_and_together(project, patients):
    async def body(user):
        await project.open(patients)
        await user.open("/describe")
        await project._live._task
        await user.should_see(describe.banner(len(project.columns.quasi), 400, 400))
        [table] = [t for t in user.find(kind=ui.table).elements if t.selection == "multiple"]
        _emit(table, "role", {"name": "cost", "value": "left out"})
        assert project.columns["cost"].role == "left out"
        table.selected = [row for row in table.rows if row["name"] in ("sex", "ethnicity")]
        several = _labelled(user, ui.select, describe.SET_ROLE)
        several.value = "insensitive"
        assert project.columns.names("insensitive") == ("sex", "ethnicity")
        shown = _labelled(user, ui.select, describe.SHOW)
        shown.value = "insensitive"
        assert [row["name"] for row in table.rows] == ["sex", "ethnicity"]

    simulate(project, body)


def test_pseudonyms_need_a_key_and_a_recipient(project, patients, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    async def body(user):
        await project.open(patients)
        project.change_columns(["patient_id"], replace={"pseudonym": {}})
        await user.open("/describe")
        await user.should_see("Choose a key file and a recipient")
        user.find(describe.NEW_KEY).click()
        await until(lambda: project.key_file is not None)
        assert (tmp_path / "Shoal" / "key.bin").stat().st_mode & 0o077 == 0
        project.set_secret(domain="study")
        assert project.is_ready(Step.PROTECT)
        await user.should_not_see("Choose a key file and a recipient")

    simulate(project, body)


def test_the_promise_is_changed_sentence_by_sentence(project, patients):
    async def body(user):
        await project.open(patients)
        await user.open("/protect")
        k = next(n for n in user.find(kind=ui.number).elements if n.value == 5)
        k.value = 8
        assert project.guarantee.k == 8
        user.find(kind=ui.button, content=protect.ADD_BUTTON).click()
        assert [s.model for s in project.guarantee.sentences] == ["l-diversity", "t-closeness"]
        method = _labelled(user, ui.select, protect.METHOD)
        method.value = "flash"
        await user.should_see(protect.SUPPRESSION_AFTER)
        share = next(
            n
            for n in user.find(kind=ui.number).elements
            if n.props.get("aria-label") == protect.SUPPRESSION_LABEL
        )
        share.value = 2
        assert project.guarantee.options == {"max_suppression": 0.02}

    simulate(project, body)


def test_every_method_has_a_form(project, patients, caplog):
    from shoal.methods.registry import METHODS
    from shoal.web.project.feedback import STARTS
    from shoal.web.project.guarantee import PRIVATE

    async def body(user):
        await project.open(patients)
        await user.open("/protect")
        method = _labelled(user, ui.select, protect.METHOD)
        for name in METHODS:
            method.value = name
            assert project.guarantee.method == name
            assert project.guarantee.options == (STARTS if name == PRIVATE else {})

    simulate(project, body)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_dark_colours_are_remembered_by_the_project(project):
    async def body(user):
        await user.open("/")
        project.dark = True
        project.touch(Topic.THEME)
        await user.open("/")
        assert [d.value for d in user.find(kind=ui.dark_mode).elements] == [True]

    simulate(project, body)


@pytest.mark.parametrize("step", ["open", "describe", "protect"])
def test_hostile_names_and_values_stay_text(project, tmp_path, step):
    hostile = '<img src=x onerror=alert(1)>" :label="x'
    path = tmp_path / "hostile.csv"
    quoted = hostile.replace('"', '""')
    rows = "".join(f'"{{{{ {i % 3} }}}}",{20 + i % 5}\n' for i in range(30))
    path.write_text(f'"{quoted}",age\n{rows}', encoding="utf-8")

    async def body(user):
        await project.open(path)
        await user.open(f"/{step}")
        for element in user.current_layout.descendants():
            assert ":label" not in element.props
            assert "onerror" not in str(element.props.get("innerHTML", ""))

    simulate(project, body)


def _labelled(user, kind, label):
    found = user.find(kind=kind).elements
    return next(each for each in found if each.props.get("label") == label)


def _emit(element, name, arguments):
    """Send an event of the browser to an element."""
    for listener in element._event_listeners.values():
        if listener.type == name:
            element._handle_event({"listener_id": listener.id, "args": arguments})


def test_two_hundred_columns_are_described_and_filtered(project, tmp_path):
    path = tmp_path / "wide.csv"
    names = ",".join(f"answer_{number}" for number in range(200))
    rows = "".join(",".join(str((i + j) % 7) for j in range(200)) + "\n" for i in range(60))
    path.write_text(f"{names}\n{rows}", encoding="utf-8")

    async def body(user):
        await project.open(path)
        await user.open("/describe")
        [table] = [t for t in user.find(kind=ui.table).elements if t.selection == "multiple"]
        assert len(table.rows) == 200
        project.set_role([f"answer_{number}" for number in range(3, 200)], "left out")
        assert len(project.columns.names("left out")) == 197
        _labelled(user, ui.select, describe.SHOW).value = "quasi"
        assert [row["name"] for row in table.rows] == list(project.columns.quasi)

    simulate(project, body)


def test_a_second_tab_follows_a_change_of_the_first(project, patients):
    async def body(user):
        await project.open(patients)
        await user.open("/describe")
        await project._live._task
        project.set_role([n for n in project.columns.quasi if n != "sex"], "left out")
        await project._live._task
        alone = project.figures.groups.unique
        await user.should_see(describe.banner(1, alone, 400) if alone else describe.nobody(1))

    simulate(project, body)
