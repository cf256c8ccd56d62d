"""The tests keep their own order: each can fail, none waits by the clock, all mirror the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import shoal

HERE = Path(__file__).parent
SOURCE = Path(shoal.__file__).parent
FILES = {str(path.relative_to(HERE)): path for path in sorted(HERE.rglob("*.py"))}
JUDGES = {"raises", "warns", "fail", "should_see", "should_not_see"}  # of pytest and NiceGUI


@cache
def parsed(name):
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def judges(function, known):
    """Tell whether a function asserts, or hands over to one that does."""
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Attribute) and node.attr in JUDGES)
        or (isinstance(node, ast.Name) and node.id in known)
        or (isinstance(node, ast.keyword) and node.arg == "check")  # of a process
        for node in ast.walk(function)
    )


def judging(found):
    """Return the names of those functions that judge, by themselves or through each other."""
    known = set()
    while True:
        more = {f.name for f in found if judges(f, known)} - known
        if not more:
            return known
        known |= more


def idle(tree):
    """Return the tests of a module that nothing can turn red."""
    imported = {"expect"}  # Playwright's
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            name = node.module.removeprefix("tests.").replace(".", "/") + ".py"
            known = judging(functions(parsed(name))) if name in FILES else set()
            imported |= {alias.asname or alias.name for alias in node.names if alias.name in known}
    known = judging(functions(tree)) | imported
    return [f.name for f in functions(tree) if f.name.startswith("test_") and not judges(f, known)]


def test_every_test_can_fail():
    assert [(name, *found) for name in FILES if (found := idle(parsed(name)))] == []


def test_a_test_that_asserts_nothing_is_found():
    judged = "def check():\n    assert x\ndef test_it():\n    check()\n"
    assert idle(ast.parse("def test_it():\n    run()\n")) == ["test_it"]
    assert idle(ast.parse(judged)) == []
    assert idle(ast.parse("from tests.judging import judge\ndef test_it():\n    judge(x)\n")) == []


def names(tree):
    return {getattr(node, "attr", getattr(node, "id", None)) for node in ast.walk(tree)}


def test_nothing_waits_by_the_clock():
    # pages and processes of the web app are polled, up to a limit
    timed = [name for name in FILES if not name.startswith("web/")]
    assert [name for name in timed if "sleep" in names(parsed(name))] == []


def keywords(tree):
    return {k.arg for n in ast.walk(tree) if isinstance(n, ast.Call) for k in n.keywords}


def test_examples_are_counted_by_the_profile():
    stated = [name for name in FILES if "max_examples" in keywords(parsed(name))]
    assert stated == ["conftest.py", "examples.py"]


def test_no_test_hides_another_of_its_name():
    for name in FILES:
        tests = [f.name for f in functions(parsed(name)) if f.name.startswith("test_")]
        assert len(tests) == len(set(tests)), name


def test_folders_mirror_the_source():
    folders = {path.relative_to(HERE) for path in HERE.rglob("*/") if path.name != "__pycache__"}
    folders -= {Path("web/browser")}  # all screens together
    assert [f for f in folders if not ((SOURCE / f).is_dir() or (HERE.parent / f).is_dir())] == []


def test_what_make_check_runs_is_there():
    """A quick answer is one test of each family of methods and of each kind of work."""
    listed = (HERE / "check.txt").read_text(encoding="utf-8").split()
    missing = []
    for line in listed:
        path, _, test = line.removeprefix("tests/").partition("::")
        found = functions(parsed(path)) if path in FILES else None
        if found is None or (test and test.partition("[")[0] not in [f.name for f in found]):
            missing.append(line)
    assert missing == []
    folders = {line.split("/")[1] for line in listed if line.count("/") > 1}
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert {room for room in rooms if (HERE / room).is_dir()} - folders == set()
