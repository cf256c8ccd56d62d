"""The screen Release: figures, studies and downloads of a finished release."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("nicegui")

from nicegui import ui
from nicegui.testing import user_simulation
from nicegui.testing.user_interaction import UserInteraction

import shoal
from shoal.report.document import contents
from shoal.risk import assess
from shoal.web.project.column_roles import ColumnInfo, Columns
from shoal.web.project.guarantee import Guarantee
from shoal.web.project.lattice import explore
from shoal.web.project.opening import Preview, Source
from shoal.web.project.runs import Run
from shoal.web.screens import layout
from shoal.web.screens.group_dialogs import FilePicker
from shoal.web.screens.release_evidence import read_answers
from shoal.web.text import release as text


@cache
def made(k):
    patients = shoal.datasets.patients(300, seed=2)
    return shoal.anonymize(patients, k=k)


@cache
def report(k):
    return json.dumps(contents(made(k)))


class Answered:
    """A job that has ended with a result, or with an error."""

    def __init__(self, result, error=""):
        self.state, self.result, self.error = "failed" if error else "done", result, error
        self.fraction, self.text, self.on_change = 1.0, "", None

    def cancel(self):
        self.state = "cancelled"


class Busy(Answered):
    """A job that never ends on its own."""

    def __init__(self):
        super().__init__(None)
        self.state, self.fraction, self.text = "running", 0.4, "counting groups"

    def cancel(self):
        self.state = "cancelled"
        self.on_change()


def add_run(project, name, k):
    folder = project.workspace / name
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(report(k), encoding="utf-8")
    files = {"json": folder / "report.json", "release": folder / "patients.csv"}
    files["release"].write_text("age\n", encoding="utf-8")
    guarantee = Guarantee(k=k)
    summary = {"quasi": list(made(k).original.quasi), "options": {}, "node": None}
    project.runs.append(Run(name, guarantee, folder, "done", 1.0, "", summary, files))


@asynccontextmanager
async def opened(project, answer, sizes=(3,)):
    columns = made(3).original
    names = tuple(column.name for column in columns)
    project.source = Source(
        Path("patients.csv"), "patients.csv", rows=300, preview=Preview(names, ())
    )
    project.columns = Columns(ColumnInfo(c.name, str(c.role), str(c.role)) for c in columns)
    project.refresh = lambda: None
    project.asked = []

    def start(task, *arguments):
        project.asked.append((task.__name__, arguments))
        return answer(task, *arguments)

    project.start_job = start
    for k in sizes:
        add_run(project, f"k is {k}", k)
    async with user_simulation() as user:
        layout.register(project)
        await user.open("/release")
        yield user


def simulate(project, steps, answer=lambda *_: Busy(), **options):
    async def run():
        async with opened(project, answer, **options) as user:
            await steps(user)

    asyncio.run(run())


def press(user, name, kind=ui.button):
    """Click the button with exactly this name that is not in a dialog."""
    shown = [e for e in user.find(kind).elements if name in (e.props.get("label"), _text(e))]
    shown = [e for e in shown if not any(isinstance(a, ui.dialog) for a in e.ancestors())]
    UserInteraction(user, {shown[0]}, name).click()


def _text(element):
    return getattr(element, "text", None)


async def open_tab(user, name):
    (tabs,) = user.find(ui.tabs).elements
    tabs.set_value(next(kind for kind, words in text.TABS.items() if words == name))
    await asyncio.sleep(0.05)


def test_the_promise_the_figures_and_the_columns_are_shown(project):
    async def steps(user):
        await user.should_see("Smallest group")
        await user.should_see("1 in 3")
        await user.should_see("birth_date")
        await user.should_see(text.NOT_COVERED)
        await user.should_see("Released table (csv)")

    simulate(project, steps)


def test_two_releases_are_shown_side_by_side(project):
    async def steps(user):
        await open_tab(user, text.TABS["beside"])
        await user.should_see("1 in 3")
        await user.should_see("1 in 6")
        await user.should_see(text.BEST)

    simulate(project, steps, sizes=(3, 6))


def test_one_release_has_nothing_beside_it(project):
    async def steps(user):
        await open_tab(user, text.TABS["beside"])
        await user.should_see(text.BESIDE_FEW)

    simulate(project, steps)


def test_a_study_shows_progress_and_can_be_cancelled(project):
    async def steps(user):
        await open_tab(user, text.TABS["levels"])
        press(user, text.EXPLORE)
        await user.should_see("Counting groups")
        press(user, text.CANCEL)
        await user.should_see(text.CANCELLED_WORK)
        await user.should_see(text.EXPLORE)
        assert project.asked[0][0] == "list_nodes"

    simulate(project, steps)


def test_a_failure_is_explained(project):
    async def steps(user):
        await open_tab(user, text.TABS["choices"])
        press(user, text.COMPARE)
        await user.should_see("Not enough memory")

    simulate(project, steps, lambda *_: Answered(None, "not enough memory"))


def test_alternatives_lead_to_the_screen_protect(project):
    rows = [
        {"method": method, "options": {}, "model": "", "k": k, "status": "done", "reason": "",
         "highest risk": 1 / k, "hierarchy-ncp": loss, "suppressed": 0, "records": 300}
        for method, k, loss in [("mondrian", 3, 0.2), ("flash", 6, 0.3), ("sorted", 12, 0.8)]
    ]  # fmt: skip

    async def steps(user):
        await open_tab(user, text.TABS["choices"])
        press(user, text.COMPARE)
        await user.should_see("Most detail")
        await user.should_see("Balanced")
        await user.should_see("Most protected")
        await user.should_see(text.RECOMMENDED)
        await user.should_see(text.AS_TABLE)
        buttons = user.find(ui.button).elements
        named = [b for b in buttons if b.props.get("aria-label") == text.use_named("flash", 6)]
        UserInteraction(user, {named[0]}, "use").click()
        assert (project.guarantee.method, project.guarantee.k) == ("flash", 6)

    simulate(project, steps, lambda *_: Answered({"rows": rows, "loss": "hierarchy-ncp"}))


def test_risk_is_answered_for_the_ticked_knowledge(project):
    def answer(task, request, folder, known):
        inside = assess(made(3), list(known), seed=0).to_dict()
        return Answered({"inside": inside, "outside": None})

    async def steps(user):
        await open_tab(user, text.TABS["risk"])
        for box in user.find(ui.checkbox).elements:
            box.set_value(box.text == "sex")
        press(user, text.ASSESS)
        await user.should_see("An attacker who knows sex of a person")
        assert project.asked[0][1][2] == ("sex",)
        for box in user.find(ui.checkbox).elements:
            box.set_value(False)
        press(user, text.ASSESS)
        await user.should_see(text.NOTHING_KNOWN)
        assert len(project.asked) == 1

    simulate(project, steps, answer)


def points(series):
    """The points of a series, as the page decodes them."""
    encoded = series[":data"].removeprefix('shoalPoints("').removesuffix('")')
    return np.frombuffer(base64.b64decode(encoded), dtype="<f4").reshape(-1, 3)


def test_the_lattice_is_a_picture_and_a_table(project):
    table = made(3).original
    bare = [c for c in table.quasi_columns if c.hierarchy is not None][:2]
    small = shoal.Table(tuple(bare))

    def answer(task, request, output, chosen, share):
        view = explore(small, shoal.KAnonymity(3), max_suppression=share)
        output.write_bytes(pickle.dumps((view, {c.name: c.hierarchy for c in bare})))
        return Answered({"nodes": len(view)})

    async def steps(user):
        await open_tab(user, text.TABS["levels"])
        press(user, text.EXPLORE)
        await user.should_see("combinations of levels")
        (picture,) = user.find(ui.echart).elements
        assert picture.props["aria-label"] == text.LATTICE
        view = explore(small, shoal.KAnonymity(3))
        drawn = np.concatenate([points(series) for series in picture.options["series"]])
        places = np.stack([view.spots.places, view.spots.rows], axis=1)
        assert np.allclose(np.sort(drawn[:, :2], axis=0), np.sort(places, axis=0))
        assert sorted(drawn[:, 2]) == list(range(len(view)))
        await user.should_see(text.NODES)
        await user.should_see(text.NODE)

    simulate(project, steps, answer)


def test_what_is_typed_stays_while_a_study_runs(project):
    async def steps(user):
        await open_tab(user, text.TABS["evidence"])
        user.find(text.QUESTIONS["purpose"][0]).type("research")
        press(user, text.ATTACK)
        await user.should_see("Counting groups")
        assert project.answers["purpose"] == "research"
        (field,) = [
            e
            for e in user.find(ui.input).elements
            if e.props.get("label") == text.QUESTIONS["purpose"][0]
        ]
        assert field.value == "research"

    simulate(project, steps)


def test_the_evidence_pack_takes_the_answers(project):
    async def steps(user):
        await open_tab(user, text.TABS["evidence"])
        user.find(text.QUESTIONS["purpose"][0]).type("research")
        user.find(text.QUESTIONS["maximum_risk"][0]).type("often")
        press(user, text.PACK)
        await user.should_see(text.WRONG_NUMBER)
        user.find(kind=ui.input, content=text.QUESTIONS["maximum_risk"][0]).clear().type("0.2")
        press(user, text.PACK)
        await user.should_see("abc123")
        assert project.asked[-1][1][-1] == {"purpose": "research", "maximum_risk": 0.2}

    simulate(project, steps, lambda *_: Answered({"sha256": "abc123"}))


def test_the_evidence_pack_takes_a_table_of_zip_code_areas(project):
    def send(user, content):
        (picker,) = user.find(kind=FilePicker).elements
        data = {"name": "zip3.csv", "content": base64.b64encode(content).decode()}
        UserInteraction(user, {picker}, None).trigger("picked", data)

    async def steps(user):
        await open_tab(user, text.TABS["evidence"])
        send(user, b"zip3,people\nnowhere,12\n")
        await user.should_see("The table of areas: line 2 is not a three-digit area and a number")
        assert project.areas == {}
        send(user, b"zip3,people\n036,12000\n100,1500000\n")
        await user.should_see("2 areas, 1 of them with more than 20,000 people.")
        press(user, text.PACK)
        await user.should_see("abc123")
        assert project.asked[-1][1][-1]["area_populations"] == {"036": 12000, "100": 1500000}
        press(user, text.AREAS_REMOVE)
        assert project.areas == {}

    simulate(project, steps, lambda *_: Answered({"sha256": "abc123"}))


def test_every_question_of_the_evidence_pack_has_a_field():
    from dataclasses import fields

    from shoal.evidence import Questionnaire

    elsewhere = {"columns", "area_populations"}  # the roles, and a table that is chosen
    assert set(text.QUESTIONS) == {f.name for f in fields(Questionnaire)} - elsewhere
    answers = dict.fromkeys(text.QUESTIONS, "1")
    assert Questionnaire.of(read_answers(answers)).population == 1


def test_a_damaged_report_does_not_break_the_screen(project):
    async def steps(user):
        project.runs[0].files["json"].write_text("{}", encoding="utf-8")
        await user.open("/release")
        await user.should_see(text.FAILED)

    simulate(project, steps)
