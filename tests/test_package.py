"""The package that would be published: its name, what it holds, and that it runs on its own."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import shoal

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEEP = bool(os.environ.get("SHOAL_DEEP"))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A source archive and the wheel made from it, without fetching anything."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def test_the_distribution_carries_our_own_name_and_the_one_version(built):
    found = metadata(built[0])
    assert found["Name"] == "shoal-privacy"
    assert found["Version"] == shoal.__version__


def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {
        "shoal", f"shoal_privacy-{shoal.__version__}.dist-info"
    }  # fmt: skip
    assert "shoal/py.typed" in names
    assert any(name.startswith("shoal/report/templates/") for name in names)
    assert {"shoal/evidence/verify.py", "shoal/evidence/templates/evidence.html"} <= set(names)
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]


def test_the_source_archive_holds_what_tests_and_documentation_need(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "tests/test_package.py"} <= names
    assert not [name for name in names if name.startswith((".venv", "demo/", "site/"))]


@pytest.fixture(scope="module")
def bare(built, tmp_path_factory):
    """Return the Python of a new environment with the wheel and what it requires, without extras.

    The required packages are linked from this environment; `make deep` downloads them.
    """
    home = tmp_path_factory.mktemp("bare") / "environment"
    subprocess.run(
        [sys.executable, "-m", "venv", *([] if DEEP else ["--without-pip"]), home], check=True
    )
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    offline = [] if DEEP else ["--no-deps", "--no-index"]
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, *offline, built[0]], check=True)
    if not DEEP:
        (package,) = home.rglob("shoal/__init__.py")
        for name in required(metadata(built[0]).get_all("Requires-Dist"), set()):
            link_distribution(name, package.parents[1])
    return python


def required(requirements, names):
    """Return the names of all distributions that the requirements install without extras."""
    for text in requirements or ():
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and name not in names:
            names.add(name)
            required(importlib.metadata.requires(name), names)
    return names


def link_distribution(name, packages):
    distribution = importlib.metadata.distribution(name)
    tops = {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}
    for top in tops:
        if not (packages / top).exists():
            (packages / top).symlink_to(distribution.locate_file(top))


def run(python, code, folder, text=""):
    """Run code in another Python, which finds nothing of the checkout; return what it printed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [python, "-W", "error", "-c", code],
        cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_screen_of_the_readme_runs_after_its_install_line(bare, tmp_path):
    screen = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert "\npip install shoal-privacy " in screen
    assert re.findall(r"^```(python|console)$", screen, re.MULTILINE) == ["python", "console"]
    code = (
        "import runpy, sys, pathlib, shoal; text = sys.stdin.read(); "
        f"examples = runpy.run_path({str(ROOT / 'docs' / '_examples.py')!r}); "
        "fresh = examples['refresh'](text, pathlib.Path()); "
        "assert examples['alike'](fresh) == examples['alike'](text), fresh; print(shoal.__file__)"
    )
    home = run(bare, code, tmp_path, screen)
    assert Path(home.strip()).is_relative_to(bare.parents[1])
    assert {"report.html", "anonymous.csv"} <= {path.name for path in tmp_path.iterdir()}


def test_the_demo_needs_no_extra(bare, tmp_path):
    demo = "import sys; sys.argv[1:] = ['demo', '--rows', '300']; import shoal.cli as c; c.main()"
    run(bare, demo, tmp_path)
    assert (tmp_path / "demo" / "report.html").is_file()


def test_the_bare_environment_has_no_extras(bare, tmp_path):
    listed = "import importlib.metadata as m; print(*(d.name.lower() for d in m.distributions()))"
    names = set(run(bare, listed, tmp_path).split())
    assert {"shoal-privacy", "duckdb", "numba"} <= names
    assert names & {"pandas", "polars", "scikit-learn", "opendp", "highspy", "nicegui"} == set()


def extras():
    return set(PROJECT["optional-dependencies"])


def test_every_install_hint_names_our_distribution_and_an_extra_that_exists():
    hints = []
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    for path in files:
        text = path.read_text(encoding="utf-8")
        hints += re.findall(r"pip install '?(shoal[\w-]*)(?:\[([\w,{}]+)\])?", text)
        named = re.findall(r"(?:requires\(|MissingExtra\([^)]*?, )\"(\w+)\"", text)
        assert set(named) <= extras(), path
    assert {name for name, _ in hints} == {"shoal-privacy"}
    named = {extra for _, listed in hints for extra in listed.split(",") if listed}
    assert named - {"{extra}"} <= extras()


@pytest.mark.parametrize("extra", ["dp", "exact", "pictures", "learn"])
def test_a_missing_extra_is_named_with_its_hint(extra, monkeypatch, tmp_path):
    package = {"dp": "opendp", "exact": "highspy", "pictures": "vl_convert", "learn": "sklearn"}
    for name in [n for n in sys.modules if n.partition(".")[0] == package[extra]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package[extra], None)
    with pytest.raises(shoal.MissingExtra) as caught:
        NEEDS[extra](tmp_path)
    assert f"pip install 'shoal-privacy[{extra}]'" in str(caught.value)


def people():
    data = {"age": [30, 31, 32, 33] * 3, "sex": ["f", "m"] * 6, "income": ["low", "high"] * 6}
    import pyarrow as pa

    roles = {"age": "quasi", "sex": "quasi", "income": "sensitive"}
    return shoal.Table.from_arrow(pa.table(data), roles, rows_are_people=True)


def draw_noise(_):
    import numpy as np

    from shoal.dp import laplace

    laplace(np.zeros(2), 1.0)


def draw_a_picture(folder):
    import altair as alt

    from shoal.report.charts import save_chart

    save_chart(alt.Chart(alt.Data(values=[])).mark_point(), folder / "x.png")


NEEDS = {
    "dp": draw_noise,
    "exact": lambda _: shoal.anonymize(people(), shoal.KAnonymity(2), "optimal"),
    "pictures": draw_a_picture,
    "learn": lambda _: shoal.utility.evaluate(
        shoal.anonymize(people(), shoal.KAnonymity(2), "mondrian"), target="income"
    ),
}


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {shoal.__version__}\n" in text
