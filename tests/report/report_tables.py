"""Tables and releases that the tests of the report share."""

import datetime
from functools import cache

import pyarrow as pa
from tests.cases import ON_SMALL_TABLES, ready_for

import shoal
from shoal import FreeformAnonymity, KAnonymity, LDiversity, Table

SECRETS = ("987654", "Zzyzx", "quokka", "1871", "kuru", "7654321", "Quentin", "scrawl")
TREE = {"marsupial": ["koala", "wombat", "quokka"], "bird": ["emu", "owl"]}
ROLES = {
    "name": "identifier",
    "age": "quasi",
    "town": "quasi",
    "animal": {"role": "quasi", "hierarchy": {"tree": TREE}},
    "born": "quasi",
    "disease": "sensitive",
    "income": "sensitive",
    "note": "insensitive",
}


def people(rows=60, secret=True):
    """Common people, and one whose every cell would give them away."""
    common = [
        {
            "name": f"Quentin {i}",
            "age": 20 + i % 30,
            "town": ("Ulm", "Bonn", "Kiel")[i % 3],
            "animal": ("koala", "wombat", "emu", "owl")[i % 4],
            "born": datetime.date(1960 + i % 40, 1 + i % 12, 1 + i % 28),
            "disease": ("flu", "cold", "gout")[(i // 2) % 3],
            "income": 1000 + 100 * (i % 25),
            "note": f"scrawl {i}",
        }
        for i in range(rows)
    ]
    alone = {
        "name": "Quentin",
        "age": 987654,
        "town": "Zzyzx",
        "animal": "quokka",
        "born": datetime.date(1871, 3, 14),
        "disease": "kuru",
        "income": 7654321,
        "note": "scrawl",
    }
    return [*common, alone] if secret else common


def table(rows=None, roles=None, **hierarchies):
    return Table.from_arrow(
        pa.Table.from_pylist(people() if rows is None else rows), roles or ROLES, hierarchies
    )


def made(of, method, **options):
    model = FreeformAnonymity(3) if method.startswith("doka") else KAnonymity(3)
    return shoal.anonymize(
        ready_for(method, of), model, method, **ON_SMALL_TABLES.get(method, {}), **options
    )


TELLING = {"town": {"ordering": 2}, "age": {"quantiles": [4, 2]}, "born": {"dates": ["year"]}}
FURTHER = {
    "mondrian by range": lambda: made(table(), "mondrian", hierarchies=False),
    "representatives": lambda: made(table(), "mondrian", summary="representative"),
    "telling labels": lambda: made(table(**TELLING), "flash", max_suppression=0.2),
    "few suppressed": lambda: made(table(**TELLING), "flash", max_suppression=0.05),
    "diverse": lambda: shoal.anonymize(table(), KAnonymity(3) & LDiversity(2, "disease")),
}
RELEASES = (*shoal.METHODS, *FURTHER)


@cache
def release(name):
    """Return a release of the table with the secrets, by a method or otherwise."""
    return FURTHER[name]() if name in FURTHER else made(table(), name)
