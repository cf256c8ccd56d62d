"""Differential privacy in the web app: nothing is claimed before everything is declared."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from tests.web.conftest import finished

from shoal.web.project.feedback import STARTS, bounds_of, foresee_draw, values_of
from shoal.web.project.guarantee import PRIVATE

TINY = "200MB"  # every table is larger, because Shoal itself needs as much


def run(coroutine):
    return asyncio.run(coroutine)


@pytest.mark.parametrize("memory", [None, TINY], ids=["in memory", "on disk"])
def test_a_private_draw_needs_declarations_and_then_states_its_claim(project, tmp_path, memory):
    project.memory = memory
    path = tmp_path / "people.csv"
    rows = "".join(f"{20 + i % 40},{'fm'[i % 2]},{'yn'[i % 3 == 0]}\n" for i in range(900))
    path.write_text(f"age,sex,ill\n{rows}", encoding="utf-8")

    async def body():
        await project.open(path)
        roles = {"age": "quasi", "sex": "quasi", "ill": "sensitive"}
        for name, role in roles.items():
            project.set_role([name], role)
        project.promise(method=PRIVATE, options={**STARTS, "seed": 1}, k=40)
        before = foresee_draw(project).problem
        age = bounds_of(project.columns["age"], "0", "110")
        project.change_columns(["age"], declared=age, recipe={"intervals": [10, 40]})
        project.change_columns(["sex"], declared=values_of("f, m"))
        project.change_columns(["ill"], declared=values_of("y, n"))
        project.start_run()
        return before, foresee_draw(project), await finished(project)

    before, outlook, done = run(body())
    assert before == "State the possible values of age, sex, ill."
    assert "differential privacy" in outlook.note
    assert done.state == "done", done.text
    assert done.summary["claims"]
    assert done.summary["records"] is None
    assert done.summary["suppressed"] is None
    assert done.request.on_disk == (memory is not None)
    assert {"report", "json"} <= set(done.files)
    released = done.files["release"].read_bytes()
    for kind in ("release", "report"):
        done.files[kind].unlink()
    program = [sys.executable, done.files["python"].name]
    subprocess.run(program, cwd=done.folder, check=True, capture_output=True)
    assert done.files["release"].read_bytes() == released


def test_bounds_and_values_are_read_strictly(project, patients):
    run(project.open(patients))
    columns = project.columns
    assert bounds_of(columns["birth_date"], "1900-01-01", "2030-12-31") == {
        "type": "date",
        "bounds": ["1900-01-01", "2030-12-31"],
    }
    assert bounds_of(columns["birth_date"], "1900", "2030") is None
    assert bounds_of(columns["birth_date"], "2030-12-31", "1900-01-01") is None
    assert values_of("only") is None
