"""One is said as one: no `1 records`, whatever is counted."""

import re

import pytest

MANY = re.compile(
    r"(?<![\d.,])1 (records|rows|people|classes|values|levels|columns|cells|sets|runs)\b"
)


@pytest.fixture
def one(folder):
    (folder / "one.csv").write_text("age,town,ill\n31,x,flu\n")
    (folder / "none.csv").write_text("age,town,ill\n*,*,flu\n")


@pytest.mark.parametrize(
    "asked",
    [
        ("inspect", "one.csv", "--quasi", "age,town", "--sensitive", "ill"),
        ("anonymize", "one.csv", "--quasi", "age,town", "-k", 2),
        ("verify", "one.csv", "--quasi", "age,town", "-k", 2),
        ("metrics", "one.csv", "none.csv", "--quasi", "age,town"),
        ("risk", "assess", "one.csv", "none.csv", "--quasi", "age,town"),
        ("risk", "records", "one.csv", "--quasi", "age,town"),
        ("risk", "columns", "one.csv"),
        ("risk", "link", "one.csv", "none.csv", "--known", "age,town"),
        ("risk", "intersect", "one.csv", "none.csv", "--quasi", "age,town"),
        ("hierarchy", "make", "one.csv", "-c", "town", "-o", "tree.csv"),
        ("datasets", "patients", 1, "-o", "patients.csv"),
        ("compare", "one.csv", "--quasi", "age,town", "-k", 2, "--method", "mondrian"),
        ("dp", "plan", "--rows", 1000, "--sizes", "1"),
    ],
    ids=lambda asked: " ".join(map(str, asked[:3])),
)
def test_one_is_said_as_one(shoal, one, asked):
    found = shoal(*asked)
    said = found.out + found.err
    assert said.strip()
    assert not MANY.findall(said), said
