import pytest
from tests.by_hand import classes_of


@pytest.fixture(scope="session")
def grouped():
    return classes_of
