"""How the suite runs: quick and repeatable, or deep; always in a random order.

The quick profile is the default. `SHOAL_DEEP=1`, or `--hypothesis-profile=deep`, draws six times
as many examples, new ones each time. pytest-randomly orders the tests by a seed that is printed at
the end; `--randomly-seed 7` repeats an order, `-p no:randomly` keeps the order of the files.
"""

from __future__ import annotations

import gc
import os
from collections import Counter

import pytest
from hypothesis import settings
from tests.examples import DEEPER, EXAMPLES

UNTESTED = {  # in the reason why tests were skipped, and what the summary then says
    "NO BROWSER": "NO BROWSER: THE WEB APP WAS NOT TESTED; install chromium",
    "NO POSTGRESQL": "NO POSTGRESQL: ITS TABLES WERE NOT READ; install postgresql",
    "NO SPARK": "NO SPARK: ITS ENGINE WAS NOT TESTED; install pyspark and Java 17 or later",
}
settings.register_profile(
    "quick", deadline=None, max_examples=EXAMPLES, derandomize=True, print_blob=True
)
settings.register_profile(
    "deep", deadline=None, max_examples=EXAMPLES * DEEPER, derandomize=False, print_blob=True
)
settings.load_profile("deep" if os.environ.get("SHOAL_DEEP") else "quick")


@pytest.fixture
def write(tmp_path):
    """Write a file of the test, and return its path."""

    def make(content, name="people.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds, runs after the others")


def pytest_collection_modifyitems(items):
    """Put slow tests last, so that failures show early; the tests of a file stay together.

    Those of Spark come first: the first of several processes runs them all, with one session.
    """
    index = {}  # fixtures of a file are made once
    for item in items:
        index.setdefault(item.path, len(index))

    def place(item):
        if item.path.stem.startswith("test_spark"):
            return -1
        return item.get_closest_marker("slow") is not None

    items.sort(key=lambda item: (place(item), index[item.path]))


def pytest_collection_finish():
    """Exempt the collected tests from garbage collection, which otherwise visits them each time."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    gc.unfreeze()  # libraries count what is still alive at the end


def pytest_terminal_summary(terminalreporter, config):
    """Print the order of the tests, and the number of random cases that kept the contract."""
    if config.pluginmanager.hasplugin("randomly"):
        seed = config.getoption("randomly_seed")
        terminalreporter.write_line(f"random order: --randomly-seed {seed}")
    reasons = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
    for sign, line in UNTESTED.items():
        if any(sign in reason for reason in reasons):
            terminalreporter.write_line(line)
    ran = Counter()
    for report in terminalreporter.getreports("passed"):
        ran.update({name: n for name, n in report.user_properties if isinstance(n, int)})
    if ran:
        counts = ", ".join(f"{n:,} {name}" for name, n in sorted(ran.items()))
        terminalreporter.write_line(f"random cases in contract tests that passed: {counts}")
