"""Names with control characters: every command shows them escaped."""

import io
import json

import pytest

from shoal.cli.shared import console
from shoal.cli.shared.console import PlainConsole, emit, escaped, grid, one_line, verdict

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\u200b\x7f\x08"
TOWN, ILL = f"town{EVIL}", f"ill{EVIL}"
SHOWN = r"town\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\u200b\x7f\x08"
ROLES = ("--quasi", f"age,{TOWN}", "--sensitive", ILL)
COMMANDS = {
    "inspect": ("inspect", "evil.csv"),
    "inspect with roles": ("inspect", "evil.csv", *ROLES),
    "anonymize": ("anonymize", "evil.csv", *ROLES, "-k", 2, "-o", "again.csv"),
    "verify": ("verify", "out.csv", *ROLES, "-k", 2),
    "metrics": ("metrics", "evil.csv", "out.csv", *ROLES),
    "compare": ("compare", "evil.csv", *ROLES, "-k", 2, "--method", "mondrian"),
    "risk records": ("risk", "records", "evil.csv", *ROLES[:2]),
    "risk columns": ("risk", "columns", "evil.csv"),
    "risk assess": ("risk", "assess", "evil.csv", "out.csv", *ROLES),
    "risk suda": ("risk", "suda", "evil.csv", *ROLES[:2]),
    "utility": (
        "utility",
        "evil.csv",
        "out.csv",
        *ROLES,
        "--target",
        ILL,
        "--models",
        "k-nearest-neighbours",
    ),
    "a wrong option": ("anonymize", "evil.csv", f"--{EVIL}"),
    "a wrong column": ("anonymize", "evil.csv", "--quasi", f"x{EVIL}", "-k", 2, "-o", "x.csv"),
    "a wrong file": ("inspect", f"no{EVIL}.csv"),
    "a wrong model": ("anonymize", "evil.csv", *ROLES, "--model", EVIL, "-o", "x.csv"),
    "a wrong key": ("metrics", "evil.csv", "out.csv", *ROLES, "--key", EVIL),
}


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    for one in (console.out, console.err):  # which may have read another width when it was made
        monkeypatch.setattr(one, "_width", 400)


@pytest.fixture
def evil(shoal, folder):
    rows = "".join(f"{30 + i % 4},{'AB'[i % 2]},{'xyz'[i % 3]}\n" for i in range(24))
    (folder / "evil.csv").write_text(f'age,"{TOWN}","{ILL}"\n{rows}', encoding="utf-8")
    made = shoal("anonymize", "evil.csv", *ROLES, "-k", 2, "-o", "out.csv")
    assert made.status == 0, made.err
    return folder


def is_plain(text):
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_sends_a_control_character(shoal, evil, command):
    for more in ((), ("--json",)):
        done = shoal(
            *COMMANDS[command], *more, *(("--force",) if "-o" in COMMANDS[command] else ())
        )
        assert is_plain(done.out + done.err)
        assert done.status == (2 if command.startswith("a wrong") else 0), done.err


def test_inspect_shows_a_name_escaped(shoal, evil):
    assert SHOWN in shoal("inspect", "evil.csv").out
    found = shoal("inspect", "evil.csv", "--json").out
    assert [each["name"] for each in json.loads(found)["columns"]] == ["age", TOWN, ILL]


def test_a_line_break_in_a_name_is_no_line_of_the_output(shoal, folder):
    name = "town\n2-anonymity  verified"
    rows = "".join(f"{30 + i % 4},{'AB'[i % 2]}\n" for i in range(24))
    (folder / "lines.csv").write_text(f'age,"{name}"\n{rows}')
    roles = ("--quasi", f"age,{name}")
    for command in (
        ("inspect", "lines.csv"),
        ("anonymize", "lines.csv", *roles, "-k", 2, "-o", "out.csv"),
        ("metrics", "lines.csv", "out.csv", *roles),
    ):
        found = shoal(*command)
        assert found.status == 0, found.err
        lines = [line.strip() for line in found.out.splitlines()]
        assert not any(line.startswith("2-anonymity  verified") for line in lines[1:])


@pytest.mark.parametrize("text", ["zip code", "größe", "年齢", "âge\u00a0révolu", "a\\x1b", "😀"])
def test_a_text_without_control_characters_is_unchanged(text):
    assert escaped(text) == text
    assert one_line(text) == text


def test_all_that_a_console_prints_is_escaped():
    from rich.padding import Padding
    from rich.text import Text
    from rich.tree import Tree

    stream = io.StringIO()
    screen = PlainConsole(file=stream, force_terminal=True, color_system=None, width=200)
    rows = grid(EVIL, title=EVIL)
    rows.add_row(EVIL)
    rows.add_row(Text(EVIL))
    tree = Tree(Text(EVIL))
    tree.add(EVIL)
    for each in (EVIL, Text(EVIL), Padding(EVIL, 1), rows, tree, verdict(EVIL, True, EVIL)):
        screen.print(each)
        screen.print(each, soft_wrap=True)
    assert is_plain(stream.getvalue())
    assert stream.getvalue().count(r"\x1b]0;owned") == 2 * 11


def test_progress_shows_its_stage_escaped_and_without_markup(monkeypatch):
    from shoal.support.progress import report

    stream = io.StringIO()
    screen = PlainConsole(file=stream, force_terminal=True, color_system=None, width=200)
    monkeypatch.setattr(console, "err", screen)
    with console.bars():
        report(f"read [link=x]{EVIL}[/link]", 1, 2)
    assert r"read [link=x]\x1b]0;owned\x07" in stream.getvalue()
    assert "\x1b]0" not in stream.getvalue()
    assert "\x9b" not in stream.getvalue()


def test_json_keeps_the_names_and_is_plain_text(capsys):
    emit(True, {EVIL: ["é", EVIL, "\ud800", "\U000e0041"]}, lambda: None)
    printed = capsys.readouterr().out
    assert is_plain(printed)
    assert json.loads(printed) == {EVIL: ["é", EVIL, "\ud800", "\U000e0041"]}
