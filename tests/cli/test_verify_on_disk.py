"""`shoal verify` finds the same about a file on disk as in memory."""

import csv
import json
import random

import pytest

from shoal.privacy.models import parse

PSEUDONYMS = """
{person}
columns:
  who: {{role: identifier, replace: pseudonym}}
  kin: {{role: identifier, replace: pseudonym}}
  ward: {{role: quasi}}
  age: {{role: quasi}}
  ill: {{role: sensitive}}
  note: {{role: insensitive}}
  gone: {{role: insensitive}}
"""
MODELS = [
    "k-anonymity(2)",
    "l-diversity(2, ill)",
    "entropy-l-diversity(1.5, ill)",
    "t-closeness(0.4, ill)",
    "km-anonymity(2, 2)",
    "km-anonymity(2, 1) & l-diversity(2, ill)",
]


def visits(folder, seed, name="visits.csv"):
    """Write visits of few people who often look alike, some of them with missing identifiers."""
    draw = random.Random(seed)
    people = draw.randrange(4, 9)
    rows = []
    for person in range(people):
        likeness = random.Random(f"{seed} {person % 3}")  # the people who look alike
        rows += [
            {
                "who": f"p{person}",
                "home": f"h{person // 2}",
                "kin": draw.choice(["", "?", f"k{person}", f"k{draw.randrange(40)}"]),
                "ward": likeness.choice(["north", "south", "?"]),
                "age": likeness.choice(["20-29", "30-39"]),
                "ill": draw.choice(["flu", "gout", "", "cold"]),
                "note": draw.randrange(5),
            }
            for _ in range(likeness.choice([1, 1, 2, 3]))
        ]
    draw.shuffle(rows)
    with (folder / name).open("w", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def both(shoal, *asked):
    """Return what is found in memory and on disk, with the exit status."""
    outcomes = []
    for engine in ((), ("--engine", "duckdb", "--memory", "300MB")):
        done = shoal("verify", *asked, *engine, "--json")
        error = [line for line in done.err.splitlines() if not line.startswith("note: ")]
        outcomes.append((done.status, json.loads(done.out) if done.out else error))
    return outcomes


ROLES = ("--quasi", "ward,age", "--sensitive", "ill", "--missing", "?")


@pytest.mark.parametrize("seed", range(6))
def test_rows_of_a_person_are_judged_together(shoal, folder, seed):
    visits(folder, seed)
    draw = random.Random(seed)
    person = draw.choice([("--person", "who"), ("--person", "who", "--household", "home")])
    more = draw.choice([(), (), ("--unlinked",)])
    memory, disk = both(shoal, "visits.csv", *ROLES, *person, *more, "--model", draw.choice(MODELS))
    assert memory == disk
    assert memory[0] in (0, 1)
    assert memory[1]["people"] < memory[1]["records"]


@pytest.mark.parametrize("person", ["", "person: who", "person: [who, home]"])
@pytest.mark.parametrize("seed", [1, 2])
def test_replaced_identifiers_link_rows(shoal, folder, seed, person):
    """With missing pseudonyms, which link nothing, and people who share one."""
    visits(folder, seed)
    (folder / "schema.yaml").write_text(PSEUDONYMS.format(person=person))
    asked = ("visits.csv", "--schema", "schema.yaml", "--missing", "?")
    for more in ((), ("--unlinked",)):
        memory, disk = both(shoal, *asked, *more, "--model", MODELS[seed])
        assert memory == disk
        assert memory[0] in (0, 1)
        assert memory[1]["people"] < memory[1]["records"]


def test_people_who_look_alike_only_row_by_row_are_distinguished(shoal, folder):
    lines = [f"p{p},{ward}" for p in range(4) for ward in ("north", "south")]
    (folder / "visits.csv").write_text("\n".join(["who,ward", *lines, "p4,north"]) + "\n")
    asked = ("visits.csv", "--quasi", "ward", "--person", "who", "-k", 3)
    for status, found in both(shoal, *asked):
        assert status == 1
        assert (found["check"]["failing"], found["check"]["classes"]) == (1, 3)
        assert found["check"]["failing_records"] == 1
    assert [status for status, _ in both(shoal, *asked, "--unlinked")] == [0, 0]


@pytest.mark.parametrize(
    ("model", "status"), [("km-anonymity(5, 1)", 0), ("km-anonymity(5, 2)", 1)]
)
def test_equal_rows_of_a_person_count_as_often_as_they_occur(shoal, folder, model, status):
    """Person p0 was in the north twice, all others once."""
    lines = [f"p{number},north" for number in (0, 0, 1, 2, 3, 4)]
    (folder / "visits.csv").write_text("\n".join(["who,ward", *lines]) + "\n")
    asked = ("visits.csv", "--quasi", "ward", "--person", "who", "--model", model)
    memory, disk = both(shoal, *asked)
    assert memory == disk
    assert memory[0] == status
    assert memory[1]["check"]["levels"] == {str(parse(model)): 5.0 if status == 0 else 1.0}
    (folder / "pseudonyms.yaml").write_text(
        "columns:\n  who: {role: identifier, replace: pseudonym}\n  ward: {role: quasi}\n"
    )
    memory, disk = both(shoal, "visits.csv", "--schema", "pseudonyms.yaml", "--model", model)
    assert memory == disk
    assert memory[0] == status


def test_a_release_with_pseudonyms_verifies_on_disk(shoal, folder):
    visits(folder, 3)
    (folder / "schema.yaml").write_text(PSEUDONYMS.format(person="person: who"))
    text = (folder / "schema.yaml").read_text().replace("  gone: {role: insensitive}\n", "")
    (folder / "own.yaml").write_text(text)
    assert shoal("keys", "new", "-o", "key").status == 0
    made = ("anonymize", "visits.csv", "--schema", "own.yaml", "-k", 2, "--key-file", "key")
    assert shoal(*made, "--domain", "study", "-o", "study").status == 0
    done = shoal("verify", "study", "--schema", "schema.yaml", "-k", 2)
    assert done.status == 0, done.err
    assert "k-anonymity(k=2)  holds" in done.out


def test_people_are_counted_in_the_original_if_the_file_does_not_show_them(shoal, folder):
    visits(folder, 5)
    with (folder / "visits.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    for number, row in enumerate(rows):
        row["id"] = number
    for name, left_out in (("raw.csv", ()), ("shown.csv", ("who", "home", "kin"))):
        with (folder / name).open("w", newline="") as handle:
            writer = csv.DictWriter(handle, [n for n in rows[0] if n not in left_out],
                                    extrasaction="ignore")  # fmt: skip
            writer.writeheader()
            writer.writerows(rows)
        rows.reverse()
    asked = ("shown.csv", *ROLES, "--person", "who", "-k", 2)
    memory, disk = both(shoal, *asked, "--original", "raw.csv", "--key", "id")
    assert memory == disk
    assert memory[1]["people"] < memory[1]["records"]
    for status, error in both(shoal, *asked):
        assert status == 2
        assert "name the original that has it with --original" in error[0]


def test_a_model_about_matching_rows_uses_the_hierarchies_on_disk(shoal, folder):
    (folder / "raw.csv").write_text("id,zip\n1,11\n2,12\n3,12\n4,21\n5,22\n")
    (folder / "shown.csv").write_text("id,zip\n1,1*\n2,1*\n3,12\n4,2*\n5,2*\n")
    asked = ("shown.csv", "--quasi", "zip", "--original", "raw.csv", "--key", "id",
             "--hierarchy", "zip=mask: right")  # fmt: skip
    memory, disk = both(shoal, *asked, "--model", "k-concealment(2)")
    assert memory == disk
    assert memory[0] in (0, 1)


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ((), 2),  # repeated numbers of patients
        (("--rows-are-people",), 0),
        (("--person", "patient_id", "-k", 9), 2),  # more than there are people
        (("--person", "patient_id", "--missing", "b"), 2),
        (("--person", "nobody", "--rows-are-people"), 2),
    ],
)
def test_what_is_refused_in_memory_is_refused_on_disk(shoal, folder, more, status):
    (folder / "visits.csv").write_text("patient_id,ward\na,x\na,y\nb,x\nb,y\n")
    memory, disk = both(shoal, "visits.csv", "--quasi", "ward", *more)
    assert memory[0] == disk[0] == status
    if status == 0:
        assert memory == disk
    else:
        assert [line.partition(": ")[2].removeprefix("visits.csv: ") for line in memory[1]] == [
            line.partition(": ")[2].removeprefix("visits.csv: ") for line in disk[1]
        ]
