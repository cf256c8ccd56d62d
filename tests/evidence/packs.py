"""Tables and packs that the tests of evidence share."""

import numpy as np
import pyarrow as pa

import shoal
from shoal.evidence import write_evidence

ROLES = {"name": "identifier", "age": "quasi", "town": "quasi", "ill": "sensitive"}


def people(copies=2):
    """Classes of `copies` people for each of two ages and two towns; every class is both ill."""
    rows = [
        {"name": f"p{age}{town}{i}", "age": age, "town": town, "ill": ("flu", "gout")[i % 2]}
        for age in (30, 50)
        for town in ("Ulm", "Kiel")
        for i in range(copies)
    ]
    return pa.Table.from_pylist(rows)


def release(copies=2, k=2, **options):
    table = shoal.Table.from_arrow(people(copies), ROLES)
    return shoal.anonymize(table, shoal.KAnonymity(k) & shoal.LDiversity(2, "ill"), **options)


def packed(folder, name="released.csv", made=None, **options):
    """Write a release and its pack, and return the pack."""
    made = release() if made is None else made
    made.write(folder / name)
    write_evidence(made, folder / "pack", folder / name, **options)
    return folder / "pack"


def crowd(count, seed=0):
    """People with enough variety for attacks."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 80, count),
            "zip": [f"{z:05}" for z in rng.integers(10_000, 10_400, count)],
            "ill": [f"illness {i}" for i in rng.integers(0, 6, count)],
        }
    )


def crowd_release(count=400, k=5):
    roles = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
    return shoal.anonymize(shoal.Table.from_arrow(crowd(count), roles), k=k, list_values=True)


def crowd_control(count=200):
    roles = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
    return shoal.Table.from_arrow(crowd(count, seed=1), roles)
