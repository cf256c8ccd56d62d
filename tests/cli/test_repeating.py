"""The command line in a report is the one that was typed."""

from types import SimpleNamespace

import pytest

from shoal.cli.shared.summary import typed


@pytest.mark.parametrize(("value", "word"), [(True, "--header"), (False, "--no-header")])
def test_a_switch_is_repeated_as_it_was_set(value, word):
    option = SimpleNamespace(
        name="header", opts=["--header"], secondary_opts=["--no-header"], is_flag=True
    )
    context = SimpleNamespace(
        parent=None,
        command=SimpleNamespace(params=[option]),
        params={"header": value},
        get_parameter_source=lambda name: SimpleNamespace(name="COMMANDLINE"),
    )
    assert typed(context) == f"shoal {word}"
