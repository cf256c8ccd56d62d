"""The state of the web app: changes reach every listener, and steps open in their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.web.project.column_roles import ColumnInfo, Columns
from shoal.web.project.guarantee import Guarantee, Sentence
from shoal.web.project.opening import Source
from shoal.web.project.project import Project
from shoal.web.project.topics import Step, Topic


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def opened(project):
    project.source = Source(Path("people.csv"), "people.csv", rows=3)
    names = ("name", "age", "disease")
    roles = ("identifier", "quasi", "sensitive")
    project.columns = Columns(map(ColumnInfo, names, roles, roles))
    return project


def test_a_change_reaches_every_listener_until_it_stops(project):
    first, second = [], []
    stop = project.subscribe(first.append)
    project.subscribe(second.append)
    project.touch(Topic.COLUMNS)
    stop()
    stop()
    project.touch(Topic.GUARANTEE)
    assert first == [Topic.COLUMNS]
    assert second == [Topic.COLUMNS, Topic.GUARANTEE]


def test_a_listener_may_stop_itself(project):
    seen = []

    def once(topic):
        seen.append(topic)
        stop()

    stop = project.subscribe(once)
    project.subscribe(seen.append)
    project.touch(Topic.RUNS)
    assert seen == [Topic.RUNS, Topic.RUNS]


def test_steps_open_one_after_another(project):
    assert [step for step in Step if project.is_ready(step)] == [Step.OPEN]
    opened(project)
    ready = [Step.OPEN, Step.DESCRIBE, Step.GROUP, Step.PROTECT]
    assert [step for step in Step if project.is_ready(step)] == ready
    project.columns.set_role(["age"], "insensitive")
    assert [step for step in Step if project.is_ready(step)] == [Step.OPEN, Step.DESCRIBE]


def test_several_columns_change_at_once_or_not_at_all(project):
    columns = opened(project).columns
    columns.set_role(["name", "age"], "left out")
    assert columns.names("left out") == ("name", "age")
    assert columns.specs == {"disease": {"role": "sensitive"}}
    with pytest.raises(InputError, match="no column 'agee'"):
        columns.set_role(["age", "agee"], "quasi")
    with pytest.raises(InputError, match="role must be one of"):
        columns.set_role(["age"], "secret")
    assert columns["age"].role == "left out"


def test_sentences_join_to_one_model():
    wanted = Guarantee(
        3, (Sentence("l-diversity", "disease", 2), Sentence("t-closeness", "b", 0.2))
    )
    shown = "k-anonymity(k=3) & l-diversity(l=2, column=disease) & t-closeness(t=0.2, column=b)"
    assert str(wanted.model) == shown
    assert str(wanted.without({"disease", "b"}).model) == "k-anonymity(k=3)"
