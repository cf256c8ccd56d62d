"""Options for tables that do not fit in memory, and how a command opens such a table.

Read the method and its options from the command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import note, notes
from shoal.cli.shared.options import Hierarchies
from shoal.cli.shared.tables import Form, Roles, hierarchies_of, load
from shoal.errors import InputError, unknown

if TYPE_CHECKING:
    from shoal.methods.algorithm import Algorithm
    from shoal.rows.choice import Choice
    from shoal.rows.large_table import LargeTable
    from shoal.rows.memory import Budget
    from shoal.table.table import Table


Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory to use, such as 4GB: a table that needs more stays on disk. Default: 70 % of "
        "the machine's memory.",
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Leave the rows on disk, whatever their size: duckdb, or spark, which reads "
        "s3://, gs://, abfss:// and hdfs:// without a copy.",
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="With --engine spark: where Spark runs, such as local[2] or sc://host. Default: the "
        "session of spark-submit, or this machine.",
    ),
]

_COLUMNS = 8  # of a table whose columns are not counted

PartitionRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="On disk: rows of a partition, for methods that run on partitions. Default: as many "
        "as fit in memory, up to 500,000.",
    ),
]


@dataclass(frozen=True)
class Scale:
    """How much memory a command may use, and what works on rows that stay on disk."""

    memory: Memory = None
    engine: EngineName = None
    master: Master = None

    def choose(
        self, file: Path, roles: Roles, algorithm: Any, in_memory: Mapping[str, Any]
    ) -> Choice:
        """Return where to anonymize a file, and print why if it is not obvious.

        in_memory: options that need the rows in memory, with their values.
        """
        from shoal.rows.choice import choose

        if self.master is not None and self.engine != "spark":
            raise InputError("--master needs --engine spark, because it states where Spark runs")
        chosen = choose(file, self.memory, self.engine, algorithm, len(roles.columns))
        if chosen.reason:
            note(chosen.reason)
        for option, value in in_memory.items():
            if value and chosen.on_disk:
                raise InputError(
                    f"{option} needs the table in memory; leave it out, or state a larger --memory"
                )
        return chosen

    def choose_pair(self, original: Path, released: Path, roles: Roles) -> Budget | None:
        """Return the budget if an original or its release stays on disk, None if both fit."""
        for file in (original, released):
            check_source(file)
        if self.engine == "spark":
            raise InputError(
                "two files are compared by duckdb; use --engine duckdb, or leave it out"
            )
        for file in (original, released):
            chosen = self.choose(file, roles, None, {})
            if chosen.on_disk:
                return chosen.budget
        return None


def refuse_large(*files: Path) -> None:
    """Raise an error before a file is read that a command needs in memory and that does not fit."""
    from shoal.rows.choice import choose

    for file in files:
        check_source(file)
        chosen = choose(file, None, None, None, _COLUMNS)
        if chosen.on_disk:
            raise InputError(
                f"{file}: this command needs the rows in memory, but {chosen.reason}; use `shoal "
                "risk records`, which counts classes on disk, or a sample of the rows"
            )


@dataclass(frozen=True)
class Partitioned(Scale):
    """The same, for methods that may run on partitions."""

    partition_rows: PartitionRows = None


def check_source(file: Path) -> None:
    """Reject a file that cannot be read; a folder or a pattern stands for several files."""
    import glob

    from shoal.support.addresses import address_of
    from shoal.support.files import check_readable

    if address_of(file) is not None:
        return
    if not file.is_dir() and (file.exists() or not glob.has_magic(str(file))):
        check_readable(file)


def load_or_open(
    file: Path,
    roles: Roles,
    hierarchies: Hierarchies,
    form: Form,
    choice: Choice,
    scale: Partitioned,
) -> Table | LargeTable:
    """Return the table of a file, in memory or on disk, with its roles."""
    if not choice.on_disk:
        return load(file, roles, hierarchies, form)
    from shoal.rows.opening import open as open_table

    roles.check()
    stated = dict(form.stated)
    for name in ("sheet", "query"):
        if name in stated:
            raise InputError(f"--{name}: not for rows that stay on disk; leave it out")
    with notes():
        return open_table(
            file,
            roles.known,
            roles=roles.stated,
            hierarchies=hierarchies_of(hierarchies),
            **roles.units,
            **stated,
            memory=choice.budget.size,
            partition_rows=scale.partition_rows,
            engine=choice.engine,
            master=scale.master,
        )


_EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")  # 1e-6 is text to YAML


def method_options(options: list[str] | None) -> dict[str, Any]:
    """Read `name=value` pairs; values are read as YAML, so numbers are numbers."""
    import yaml

    from shoal.files.schema import load_yaml

    found: dict[str, Any] = {}
    for text in options or []:
        stated, mark, value = text.partition("=")
        name = stated.strip().replace("-", "_")
        if not mark or not name:
            raise InputError(f"option {text!r} must be written name=value")
        if name in found:
            raise InputError(f"option {name!r} is given twice; give it once")
        try:
            found[name] = float(value) if _EXPONENT.fullmatch(value.strip()) else load_yaml(value)
        except yaml.YAMLError:
            raise InputError(f"option {name!r}: its value cannot be read") from None
    return found


def check_method(name: str) -> None:
    """Raise an error for an unknown method."""
    from shoal.methods.registry import METHODS

    if name not in METHODS:
        raise unknown("no method", name, METHODS)


def chosen_method(
    name: str, options: list[str] | None, seed: int | None
) -> tuple[Algorithm, int | None]:
    """Return the method with its options, and its seed from --seed or `-O seed=`."""
    from shoal.methods.algorithm import make

    check_method(name)
    from shoal.methods.registry import METHODS

    stated = method_options(options)
    method: Algorithm = make(METHODS[name], stated)
    if "seed" in stated:
        if seed is not None:
            raise InputError("the seed is given twice; omit -O seed")
        seed = stated["seed"]
    return method, seed
