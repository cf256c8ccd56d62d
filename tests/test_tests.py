"""The tests keep their own order: each can fail, none waits by the clock, all mirror the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import shoal

HERE = Path(__file__).parent
SOURCE = Path(shoal.__file__).parent
FILES = {str(path.relative_to(HERE)): path for path in sorted(HERE.rglob("*.py"))}
every_file = pytest.mark.parametrize("name", FILES)
JUDGES = {"raises", "warns", "fail"}  # of pytest


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


def idle(source):
    """Return the tests of a module that nothing can turn red."""
    tree = ast.parse(source)
    shared = judging(functions(parsed("judging.py")))
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    known = judging(functions(tree)) | (shared & imported)
    return [f.name for f in functions(tree) if f.name.startswith("test_") and not judges(f, known)]


@every_file
def test_every_test_can_fail(name):
    assert idle(FILES[name].read_text(encoding="utf-8")) == []


def test_a_test_that_asserts_nothing_is_found():
    assert idle("def test_it():\n    run()\n") == ["test_it"]
    assert idle("def check():\n    assert x\ndef test_it():\n    check()\n") == []
    assert idle("from tests.judging import judge\ndef test_it():\n    judge(x)\n") == []


@every_file
def test_nothing_waits_by_the_clock(name):
    named = {getattr(n, "attr", getattr(n, "id", None)) for n in ast.walk(parsed(name))}
    assert "sleep" not in named


@every_file
def test_examples_are_counted_by_the_profile(name):
    stated = {k.arg for n in ast.walk(parsed(name)) if isinstance(n, ast.Call) for k in n.keywords}
    assert name in ("conftest.py", "examples.py") or "max_examples" not in stated


@every_file
def test_no_test_hides_another_of_its_name(name):
    tests = [f.name for f in functions(parsed(name)) if f.name.startswith("test_")]
    assert len(tests) == len(set(tests))


def test_folders_mirror_the_source():
    folders = {path.relative_to(HERE) for path in HERE.rglob("*/") if path.name != "__pycache__"}
    assert [folder for folder in folders if not (SOURCE / folder).is_dir()] == []
