"""Tables and packs that the tests of evidence share."""

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
