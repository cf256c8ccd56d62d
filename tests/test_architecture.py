"""The house keeps its order: imports point one way, public names stay, heavy things load late."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases import docs_module

import shoal

SOURCE = Path(shoal.__file__).parent
house = docs_module("house")
LEVELS = house.stated_levels()  # a room imports rooms of lower levels
FREE = {"errors", "_version", "_starting"}  # belong to no room; everything may import them
DOORS = {"core", "reading"}  # offer public names under their former modules; nobody else does
UPWARDS = {  # what points up, and why
    ("release", "report"): "`Release.report` and `Release.chart`, imported when they are called",
    ("cli", "web"): "`shoal web` starts the app",
    ("privacy", "release"): "the type of a population's fit, for annotations only",
    ("release", "metrics"): "releases outside memory measure themselves",
    ("release", "risk"): "the same",
}
PUBLIC = """
    METHODS MODELS BudgetSpent Classes Column Comparison Hierarchy HierarchyError Infeasible
    Inspection InputError Kind MissingExtra NotAnonymous NotConverged OutputError Proof Recoding
    Release Role Run Schema ShoalError Table UnassignedColumns UnknownColumn anonymize check
    compare datasets dp evidence hierarchies identifiers inspect metrics open read read_released
    report risk robust sklearn projects suggest_hierarchies utility
""".split()  # besides methods and models, which the contract test names


def test_imports_point_one_way():
    """And every exception is one that is listed."""
    upwards = set()
    for room, parts in house.imports().items():
        if room in {"__init__", "__main__"} | DOORS | FREE:
            continue
        for part in parts - FREE:
            level = LEVELS.get(part, sys.maxsize)  # a door, or a name of the front page
            if level >= LEVELS[room] and (level or LEVELS[room]):
                upwards.add((room, part))
    assert upwards == set(UPWARDS)


def test_the_picture_of_the_rooms_is_up_to_date():
    picture = house.PICTURE.read_text(encoding="utf-8")
    assert picture == house.house(), "run  python docs/_house.py"
    assert picture.count("stroke-dasharray") == len(UPWARDS)


def test_an_arrow_is_drawn_unless_a_longer_way_replaces_it():
    levels = {"ground": 0, "middle": 1, "beside": 1, "top": 2}
    arrows = {
        "ground": {"top"},
        "middle": {"ground"},
        "beside": set(),
        "top": {"middle", "ground", "beside", "errors"},
    }
    found = house.needed(arrows, levels)
    assert found == {
        "ground": set(),
        "middle": {"ground"},
        "beside": set(),
        "top": {"middle", "beside"},
    }
    assert house.exceptions(arrows, levels)["ground"] == {"top"}
    assert house.exceptions(arrows, levels)["top"] == set()


def test_shoal_imports_no_study_and_a_study_no_benchmark():
    root = Path(__file__).parents[1]
    outside = {
        SOURCE: {"studies", "benchmarks", "tests"},
        root / "studies": {"benchmarks", "tests"},
    }
    wrong = [
        (path.name, name)
        for home, refused in outside.items()
        for path in home.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in named(node)
        if name.partition(".")[0] in refused
    ]
    assert wrong == []


def named(node):
    """Return the modules that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_every_room_has_its_level():
    rooms = {p.stem for p in SOURCE.iterdir() if p.suffix in ("", ".py") and p.stem[:2] != "__"}
    assert rooms - DOORS - FREE - {"py"} == set(LEVELS)


def test_doors_only_offer_names():
    for door in DOORS:
        tree = ast.parse((SOURCE / f"{door}.py").read_text(encoding="utf-8"))
        assert {type(node) for node in tree.body} <= {ast.Expr, ast.ImportFrom, ast.Assign}


def test_public_names_stay():
    listed = [*shoal.METHODS.values(), *shoal.MODELS.values()]
    assert sorted(shoal.__all__) == sorted([*PUBLIC, *(c.__name__ for c in listed)])
    assert all(getattr(shoal, found.__name__) is found for found in listed)
    assert all(hasattr(shoal, name) for name in PUBLIC)
    assert set(shoal.__all__) <= set(dir(shoal))


def test_a_name_that_is_not_there_is_said_so():
    with pytest.raises(AttributeError, match="'shoal' has no attribute 'nothing'"):
        _ = shoal.nothing


EITHER_WAY = """
import os, sys, shoal

for name in sys.argv[1:]:
    for way in (f"shoal.{name}", f"from shoal import {name}"):
        if os.fork() == 0:  # with nothing loaded by another name or way
            exec(way)
            os._exit(0)
        if os.wait()[1]:
            sys.exit(f"not found: {way}")
"""


def test_what_is_loaded_on_first_use_is_found_in_either_way():
    names = ["metrics", "risk", "utility", "Comparison", "compare", "read", "Schema"]
    subprocess.run([sys.executable, "-c", EITHER_WAY, *names], check=True)


def test_what_is_not_used_is_not_loaded():
    program = (
        "import sys, shoal;"
        "print(sorted(n for n in sys.modules if n.startswith('shoal.') and n.count('.') == 1))"
    )
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    loaded = (
        "_compat _starting _version datasets errors files methods privacy release support table"
    )
    assert shown.stdout.decode().strip() == str([f"shoal.{name}" for name in loaded.split()])


def test_heavy_libraries_are_loaded_by_the_work_that_needs_them():
    program = (
        "import sys, shoal, shoal.cli;"
        "print([n for n in ('numba', 'duckdb', 'pandas', 'polars', 'scipy', 'sklearn', 'altair',"
        " 'highspy', 'opendp', 'torch', 'nicegui') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert shown.stdout.decode().strip() == "[]"


def test_names_are_imported_from_the_module_that_defines_them():
    """A folder's `__init__.py` may offer names of its modules; any other module may not."""
    imports, defined, wrong = {}, {}, set()
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports[name] = [
            (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal.")
            for alias in node.names
        ]
        defined[name] = {n.name for n in tree.body if hasattr(n, "name")} | {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.AnnAssign | ast.Assign)
            for target in ast.walk(node)
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
        }
    for name, found in imports.items():
        for module, imported_name in found:
            passed_on = {other for _, other in imports.get(module, ())}
            if imported_name in passed_on - defined.get(module, set()):
                wrong.add((name, module, imported_name))
    assert wrong == set()
