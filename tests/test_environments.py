"""The commands do the same in every environment: users, locales, disks and installations.

A few environments in the normal run, all of them with SHOAL_DEEP=1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import shoal

pytestmark = pytest.mark.slow

DEEP = bool(os.environ.get("SHOAL_DEEP"))
PACKAGE = Path(shoal.__file__).parent
ROLES = ("--quasi", "age,town", "--sensitive", "disease")
PEOPLE = "name,age,town,disease\n" + "".join(
    f"Zoë {i},{30 + i % 7},{'abc'[i % 3]},{'flu' if i % 4 else 'cold'}\n" for i in range(60)
)
OUTPUTS = ("-o", "out.csv", "--report", "report.html")
COMMANDS = [
    ("anonymize", "people.csv", *ROLES, "--identifier", "name", "-k", "3", *OUTPUTS),
    ("verify", "out.csv", *ROLES, "-k", "3"),
    ("risk", "assess", "people.csv", "out.csv", *ROLES, "--identifier", "name"),
]
DRIVER = """
import sys

commands, absent = eval(sys.argv[1])

class Absent:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from shoal.cli import main

for command in commands:
    sys.argv = ["shoal", *command]
    try:
        main()
    except SystemExit as leaving:
        print("status", leaving.code, flush=True)
"""
OTHER_USER = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups")
READ_ONLY_DISK = """
mount --make-rprivate / && mount --bind . . && mount -o remount,ro,bind / && cd "$PWD" && exec "$@"
"""
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
EXTRAS = ("pandas", "polars", "torch", "safetensors", "flaml", "pyspark", "nicegui", "IPython")


@dataclass(frozen=True)
class Environment:
    """What a process runs in.

    before: the program that sets it up and starts the process.
    kernels: whether compiled kernels lie beside the package.
    """

    name: str
    variables: dict[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    kernels: bool = True
    deep: bool = True


ENVIRONMENTS = [
    Environment("cp1252, base install", {"PYTHONIOENCODING": "cp1252"}, EXTRAS, deep=False),
    Environment("C locale, other user, no home", C_LOCALE, before=OTHER_USER, deep=False),
    Environment(
        "read-only disk", before=("unshare", "-m", "sh", "-c", READ_ONLY_DISK, "sh"), deep=False
    ),
    Environment("plain"),
    Environment("ascii", {"PYTHONIOENCODING": "ascii"}),
    Environment("C locale", C_LOCALE),
    Environment("base install", absent=EXTRAS),
    Environment("no temporary folder", {"TMPDIR": "/nowhere"}),
    Environment("home that does not exist", {"HOME": "/nowhere"}, before=OTHER_USER),
    Environment("no kernels, no home", before=OTHER_USER, kernels=False),
    Environment(
        "no kernels, unwritable store",
        {"HOME": "/root", "NUMBA_CACHE_DIR": "/root/kernels"},
        before=OTHER_USER,
        kernels=False,
    ),
    Environment("warnings as in development", {"PYTHONDEVMODE": "1"}),
    Environment("optimized bytecode", {"PYTHONOPTIMIZE": "2"}),
]
CHOSEN = [each for each in ENVIRONMENTS if DEEP or not each.deep]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The release that every environment must give, made in this process."""
    folder = tmp_path_factory.mktemp("expected")
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    roles = {"name": "identifier", "age": "quasi", "town": "quasi", "disease": "sensitive"}
    table = shoal.read(folder / "people.csv", roles=roles)
    shoal.anonymize(table, shoal.KAnonymity(3), "mondrian").write(folder / "out.csv")
    return (folder / "out.csv").read_bytes()


@pytest.fixture
def folder():
    """A folder that every user may write to; those of pytest are private."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        (Path(name) / "people.csv").write_text(PEOPLE, encoding="utf-8")
        yield Path(name)


def started(environment, folder, program, **more):
    """Run a program in the environment; skip if this machine cannot make it."""
    path = [str(PACKAGE.parent), *sys.path]
    if not environment.kernels:
        copied = folder / "package"
        shutil.copytree(PACKAGE, copied / "shoal", ignore=shutil.ignore_patterns("__pycache__"))
        path[0] = str(copied)
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment.variables,
    }
    options = {"cwd": folder, "env": variables}
    if environment.before:
        works = [*environment.before, sys.executable, "-c", "import numpy"]
        if not shutil.which(environment.before[0]):
            pytest.skip(f"NOT TESTED: {environment.before[0]} is not installed")
        probe = subprocess.run(works, capture_output=True, check=False, **options)
        if probe.returncode:
            pytest.skip(f"NOT TESTED: this user cannot make the environment {environment.name!r}")
    command = [*environment.before, sys.executable, *program]
    return subprocess.run(command, check=False, **options, **more)


@pytest.mark.parametrize("environment", CHOSEN, ids=lambda each: each.name)
def test_every_environment_gives_the_same(environment, folder, expected):
    program = ["-c", DRIVER, repr((COMMANDS, environment.absent))]
    found = started(environment, folder, program, capture_output=True)
    said = found.stdout.decode("utf-8", "replace"), found.stderr.decode("utf-8", "replace")
    statuses = [line for line in said[0].splitlines() if line.startswith("status")]
    assert statuses == ["status 0"] * 3, said
    assert found.returncode == 0
    assert "Traceback" not in said[1]
    assert (folder / "out.csv").read_bytes() == expected
    assert b"k-anonymity" in (folder / "report.html").read_bytes()
    noted = said[1].count("compiled kernels cannot be stored")
    assert noted <= 1  # one for all kernels
    assert noted or environment.kernels
    left = {path.name for path in folder.iterdir()} - {"package"}
    assert left == {"people.csv", "out.csv", "report.html"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_device_has_a_status_of_its_own(folder):
    """Seen from outside: what is left in a buffer must not change the status at the very end."""
    program = ["-m", "shoal", "verify", "people.csv", "--quasi", "age", "-k", "2"]
    with Path("/dev/full").open("wb") as full:
        both = started(Environment("full"), folder, program, stdout=full, stderr=full)
        assert both.returncode == 4
        errors = started(Environment("full"), folder, program, stdout=subprocess.PIPE, stderr=full)
        assert errors.returncode == 0
    assert b"holds" in errors.stdout
