"""Example tables: generated patients, published examples, public files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from shoal.datasets.variants import binned, permuted, random_hierarchies, random_k
from shoal.errors import unknown
from shoal.table.table import Table

_BUILT_IN = {
    "health-record": "7 patients of a published worked example",
    "fars-sample": "20 accident records of a published worked example",
}


def load(name: str, roles: Mapping[str, Any] | None = None) -> Table:
    """Return an example table by name.

    Parameters:
        name: One of the names that `catalogue()` lists.
        roles: Roles that replace the default roles of a public table.

    Returns:
        The table with its roles and hierarchies.

    Raises:
        InputError: The name is unknown, or the file of a public table is not found.

    >>> load("health-record")
    Table(rows=7, identifier=['name'], quasi=['age', 'sex', 'zipcode'], sensitive=['disease'])
    """
    from shoal.datasets import public

    built_in: dict[str, Callable[[], Table]] = {
        "health-record": _health_record,
        "fars-sample": _fars_sample,
    }
    if name in built_in:
        return built_in[name]()
    if name not in public.SOURCES:
        raise unknown("no table", name, catalogue())
    return public.SOURCES[name].load(public.folder(), roles)


def patients(rows: int, seed: int = 0) -> Table:
    """Return a generated hospital table with roles and hierarchies.

    Use `patient_chunks` for tables that do not fit in memory.

    Parameters:
        rows: Number of rows, up to 100 million.
        seed: The same rows and seed give the same table.

    Returns:
        The table.

    Raises:
        InputError: The number of rows is out of range.

    >>> patients(100).quasi
    ('birth_date', 'sex', 'postcode', 'ethnicity', 'occupation', 'admission_date')
    """
    chunks = pa.concat_tables(patient_chunks(rows, seed))
    return Table.from_arrow(chunks, patient_schema()["columns"])


def patient_chunks(rows: int, seed: int = 0) -> Any:
    """Return the generated hospital table in chunks, as Arrow tables.

    Parameters:
        rows: Number of rows, up to 100 million.
        seed: The same rows and seed give the same table.

    Returns:
        An iterator of Arrow tables.

    Raises:
        InputError: The number of rows is out of range.

    >>> [chunk.num_rows for chunk in patient_chunks(100)]
    [100]
    """
    from shoal.datasets.hospital import generate

    return generate(rows, seed)


def patient_schema() -> dict[str, Any]:
    """Return the schema of the generated hospital table as the content of a schema file.

    Returns:
        The schema as plain data, as `shoal.read` takes it.

    >>> patient_schema()["columns"]["sex"]
    {'role': 'quasi', 'kind': 'nominal'}
    """
    from shoal.datasets.hospital import SCHEMA

    return SCHEMA


def catalogue() -> dict[str, str]:
    """Return the description of every example table, by name.

    Returns:
        The descriptions; `load` takes the names.

    >>> catalogue()["health-record"]
    '7 patients of a published worked example'
    """
    from shoal.datasets.public import SOURCES

    return {**_BUILT_IN, **{name: source.about for name, source in SOURCES.items()}}


def _health_record() -> Table:
    """Seven patients of the electronic health record in Lee et al. (2017), used by Liang (2020)."""
    data = pa.table(
        {
            "name": ["Mary", "Alice", "Betsy", "David", "Tom", "James", "Eric"],
            "age": [37, 35, 36, 61, 63, 66, 63],
            "sex": ["F", "F", "F", "M", "M", "M", "M"],
            "zipcode": [22071, 22098, 23061, 55107, 55099, 55324, 55229],
            "disease": [
                "Pneumonia",
                "Diabetes",
                "Anemia",
                "Pneumonia",
                "Diabetes",
                "Diabetes",
                "Diabetes",
            ],
        }
    )
    roles = {
        "name": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "zipcode": "quasi",
        "disease": "sensitive",
    }
    return Table.from_arrow(data, roles)


def _fars_sample() -> Table:
    """Twenty people of the US fatal accident records, table 3.2 of Liang (2020)."""
    ages = [64, 29, 42, 41, 53, 59, 49, 59, 80, 50, 64, 55, 25, 42, 33, 31, 68, 20, 40, 18]
    data = pa.table(
        {
            "AGE": ages,
            "SEX": [2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 1, 1],
            "INJ_SEV": [4, 0, 0, 4, 2, 4, 4, 2, 4, 4, 3, 0, 0, 4, 2, 2, 3, 4, 4, 4],
            "DRINKING": [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0],
        }
    )
    return Table.from_arrow(data, dict.fromkeys(data.column_names, "quasi"))


__all__ = [
    "binned",
    "catalogue",
    "load",
    "patient_chunks",
    "patient_schema",
    "patients",
    "permuted",
    "random_hierarchies",
    "random_k",
]
