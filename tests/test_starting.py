"""An interrupt while libraries load ends the command with one line, and no other program."""

import os
import signal
import subprocess
import sys

import pytest

from shoal import _starting

AT_NUMPY = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
"""


def interrupted(folder, *program):
    (folder / "sitecustomize.py").write_text(AT_NUMPY)
    path = os.pathsep.join([str(folder), *sys.path])
    return subprocess.run(
        [sys.executable, *program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_an_interrupt_while_libraries_load_is_one_line(tmp_path):
    found = interrupted(tmp_path, "-m", "shoal", "--version")
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "shoal: interrupted\n")


def test_a_program_that_imports_shoal_sees_its_own_interrupt(tmp_path):
    program = "try:\n    import shoal\nexcept KeyboardInterrupt:\n    print('caught')"
    found = interrupted(tmp_path, "-c", program)
    assert (found.returncode, found.stdout, found.stderr) == (0, "caught\n", "")


@pytest.mark.parametrize(
    ("argv", "orig_argv", "command"),
    [
        (["/usr/bin/shoal", "verify"], ["python", "/usr/bin/shoal", "verify"], True),
        (["shoal.exe"], ["python", "shoal.exe"], True),
        (["-m", "verify"], ["python", "-X", "utf8", "-m", "shoal", "verify"], True),
        (["-m"], ["python", "-m", "pytest"], False),
        (["script.py", "shoal"], ["python", "script.py", "shoal"], False),
        (["-c"], ["python", "-c", "import shoal"], False),
        ([], [], False),
    ],
)
def test_the_command_is_known_by_how_python_was_started(monkeypatch, argv, orig_argv, command):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig_argv)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever others have set
    try:
        _starting.guard_command()
        assert (signal.getsignal(signal.SIGINT) is _starting._leave) is command
        _starting.hand_over()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_ignored_interrupts_stay_ignored(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["shoal"])
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _starting.guard_command()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
