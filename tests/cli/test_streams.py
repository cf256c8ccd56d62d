"""Whatever becomes of the standard streams, it is no verdict on a release."""

import errno
import io
import json
import sys

import pytest

from shoal.cli import main
from shoal.cli.shared.console import encodable, spelled

ROLES = ("--quasi", "age", "--sensitive", "disease")
CELL = "QXZW"


class Failing(io.RawIOBase):
    """A device on which every write fails."""

    def __init__(self, number):
        self.number = number

    def writable(self):
        return True

    def write(self, _):
        raise OSError(self.number, "failed")


@pytest.fixture
def run(folder, monkeypatch):
    """Run a command with streams of one's own; returns its status and what both hold."""
    (folder / "flat.csv").write_text("age,disease\n30,flu\n30,flu\n40,cold\n40,cold\n")

    def run(*arguments, encoding="utf-8", output=None, errors=None):
        raws = output or io.BytesIO(), errors or io.BytesIO()
        streams = [io.TextIOWrapper(io.BufferedWriter(raw), encoding) for raw in raws]
        with monkeypatch.context() as patched:
            patched.setattr(sys, "argv", ["shoal", *map(str, arguments)])
            patched.setattr(sys.modules["__main__"], "__package__", None)
            patched.setattr(sys, "stdout", streams[0])
            patched.setattr(sys, "stderr", streams[1])
            with pytest.raises(SystemExit) as caught:
                main()
        said = []
        for raw, stream in zip(raws, streams, strict=True):
            if isinstance(raw, io.BytesIO):
                stream.flush()
                said.append(raw.getvalue().decode(encoding))
            else:
                said.append(None)
                with pytest.raises(OSError, match="failed"):
                    stream.close()
        return caught.value.code, *said

    return run


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_what_the_encoding_lacks_is_spelled_out(run, encoding):
    status, said, _ = run("verify", "flat.csv", *ROLES, "-k", 2, encoding=encoding)
    assert status == 0
    assert "delta(disease)      inf  largest log change" in said
    assert "(inf: some class lacks a value)" in " ".join(said.split())


def test_names_of_files_are_shown_as_the_locale_has_them():
    """In the C locale, bytes of a name that are not ASCII are read as surrogates."""
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", errors="surrogateescape")
    name = "ö.csv".encode().decode("ascii", "surrogateescape")
    assert encodable(name, stream)
    assert spelled(f"{name} ∞ é", stream) == f"{name} inf \\xe9"
    assert spelled(name, io.StringIO()) == name.encode("ascii", "backslashreplace").decode()


def test_a_utf_8_stream_shows_every_character(run):
    status, said, _ = run("verify", "flat.csv", *ROLES, "-k", 2)
    assert status == 0
    assert "delta(disease)      ∞ " in said


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_json_stays_json_in_any_encoding(run, folder, encoding):
    (folder / "odd.csv").write_text("größe ∞,b\n1,2\n1,2\n", encoding="utf-8")
    status, said, _ = run("verify", "odd.csv", "--quasi", "größe ∞", "--json", encoding=encoding)
    assert status == 0
    assert json.loads(said)["quasi"] == ["größe ∞"]


def test_a_message_names_a_column_that_the_encoding_lacks(run):
    status, _, said = run("verify", "flat.csv", "--quasi", "größe €", encoding="ascii")
    assert status == 2
    assert said.isascii()
    assert r"gr\xf6\xdfe" in said


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_full_output_has_a_status_of_its_own(run, folder, more):
    command = ("anonymize", "flat.csv", "--quasi", "age", "-k", 2, "-o", "out.csv", *more)
    status, _, said = run(*command, output=Failing(errno.ENOSPC))
    assert status == 4
    assert said.splitlines()[-1] == (
        "shoal: the output stream cannot be written to (No space left on device); "
        "the output files of the command were written"
    )
    assert (folder / "out.csv").exists()


@pytest.mark.parametrize("command", [("--version",), ("--help",), ("methods",)])
def test_output_that_fails_is_noticed_by_every_command(run, command):
    assert run(*command, output=Failing(errno.EIO))[0] == 4


def test_a_closed_pipe_ends_quietly(run):
    status, _, said = run("verify", "flat.csv", *ROLES, "-k", 2, output=Failing(errno.EPIPE))
    assert (status, said) == (141, "")


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
def test_a_failed_output_does_not_appear_in_the_next(run, number):
    command = ("verify", "flat.csv", *ROLES, "-k", 2)
    first = run(*command)
    run(*command, output=Failing(number))
    assert run(*command) == first


def test_an_error_stream_that_fails_changes_nothing(run, folder):
    """Notes about unassigned columns cannot be written; the release can."""
    command = ("anonymize", "people.csv", "--quasi", "age", "-k", 2, "-o", "out.csv")
    status, said, _ = run(*command, errors=Failing(errno.ENOSPC))
    assert status == 0
    assert "written to out.csv" in said


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_stream_that_is_closed_from_the_start_is_not_missed(shoal, monkeypatch, name):
    with monkeypatch.context() as patched:
        patched.setattr(sys, name, None)
        assert shoal("verify", "people.csv", "--quasi", "town", "-k", 2).status == 0


def broken(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize("error", [KeyError(CELL), ValueError(f"no {CELL}"), RecursionError(CELL)])
def test_a_fault_shows_where_and_no_cell(shoal, monkeypatch, error):
    monkeypatch.delenv("SHOAL_TRACEBACK", raising=False)
    monkeypatch.setattr("shoal.files.reading.check_readable", broken(error))
    found = shoal("verify", "people.csv", "--quasi", "age", "-k", 2)
    assert (found.status, found.out) == (3, "")
    shown = f"shoal: an internal error of Shoal: {type(error).__name__} at shoal.files.reading"
    assert found.err.startswith(shown)
    assert "SHOAL_TRACEBACK=1" in found.err
    assert CELL not in found.err


def test_a_traceback_is_shown_on_request(shoal, monkeypatch):
    monkeypatch.setenv("SHOAL_TRACEBACK", "1")
    monkeypatch.setattr("shoal.files.reading.check_readable", broken(KeyError("the reason")))
    found = shoal("verify", "people.csv", "--quasi", "age", "-k", 2)
    assert found.status == 3
    assert "Traceback" in found.err
    assert "KeyError: 'the reason'" in found.err


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (MemoryError(CELL), 2, "out of memory; close other programs"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (EOFError(CELL), 3, "an internal error of Shoal: EOFError at"),
        (
            OSError(errno.ENOSPC, CELL, "some/file"),
            2,
            "some/file: cannot be read or written (No space left on device)",
        ),
        (OSError(CELL), 2, "a file cannot be read or written (input or output error)"),
    ],
)
def test_every_end_has_its_status(shoal, monkeypatch, error, status, told):
    monkeypatch.setattr("shoal.files.reading.check_readable", broken(error))
    found = shoal("verify", "people.csv", "--quasi", "age", "-k", 2)
    assert (found.status, found.out) == (status, "")
    assert f"shoal: {told}" in found.err
    assert CELL not in found.err


@pytest.mark.parametrize(
    "command",
    [
        ("anonymize", "people.csv", "--quasi", "age", "-k", 2, "-o", "{}.csv"),
        ("anonymize", "people.csv", "--quasi", "age", "-k", 2, "--report", "{}.html"),
        ("inspect", "people.csv", "-o", "{}.yaml"),
        ("datasets", "patients", 5, "-o", "{}.csv"),
        ("demo", "--out", "{}"),
        ("verify", "{}.csv", "--quasi", "age"),
        ("hierarchy", "make", "people.csv", "-c", "town", "-o", "{}.csv"),
    ],
    ids=lambda command: " ".join(map(str, command[:2])),
)
def test_a_path_that_no_file_can_have_is_refused(shoal, folder, command):
    found = shoal(*(str(word).format("a" * 300) for word in command))
    assert (found.status, found.out) == (2, "")
    assert "(File name too long)" in found.err
    assert "Traceback" not in found.err
    assert [path.name for path in folder.iterdir()] == ["people.csv"]
