"""Public tables, read from the folder that SHOAL_DATA names.

`take_domains_as_public` declares the domains that such a table happens to have. That is for studies
of public data only: a domain that is read from the records reveals them.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.files.formats import typed
from shoal.files.text_files import open_bytes
from shoal.table.column import Column, Role
from shoal.table.hierarchy import Hierarchy
from shoal.table.table import Table

ADULT_QUASI = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
)
CMC = (
    "wife_age wife_education husband_education children wife_religion wife_working "
    "husband_occupation living_standard media_exposure method"
).split()
CENSUS = (
    "age class_of_worker industry_code occupation_code education wage_per_hour "
    "enrolled_in_education marital_status major_industry major_occupation race hispanic_origin "
    "sex labor_union unemployment_reason employment_status capital_gains capital_losses dividends "
    "tax_filer_status previous_region previous_state household_detail household_summary "
    "instance_weight migration_msa migration_region migration_within_region same_house "
    "migration_sunbelt employer_size family_under_18 father_birth mother_birth self_birth "
    "citizenship own_business veterans_questionnaire veterans_benefits weeks_worked year income"
).split()


@dataclass(frozen=True)
class Source:
    """The file of a public table and the roles of its columns."""

    file: str
    about: str
    read: Callable[[Path], Any]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    hierarchies: str | None = None  # file name with {} for the column
    kinds: Mapping[str, str] = field(default_factory=dict)

    def load(self, folder: Path, roles: Mapping[str, Any] | None) -> Table:
        """Read the table; roles given by the caller take precedence, other columns pass through."""
        path = folder / self.file
        if not path.is_file():
            raise InputError(
                f"{path}: not found; put the file there, or set SHOAL_DATA to the folder "
                f"that holds {self.file}"
            )
        data = self.read(path)
        chosen: dict[str, Any] = dict.fromkeys(data.column_names, "insensitive")
        chosen |= dict.fromkeys(self.quasi, "quasi") | dict.fromkeys(self.sensitive, "sensitive")
        chosen |= dict(roles or {})
        specs = {name: self._spec(name, given, path.parent) for name, given in chosen.items()}
        return Table.from_arrow(data, specs)

    def _spec(self, name: str, given: Any, folder: Path) -> dict[str, Any]:
        spec = dict(given) if isinstance(given, Mapping) else {"role": given}
        if name in self.kinds:
            spec.setdefault("kind", self.kinds[name])
        if self.hierarchies and spec["role"] in ("quasi", "sensitive"):
            tree = folder / self.hierarchies.format(name)
            if tree.is_file():
                spec.setdefault("hierarchy", Hierarchy.read(tree))
        return spec


def folder() -> Path:
    """Return the folder of public tables; raise an error that explains how to set it."""
    named = os.environ.get("SHOAL_DATA")
    if not named:
        raise InputError(
            "Shoal does not include the public tables: put their files in a folder and set "
            "SHOAL_DATA to it (`shoal datasets` lists the files)"
        )
    return Path(named)


def _delimited(delimiter: str, names: list[str] | None = None, missing: str = "") -> Any:
    def read(path: Path) -> Any:
        with open_bytes(path) as handle:
            return _typed(handle.read(), delimiter, names, missing)

    return read


def _typed(text: bytes, delimiter: str, names: list[str] | None, missing: str) -> Any:
    from pyarrow import csv

    lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    header = lines.split(b"\n", 1)[0].decode().split(delimiter)
    table = csv.read_csv(
        pa.BufferReader(lines),
        csv.ReadOptions(column_names=names, block_size=1 << 24),
        csv.ParseOptions(delimiter=delimiter),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names or header, pa.string()),
            null_values=[missing] if missing else [],
            strings_can_be_null=bool(missing),
        ),
    )
    trimmed = {n: pc.utf8_trim_whitespace(table.column(n)) for n in table.column_names}
    return pa.table({name: typed(cells) for name, cells in trimmed.items()})


def _keel(path: Path) -> Any:
    """Read the KEEL format from a zip file: attribute lines, then `@data` and CSV."""
    with zipfile.ZipFile(path) as archive:
        text = archive.read(archive.namelist()[0])
    head, _, body = text.partition(b"@data")
    lines = [line for line in head.decode("latin-1").splitlines() if line.startswith("@attribute")]
    names = [line.split("{")[0].split(" real")[0].split()[1] for line in lines]
    table = _typed(body.lstrip(b"\r\n"), ",", names, "")
    numbers = {n: i for i, n in enumerate(names) if " real" in lines[i]}
    for name, place in numbers.items():
        table = table.set_column(place, name, table.column(name).cast(pa.int64()))
    return table


SOURCES: dict[str, Source] = {
    "adult": Source(
        "adult/adult.csv",
        "30,162 complete records of the 1994 US census (UCI Adult), with hierarchies",
        _delimited(";"),
        ADULT_QUASI,
        ("salary-class",),
        "adult_hierarchy_{}.csv",
    ),
    "cmc": Source(
        "cmc/cmc.data",
        "1,473 women on contraceptive method choice (UCI)",
        _delimited(",", CMC),
        tuple(CMC[:-1]),
        ("method",),
    ),
    "ring": Source(
        "ring/ring.tsv.gz",
        "7,400 points of two 20-dimensional Gaussians (PMLB)",
        _delimited("\t"),
        tuple(f"A{i}" for i in range(1, 21)),
        ("target",),
    ),
    "heart": Source(
        "heart/framingham.csv",
        "4,240 participants of a heart study, teaching extract",
        _delimited(",", missing="NA"),
        ("male", "age", "education", "currentSmoker", "cigsPerDay"),
        ("TenYearCHD",),
    ),
    "fars": Source(
        "fars/fars.zip",
        "100,968 people in fatal US road accidents (KEEL)",
        _keel,
        ("CASE_STATE", "AGE", "SEX", "PERSON_TYPE", "SEATING_POSITION", "RACE"),
        ("INJURY_SEVERITY",),
    ),
    "census-income": Source(
        "census-income/census_income_1994_1995_train.csv.gz",
        "199,523 persons of the US census 1994-95 (UCI)",
        _delimited(",", CENSUS),
        (
            "age",
            "class_of_worker",
            "education",
            "marital_status",
            "race",
            "sex",
            "employment_status",
            "self_birth",
        ),
        ("income",),
    ),
}


def take_domains_as_public(table: Table) -> Table:
    """Return a public table whose types, domains and hierarchies count as declared.

    A claim of differential privacy about such a table does not cover what its domains reveal.
    """
    columns = [_declared(c) if c.role is not Role.IDENTIFIER else c for c in table]
    return replace(table, columns=tuple(columns), guessed=())


def _declared(column: Column) -> Column:
    tree = column.hierarchy
    return replace(
        column,
        type="text" if column.type in (None, "decimal") else column.type,
        declared=True,
        hierarchy=None if tree is None else replace(tree, origin="declared"),
    )
