"""A wheel with compiled kernels compiles nothing, and publishes what a checkout does.

`make wheel` runs these tests on the wheel that it has built; `make deep` builds one first.
"""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from shoal.cli.shared.options import EXAMPLES
from shoal.methods.registry import METHODS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "shoal"
STATED = os.environ.get("SHOAL_WHEEL")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (STATED or os.environ.get("SHOAL_DEEP")), reason="takes minutes"),
]
DRIVER = """
import contextlib, io, json, pathlib, shlex, sys
import shoal
from shoal.cli import app
from shoal.support.compiling import listen_to_compilation

compiled = {}
for line in json.load(sys.stdin):
    count = compiled[line] = []
    with listen_to_compilation(lambda: count.append(1)), contextlib.redirect_stdout(io.StringIO()):
        status = app(shlex.split(line)[1:], standalone_mode=False)
    if status:
        sys.exit(f"{line}: status {status}")
print(json.dumps({
    "home": str(pathlib.Path(shoal.__file__).parent),
    "compiled": {line: len(count) for line, count in compiled.items() if count},
}))
"""
OPTIONS = {  # of methods that have no release of the table with k-anonymity alone
    "auto": "-k 4 -O time_limit=5",
    "optimal": "-k 4 -O time_limit=2",
    "safe-la": "-k 20 -O allow_large_delta=true -O seed=0",
    "anneal": "-k 4 -O steps=20",
    **{name: "--model 'freeform-anonymity(4)' -O seed=0" for name in METHODS if "doka" in name},
}
FILES = {"optimal": "few.csv --schema few.yaml", "safe-la": "declared.csv --schema declared.yaml"}
DECLARED = """
columns:
  age: {role: quasi, type: integer, bounds: [0, 99], hierarchy: {intervals: [10, 50]}}
  sex: {role: quasi, type: text, values: [f, m]}
"""
NUMBERED = """
columns:
  id: {role: identifier, replace: ff1}
  age: {role: quasi}
  sex: {role: quasi}
"""
SECRET = "--schema numbered.yaml --key-file key.bin --domain study"
PREPARE = [
    "shoal datasets patients 400 -o patients.csv",
    "shoal datasets patients 60 -o few.csv",
]
MAKE = {
    name: f"shoal anonymize {FILES.get(name, 'patients.csv --schema patients.yaml')} "
    f"--method {name} {OPTIONS.get(name, '-k 4')} -o by-{name}.csv"
    for name in METHODS
}
TOUR = [
    *(line for lines in EXAMPLES.values() for line in lines if line not in PREPARE),
    *MAKE.values(),
    "shoal anonymize patients.csv --schema patients.yaml -k 4 -O cuts=median -o median.csv",
    "shoal anonymize patients.csv --schema patients.yaml -k 4 -O effort=high -o high.csv",
    "shoal anonymize patients.csv --schema patients.yaml -k 4 -O strict=false -o relaxed.csv",
    "shoal anonymize patients.csv --schema patients.yaml -k 4 --method flash -O local=true "
    "-o local.csv",
    "shoal risk assess patients.csv by-doka-greedy.csv --schema patients.yaml",
    "shoal metrics patients.csv by-doka-greedy.csv --schema patients.yaml",
    "shoal anonymize patients.csv --schema patients.yaml -k 4 -O bound=true -o bounded.csv",
    f"shoal anonymize numbered.csv -k 4 {SECRET} -o numbered-released.csv",
    f"shoal keys reveal numbered-released.csv --column id {SECRET} -o revealed.csv",
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel."""
    folder = Path(STATED) if STATED else tmp_path_factory.mktemp("wheel")
    if not STATED:
        kernels = folder / "kernels"
        run = [sys.executable, "-m", "shoal", "warm", "--store", kernels]
        subprocess.run(run, check=True, env={**os.environ, "PYTHONPATH": str(SOURCE.parent)})
        subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT],
            check=True, env={**os.environ, "SHOAL_KERNELS": str(kernels)}, capture_output=True,
        )  # fmt: skip
    (path,) = folder.glob("*.whl")
    return path


def tour(python, lines, folder, environment):
    """Run commands in one process; return where Shoal is, and what was compiled."""
    folder.mkdir()
    rows = [f"{20 + i % 50},{'fm'[i % 2]}\n" for i in range(400)]
    (folder / "declared.csv").write_text("age,sex\n" + "".join(rows))
    (folder / "declared.yaml").write_text(DECLARED)
    numbered = [f"{100_000 + i},{row}" for i, row in enumerate(rows)]
    (folder / "numbered.csv").write_text("id,age,sex\n" + "".join(numbered))
    (folder / "numbered.yaml").write_text(NUMBERED)
    done = subprocess.run(
        [python, "-c", DRIVER],
        input=json.dumps(lines), cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return what the tour says in a new environment, which borrows the dependencies."""
    folder = tmp_path_factory.mktemp("clean")
    home = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--quiet", wheel], check=True)
    (packages,) = {path.parents[1] for path in home.rglob("shoal/__init__.py")}
    (packages / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"])
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
    report = tour(python, [*PREPARE, *TOUR], folder / "files", environment)
    assert Path(report["home"]) == packages / "shoal"
    return report, folder


def test_the_tour_has_every_command_and_method():
    from typer.main import get_command

    from shoal.cli import app

    def paths(command, path):
        if hasattr(command, "commands"):
            return [p for name, c in command.commands.items() for p in paths(c, f"{path} {name}")]
        return [path]

    left_out = [
        path
        for path in paths(get_command(app), "shoal")
        if not any(line.startswith(path) for line in [*PREPARE, *TOUR])
        # have no kernels, has them all, runs the others in its workers until it is stopped
        and not path.startswith(("shoal robust", "shoal warm", "shoal web"))
    ]
    assert left_out == []
    assert set(MAKE) == set(METHODS)


def test_an_installed_wheel_compiles_nothing(installed):
    report, folder = installed
    assert report["compiled"] == {}
    assert list((folder / "cache").rglob("*.nbc")) == []  # nor does a process of `compare`


def test_releases_are_those_of_kernels_compiled_here(installed, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    deterministic = {name: line for name, line in MAKE.items() if name not in ("auto", "optimal")}
    tour(sys.executable, [*PREPARE, *deterministic.values()], tmp_path / "files", environment)
    _, folder = installed
    for name in deterministic:
        file = f"by-{name}.csv"
        assert (folder / "files" / file).read_bytes() == (tmp_path / "files" / file).read_bytes()


def kernels_called_from_python():
    """Return the kernels that functions of Python name, as module.name."""
    trees = {}
    for path in SOURCE.rglob("*.py"):
        module = ".".join(("shoal", *path.relative_to(SOURCE).with_suffix("").parts))
        trees[module] = ast.parse(path.read_text(encoding="utf-8"))
    kernels = {
        module: {n.name: n for n in tree.body if is_kernel(n)} for module, tree in trees.items()
    }
    assert sum(map(len, kernels.values())) > 200
    for module, tree in trees.items():
        names = {name: f"{module}.{name}" for name in kernels[module]}
        modules = {}
        for node in ast.walk(tree):
            for each in node.names if isinstance(node, ast.ImportFrom) else []:
                if each.name in kernels.get(node.module, ()):
                    names[each.asname or each.name] = f"{node.module}.{each.name}"
                elif kernels.get(f"{node.module}.{each.name}"):
                    modules[each.asname or each.name] = f"{node.module}.{each.name}"
        inside = {part for kernel in kernels[module].values() for part in ast.walk(kernel)}
        for node in set(ast.walk(tree)) - inside:
            if isinstance(node, ast.Name) and node.id in names:
                yield names[node.id]
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
                home = modules[ast.unparse(node.value)]
                if node.attr in kernels[home]:
                    yield f"{home}.{node.attr}"


def is_kernel(node):
    decorators = getattr(node, "decorator_list", [])
    return any(ast.unparse(each).startswith("njit(") for each in decorators)


def test_the_wheel_has_every_kernel_that_python_calls_and_no_path(wheel):
    with zipfile.ZipFile(wheel) as archive:
        files = [archive.read(name) for name in archive.namelist() if name.endswith(".kernel")]
    stored = {pickle.loads(content[32:])[0][1] for content in files}
    called = set(kernels_called_from_python())
    assert len(called) > 80
    assert called - stored == set()
    paths = [os.fsencode(ROOT), os.fsencode(Path.home()), os.fsencode(sys.prefix)]
    assert [path for path in paths for content in files if path in content] == []
