"""Opening a file: its settings are detected and can be corrected, and people are asked about."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.web.project.topics import Step, Topic

DETAILED = ("birth_date", "cost", "admission_date", "occupation", "postcode")
VISITS = "patient_id;age;ill\n" + "".join(f"p{i // 2};{20 + i % 9};flu\n" for i in range(40))


def write(folder, text, name="table.csv"):
    path = Path(folder, name)
    path.write_text(text, encoding="utf-8")
    return path


async def opened(project, path, **form):
    await project.open(path, **form)
    return project.source


def run(coroutine):
    return asyncio.run(coroutine)


def test_settings_columns_and_figures_are_found(project, patients):
    async def body():
        seen = []
        project.subscribe(seen.append)
        source = await opened(project, patients)
        await project._live._task
        return source, seen

    source, seen = run(body())
    assert (source.rows, source.people) == (400, 400)
    assert source.detected["delimiter"] == ","
    assert len(source.preview.rows) == 400
    assert project.columns["name"].role == "identifier"
    assert "birth_date" in project.columns.quasi
    assert project.columns["diagnosis"].role == "sensitive"
    assert project.guarantee.sentences[0].column == "diagnosis"
    assert project.figures.groups.people == 400
    assert project.figures.outlook.exact
    assert Topic.FIGURES in seen
    assert project.busy == project.problem == ""


def test_a_wrong_setting_is_corrected(project, tmp_path):
    async def body():
        path = write(tmp_path, "age|sex\n31,5|f\n47,5|m\n" * 1 + "33,5|f\n" * 5)
        await opened(project, path, delimiter=";")
        before = project.source.preview.names
        await project.correct(delimiter=None)
        middle = project.columns["age"].type
        await project.correct(decimal=",")
        return before, middle

    before, middle = run(body())
    assert before == ("age|sex",)
    assert middle == "text"
    assert project.columns["age"].type != "text"
    assert project.source.form == {"decimal": ","}


def test_a_file_that_cannot_be_read_says_why_and_keeps_the_form(project, tmp_path):
    run(opened(project, write(tmp_path, "31,f\n47,m\n33,f\n")))
    assert "looks like data" in project.problem
    assert "31" not in project.problem
    assert project.source.name == "table.csv"
    assert not project.is_ready(Step.DESCRIBE)
    run_again = run(corrected(project, header=False))
    assert run_again == ("column_1", "column_2")


async def corrected(project, **form):
    await project.correct(**form)
    return project.source.preview.names


def test_a_file_that_is_not_there_says_so(project, tmp_path):
    run(opened(project, tmp_path / "nothing.csv"))
    assert "nothing.csv" in project.problem


def test_a_repeated_identifier_asks_who_a_person_is(project, tmp_path):
    source = run(opened(project, write(tmp_path, VISITS)))
    assert (source.question.column, source.question.distinct) == ("patient_id", 20)
    assert source.person == ("patient_id",)
    assert not source.rows_are_people
    project.set_person(())
    assert project.source.rows_are_people
    assert project.table.units == {"person": (), "household": (), "rows_are_people": True}


def test_a_workbook_is_opened_at_its_first_table_and_other_sheets_stay_on_offer(project, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["Read this first"])
    people = book.create_sheet("people")
    for row in (("age", "sex"), (31, "f"), (47, "m")):
        people.append(row)
    path = tmp_path / "book.xlsx"
    book.save(path)
    run(project.open(path))
    assert (project.source.form["sheet"], project.source.rows) == ("people", 2)
    run(project.correct(sheet="notes"))
    assert "no rows" in project.problem
    assert project.source.sheets == ("notes", "people")
    run(project.correct(sheet="people"))
    assert (project.problem, project.source.rows) == ("", 2)


def test_a_sheet_is_chosen(project, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["age"])
    second = book.create_sheet("people")
    for row in (["age", "sex"], [31, "f"], [47, "m"]):
        second.append(row)
    book.active.append([3])
    path = tmp_path / "book.xlsx"
    book.save(path)
    source = run(opened(project, path))
    assert len(source.sheets) == 2
    assert source.preview.names == ("age",)
    assert run(corrected(project, sheet="people")) == ("age", "sex")


def test_figures_follow_roles_and_k(project, patients):
    async def body():
        await opened(project, patients)
        await project._live._task
        first = project.figures
        project.set_role(list(DETAILED), "left out")
        await project._live._task
        second = project.figures
        project.promise(k=20)
        await project._live._task
        return first, second, project.figures

    first, second, third = run(body())
    assert first.groups.unique > second.groups.unique
    assert third.groups.at_risk > second.groups.at_risk
    assert third.outlook.smallest >= 20
    assert third.outlook.kept <= second.outlook.kept


def test_an_answer_that_is_no_longer_wanted_is_not_shown(project, patients):
    async def body():
        await opened(project, patients)
        for k in (3, 4, 6, 7):
            project.promise(k=k)
        await project._live._task
        return project.figures.groups.k

    assert run(body()) == 7


def test_another_file_starts_afresh(project, patients, tmp_path):
    async def body():
        await opened(project, patients)
        project.promise(k=9)
        await opened(project, write(tmp_path, VISITS))

    run(body())
    assert project.guarantee.k == 5
    assert "diagnosis" not in project.columns
    project.forget()
    assert project.source is None
    assert not project.is_ready(Step.DESCRIBE)


def test_nothing_is_guessed_about_people(project, tmp_path):
    rows = "".join(f"Ann Lee {i // 2},{20 + i % 9},flu\n" for i in range(40))
    path = write(tmp_path, f"full_name,age,ill\n{rows}")
    source = run(opened(project, path))
    if source.person:  # a name that repeats may be suggested as the person
        project.source = replace(source, person=())
    assert project.source.asks_for_person
    assert project.obstacle(Step.DESCRIBE) == "Say what identifies a person in this table."
    project.set_person(())
    assert project.is_ready(Step.DESCRIBE)
