"""How the suite runs: quick and repeatable, or deep; in the order written, or in any other.

The quick profile is the default. `SHOAL_DEEP=1`, or `--hypothesis-profile=deep`, draws six times
as many examples, new ones each time. `--shuffle` runs the tests in a random order, by a seed that
is printed; `--shuffle 7` runs them in that order again.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from hypothesis import settings
from tests.examples import DEEPER, EXAMPLES

settings.register_profile(
    "quick", deadline=None, max_examples=EXAMPLES, derandomize=True, print_blob=True
)
settings.register_profile(
    "deep", deadline=None, max_examples=EXAMPLES * DEEPER, derandomize=False, print_blob=True
)
settings.load_profile("deep" if os.environ.get("SHOAL_DEEP") else "quick")


def pytest_addoption(parser):
    parser.addoption(
        "--shuffle", nargs="?", type=int, const=-1, metavar="SEED", help="run in a random order"
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds, runs after the others")
    if hasattr(config, "workerinput"):
        config.option.shuffle = config.workerinput["shuffle"]
    elif config.option.shuffle == -1:
        config.option.shuffle = random.SystemRandom().randrange(10**6)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Give every worker the one seed."""
    node.workerinput["shuffle"] = node.config.option.shuffle


def pytest_collection_modifyitems(config, items):
    """Put slow tests last, so that what is wrong shows early; shuffle files, and tests in them."""
    if config.option.shuffle is not None:
        random.Random(config.option.shuffle).shuffle(items)
    place = {}  # a file stays together: its fixtures are made once
    for item in items:
        place.setdefault(item.path, len(place))
    items.sort(key=lambda item: (item.get_closest_marker("slow") is not None, place[item.path]))


def pytest_terminal_summary(terminalreporter, config):
    """Say in which order the tests ran, and how many random cases kept the contract."""
    if config.option.shuffle is not None:
        terminalreporter.write_line(f"random order: --shuffle {config.option.shuffle}")
    ran = Counter()
    for report in terminalreporter.getreports("passed"):
        ran.update({name: n for name, n in report.user_properties if isinstance(n, int)})
    if ran:
        told = ", ".join(f"{n:,} {name}" for name, n in sorted(ran.items()))
        terminalreporter.write_line(f"random cases in contract tests that passed: {told}")
