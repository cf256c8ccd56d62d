import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def importable():
    """Let workers import what the tests define."""
    root = str(Path(__file__).parents[2])
    sys.path.insert(0, root)
    yield
    sys.path.remove(root)
