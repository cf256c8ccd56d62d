"""A killed run leaves no name of a person on the disk, and the next run removes what it left."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

NAME = "QXZW"
ROWS = [
    f"Zoë {NAME} {i},{30 + i % 7},{'abc'[i % 3]},{'flu' if i % 3 else 'cold'}" for i in range(90)
]
ENDS = ("\n", "\r\n", "\r")
DRIVER = """
import os, signal, sys

spot, calls = sys.argv.pop(1), 0

def watch(frame, event, _):
    global calls
    if event == "call" and "shoal" in frame.f_code.co_filename:
        calls += 1
        if spot in (str(calls), frame.f_code.co_name):
            os.kill(os.getpid(), signal.SIGKILL)

from shoal.cli import main
sys.setprofile(watch)
try:
    main()
finally:
    sys.setprofile(None)
    print("calls", calls)
"""
SPOTS = ["query", "_lines", "sync"]  # the input is read, the output is begun, it is written
DEEP = [] if not os.environ.get("SHOAL_DEEP") else [share / 40 for share in range(1, 40)]


@pytest.fixture
def places(tmp_path):
    found = {name: tmp_path / name for name in ("input", "output", "here", "temporary")}
    for place in found.values():
        place.mkdir()
    lines = ["name,age,town,disease", *ROWS]
    text = "".join(line + ENDS[i % 3] for i, line in enumerate(lines))
    (found["input"] / "people.csv").write_bytes(text.encode("latin-1"))
    return found


@pytest.fixture
def run(places):
    def run(spot):
        options = [
            "--quasi",
            "age,town",
            "--sensitive",
            "disease",
            "--identifier",
            "name",
            "-k",
            "3",
        ]
        files = [str(places["input"] / "people.csv"), "-o", str(places["output"] / "out.csv")]
        path = os.pathsep.join(sys.path)
        return subprocess.run(
            [sys.executable, "-c", DRIVER, str(spot), "anonymize", *files, *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=places["here"],
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(places["temporary"])},
        )

    return run


def named(places):
    """Return the files with a name of a person, besides the input."""
    files = [path for name in ("output", "here", "temporary") for path in places[name].rglob("*")]
    return [path for path in files if path.is_file() and NAME.encode() in path.read_bytes()]


def test_a_kill_leaves_no_name_and_the_next_run_leaves_nothing(run, places):
    for spot in SPOTS:
        assert run(spot).returncode == -signal.SIGKILL, spot
        assert named(places) == [], spot
    left = list(places["output"].iterdir())
    assert len(left) == 1  # of the last kill; the earlier ones were swept
    assert left[0].name.startswith(".shoal.")
    assert run("nowhere").returncode == 0
    assert [path.name for path in places["output"].iterdir()] == ["out.csv"]
    assert list(places["temporary"].iterdir()) == list(places["here"].iterdir()) == []


@pytest.mark.skipif(not DEEP, reason="many kills: with SHOAL_DEEP=1")
def test_no_kill_at_any_time_leaves_a_name(run, places):
    calls = int(run("nowhere").stdout.rsplit("calls ", 1)[1])
    (places["output"] / "out.csv").unlink()
    for share in DEEP:
        status = run(round(share * calls)).returncode
        assert status == -signal.SIGKILL
        assert named(places) == [], share
        (places["output"] / "out.csv").unlink(missing_ok=True)
    assert run("nowhere").returncode == 0
    assert [path.name for path in places["output"].iterdir()] == ["out.csv"]
    assert list(places["temporary"].iterdir()) == []
