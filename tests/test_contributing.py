"""What CONTRIBUTING.md says of the code is so: its walk, and the places that its tasks change."""

from __future__ import annotations

import ast
import re

import pytest
from tests.contributing import PAGE, ROOT, TASKS, changed

WALK = re.findall(r"^\| `(\w[^`]*\.py)` \| `(\w+)` \|", PAGE, re.MULTILINE)


def test_every_hop_of_the_walk_is_there():
    assert len(WALK) > 10
    for path, function in WALK:
        tree = ast.parse((ROOT / "src/shoal" / path).read_text(encoding="utf-8"))
        found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in found, (path, function)


def test_every_task_has_commands_that_show_that_it_is_done():
    assert len(TASKS) == PAGE.count("\n## Add ") == 10
    for task in TASKS:
        assert task.changes, task.name
        assert any("pytest" in command for command in task.commands), task.name


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_places_that_a_task_changes_are_there(task, tmp_path):
    for path, _ in task.changes:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    for path in task.files:
        assert not (ROOT / path).exists()
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    task.carry_out(tmp_path)


def test_a_change_is_made_where_its_lines_are():
    assert changed("a\nb\nc\n", " a\n+x\n@@\n-c\n+d\n") == "a\nx\nb\nd\n"
    for lines in ("-b\n", "-aa\n"):
        with pytest.raises(AssertionError, match="not found, or not unique"):
            changed("b\naab\nb\n", lines)
