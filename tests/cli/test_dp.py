"""`shoal dp plan`: pairs of k and β for a budget, as text and as JSON."""

import json

import pytest
from rich.console import Console

from shoal.cli import dp as command

PAPER = ("dp", "plan", "--rows", 30162, "-k", "55,75", "--beta", "0.7,0.8", "--sizes", "100")


def test_stated_pairs_with_the_legend(shoal):
    found = shoal(*PAPER)
    assert (found.status, found.err) == (0, "")
    rows = [line.split() for line in found.out.splitlines()]
    assert "0.7 75 1.304 2.15e-07 green 2.53e-06 74 0.1253".split() in rows
    assert "0.8 55 1.71 6.36e-05 red 3.44e-04 88 0.8000".split() in rows
    assert "1 of 4 settings reach a delta of 3.32e-06" in found.out
    assert (
        "green: below 0.1/N = 3.32e-06; yellow: below 1/N = 3.32e-05; red: 1/N or more" in found.out
    )
    assert "epsilon includes 0.1 for the choice of the recoding" in found.out


def test_the_colours_are_those_of_the_words(shoal, monkeypatch, capsys):
    coloured = Console(force_terminal=True, color_system="standard", width=100)
    monkeypatch.setattr(command, "out", coloured)
    shown = shoal(*PAPER).out
    assert "\x1b[32mgreen" in shown
    assert "\x1b[33myellow" in shown
    assert "\x1b[31mred" in shown


def test_the_plan_as_json(shoal):
    found = shoal("dp", "plan", "--rows", 30162, "--epsilon", 1.31, "--delta", 1e-6, "--json")
    assert (found.status, found.err) == (0, "")
    told = json.loads(found.out)
    assert (told["rows"], told["delta"]) == (30162, 1e-6)
    pairs = {setting["beta"]: setting for setting in told["settings"]}
    assert (pairs[0.7]["k"], pairs[0.7]["published_least_k"]) == (66, 83)
    assert pairs[0.8]["published_delta"] is None
    assert set(pairs[0.7]["kept"]) == {"100", "200", "500"}


def test_a_stated_delta_that_no_pair_reaches_ends_with_1(shoal):
    found = shoal("dp", "plan", "--rows", 500, "-k", 5, "--beta", 0.5, "--delta", 1e-9, "--json")
    assert found.status == 1
    assert [setting["reached"] for setting in json.loads(found.out)["settings"]] == [False]


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("--epsilon", 0.1), 2, "epsilon = 0.1 leaves 0 for each sample"),
        (("-k", "5x"), 2, "k must be numbers such as 50,60, not '5x'"),
        (("--beta", "1.5"), 2, "beta must be more than 0 and less than 1, not 1.5"),
        (("--delta", 2), 2, "delta must be from 0 to 1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(shoal, options, status, message):
    found = shoal("dp", "plan", "--rows", 1000, *options)
    assert (found.status, found.out) == (status, "")
    assert found.err.startswith(f"shoal: {message}")
    assert found.err.count("\n") == 1


def test_the_command_explains_itself(shoal):
    assert "plan" in shoal("dp", "--help").out
    shown = shoal("dp", "plan", "--help").out
    assert "Usage: shoal dp plan" in shown
    assert all(option in shown for option in ("--rows", "--epsilon", "--delta", "--choice-epsilon"))
