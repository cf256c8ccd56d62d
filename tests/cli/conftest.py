"""The command line as a user meets it: through `main`, in an empty folder."""

import sys
from dataclasses import dataclass

import pytest

from shoal.cli import main
from shoal.cli.shared import console

SECRET = "QXZW"  # in cells, never in a message
PEOPLE = "name,age,town,disease\n" + "".join(
    f"{SECRET}-{i},{30 + i % 4},{SECRET} {i % 2},{SECRET} {'flu' if i % 3 else 'cold'}\n"
    for i in range(12)
)


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Whether this machine has run the kernels before is no matter of these tests."""
    monkeypatch.setattr(console, "note_compilation", lambda: None)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


@pytest.fixture
def shoal(folder, monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
        monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # no `python -m pytest`
        with pytest.raises(SystemExit) as caught:
            main()
        shown = capsys.readouterr()
        return Outcome(caught.value.code or 0, shown.out, shown.err)

    return run


@pytest.fixture(scope="session")
def networks(tmp_path_factory):
    """Two networks that have learned the digits a little."""
    import torch

    from shoal.cli.robust.inputs import read_pictures
    from shoal.robust import DIGITS, Training, shared, train

    torch.set_num_threads(1)
    images, labels = read_pictures("digits")
    members = shared(1438, [1, 1], seed=3)
    path = tmp_path_factory.mktemp("robust") / "networks.safetensors"
    train(DIGITS, images, labels, members, Training(epochs=8, rate=0.06)).save(path)
    return path
