"""Tables B.1 and B.2: the answers of the vote to sums of perturbations of two pictures.

The labels in print are those of the first two pictures of either test file; here they are the first
attacked pictures with these labels.
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.claims import Answer, Claim, Rows, Test
from studies.robust.answers import under
from studies.robust.figures import is_whole, percent
from studies.runs import Row
from studies.verdicts import Estimate, at_least, decide

TABLES = {"mnist": "Table B.1", "cifar10": "Table B.2"}
COLUMNS = (  # in print SI (2×), SI-NL (2×), SI (3×), SI-NL (3×)
    ("plain", 2, "two, without noise"),
    ("noisy", 2, "two, with noise"),
    ("plain", 3, "three, without noise"),
    ("noisy", 3, "three, with noise"),
)
# by the label of a picture: the answers to each other class as the target, ascending, by column
PRINTED: dict[str, dict[int, tuple[str, ...]]] = {
    "mnist": {
        7: ("727747679", "777777777", "022345689", "777777777"),
        2: ("222822728", "222222822", "223456789", "222422329"),
    },
    "cifar10": {3: ("333333333",) * 4, 8: ("888888881", "888888888", "888888801", "888881888")},
}
MOST = 0.9  # the share of equal answers from which the tables count as reproduced


def sample_rows(rows: Sequence[Row], data: str) -> list[Row]:
    """Return a row for each picture and target: our answers, and those in print beside them."""
    pictures: dict[int, int] = {}  # the first attacked picture of each label
    columns = under(rows, "plain", 3)["columns"]
    for sample, label in zip(columns["sample"], columns["label"], strict=True):
        if label in PRINTED[data]:
            pictures.setdefault(label, sample)
    found = []
    for label, printed in PRINTED[data].items():
        if label not in pictures:
            continue
        goals = [goal for goal in range(10) if goal != label]
        for place, goal in enumerate(goals):
            row: Row = {"label": label, "goal": goal}
            for (model, count, name), answers in zip(COLUMNS, printed, strict=True):
                row[name] = _voted(under(rows, model, count), pictures[label], goal)
                row[f"{name}, published"] = int(answers[place])
            found.append(row)
    return found


def _voted(row: Row, sample: int, goal: int) -> int | None:
    """Return the class that the vote names for one picture and target, None if not attacked."""
    columns = row["columns"]
    places = zip(columns["sample"], columns["goal"], columns["voted"], strict=True)
    return next((voted for s, g, voted in places if (s, g) == (sample, goal)), None)


def _answers(data: str) -> Test:
    """Test whether the answers are those in print; two pictures are too few to decide."""

    def test(rows: Sequence[Row]) -> Answer:
        listed = sample_rows(rows, data)
        if not listed:
            raise LookupError(data)
        names = [name for _, _, name in COLUMNS]
        pairs = [(r["label"], r[name], r[f"{name}, published"]) for r in listed for name in names]
        equal = sum(ours == theirs for _, ours, theirs in pairs) / len(pairs)
        right = [sum(pair[i] == pair[0] for pair in pairs) for i in (1, 2)]
        pictures = len({row["label"] for row in listed})
        text = (
            f"{percent(equal)} of {len(pairs)} answers are those in print; {right[0]} are right "
            f"here, {right[1]} in print; {pictures} pictures are too few to decide"
        )
        found = Estimate(equal, 0.0, 1.0, pictures)
        return decide(found, at_least(MOST)) if is_whole(rows) else "undecided", text

    return test


def claims_on_samples(data: str) -> list[Claim[Rows]]:
    """Return the claim on the answers to two pictures."""
    pictures = " and a ".join({"mnist": ("seven", "two"), "cifar10": ("cat", "ship")}[data])
    text = f"The vote answers as in print to sums of perturbations of a {pictures}"
    return [Claim(TABLES[data], text, _answers(data))]
