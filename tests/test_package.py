"""The package that would be published: its name, what it holds, and that it runs on its own."""

from __future__ import annotations

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


def test_the_wheel_runs_without_the_checkout(built, tmp_path):
    """Dependencies are borrowed from this environment; `make deep` installs them too."""
    home = tmp_path / "installed"
    if DEEP:
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", built[0]], check=True)
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    else:
        python = Path(sys.executable)
        with zipfile.ZipFile(built[0]) as archive:
            archive.extractall(home)
        environment = {**os.environ, "PYTHONPATH": str(home)}
    code = (
        "import shoal, pathlib; print(pathlib.Path(shoal.__file__).parents[1]); "
        "from shoal.cli import main; main()"
    )
    done = subprocess.run(
        [python, "-c", code, "demo", "--rows", "300"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert str(home) in done.stdout.splitlines()[0]
    assert (tmp_path / "demo" / "report.html").is_file()


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
