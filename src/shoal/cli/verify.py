"""`shoal verify`: whether any file keeps a guarantee, and how anonymous it is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import about, emit, grid, notes, number, out, verdict
from shoal.cli.options import (
    Delimiter,
    Encoding,
    File,
    Hierarchies,
    Json,
    K,
    Key,
    Missing,
    Quasi,
    SchemaFile,
    Sensitive,
    check_roles,
    hierarchies_of,
    roles_of,
    wanted_model,
)
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.core.table import Table
    from shoal.core.verification import Verification
    from shoal.privacy.model import Model
    from shoal.reading import Schema

_MEANING = {
    "k": "people in the smallest class; more is better",
    "l": "fewest values in a class; more is better",
    "entropy-l": "fewest, rare ones counting less; more is better",
    "t": "distance from the whole table; less is better",
    "alpha": "largest share of one value; less is better",
    "delta": "largest log change of a share; less is better",
    "beta": "largest relative gain of a share; less is better",
}


def verify(
    file: File,
    k: K = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="A model to check, such as 't-closeness(0.2, disease)'. Repeatable.",
        ),
    ] = None,
    schema: SchemaFile = None,
    quasi: Quasi = "",
    sensitive: Sensitive = "",
    original: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The original table; t, delta and beta compare with it. Default: FILE itself.",
        ),
    ] = None,
    key: Key = None,
    hierarchy: Hierarchies = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    json: Json = False,
) -> None:
    """Tell whether FILE, from Shoal or not, keeps a model, and what k, l, t it has.

    Models of who may be whom, such as 'freeform-anonymity(5)', need --original: the cells of FILE
    are read back, with labels of hierarchies if these are known, and its rows go by position or
    by --key.

    The exit status is 1 if the model is not kept.
    """
    from shoal.anonymize import check_askable
    from shoal.core.classes import Classes
    from shoal.core.files import check_readable
    from shoal.privacy import profile
    from shoal.reading import Schema, UnassignedColumns, read

    check_readable(file)
    wanted = wanted_model(k, model) if k is not None or model else None
    roles = roles_of(quasi, sensitive, "", "")
    known = _known(schema, roles)
    check_roles(known.columns, roles)
    stated: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding}
    form = {name: value for name, value in stated.items() if value is not None}
    if missing:
        form["missing"] = tuple(missing)
    source = None
    if original is not None:
        whole = Schema() if schema is None else Schema.read(schema)
        if key is not None and key not in whole.columns:
            roles.setdefault(key, "identifier")
        trees = hierarchies_of(hierarchy)
        with notes(unless=UnassignedColumns):
            source = read(original, whole, roles=roles, hierarchies=trees, missing=missing)
    published = _published(file, known, source, form)
    check_askable(published, wanted)
    classes = Classes.by_quasi(published, origin=source)
    reached = profile(classes, published.sensitive)
    data: dict[str, Any] = {
        "records": published.records,
        "classes": len(classes),
        "quasi": list(published.quasi),
        "sensitive": list(published.sensitive),
        "reached": reached,
    }
    if wanted is not None:
        form = {**known.file, **form}
        data["check"] = _check(wanted, classes, file, source, key, form).to_dict()
    emit(json, data, lambda: _show(data))
    if wanted is not None and not data["check"]["holds"]:
        raise typer.Exit(1)


def _check(
    wanted: Model,
    classes: Classes,
    file: Path,
    original: Table | None,
    key: str | None,
    form: dict[str, Any],
) -> Verification:
    """Ask the classes, and where they do not settle who may be whom, the file beside its original.

    Such a model holds if all classes are large enough.
    """
    from shoal.core.verification import judge
    from shoal.reading import released

    if all(part.by_class or bool(part.holds(classes).all()) for part in wanted.parts):
        return judge(classes, wanted)
    if original is None:
        raise InputError(f"{wanted} is about who may be whom; name the original with --original")
    with notes():
        return released(file, original, key=key, model=wanted, **form).verify()


def _published(file: Path, known: Schema, original: Table | None, form: dict[str, Any]) -> Table:
    """Read a file with its quasi-identifiers as bare text: equal cells are alike, no more."""
    from shoal.core.table import Table
    from shoal.core.verification import published_table
    from shoal.reading import Format, read_arrow

    quasi = [name for name, spec in known.columns.items() if spec["role"] == "quasi"]
    with notes():
        data = read_arrow(file, Format(**{**known.file, **form}), quasi)
    with about(file):
        table = Table.from_arrow(data, known.columns)
        return table if original is None else published_table(data, original)


def _known(schema: Path | None, roles: dict[str, str]) -> Schema:
    """Return the roles that matter here; how quasi-identifiers were once read does not."""
    from shoal.reading import Schema

    stated = Schema() if schema is None else Schema.read(schema)
    specs = {name: dict(spec) for name, spec in stated.columns.items()}
    for name, role in roles.items():
        specs[name] = {**specs.get(name, {}), "role": role}
    kept = {}
    for name, spec in specs.items():
        if spec.get("role") == "quasi":
            kept[name] = {"role": "quasi", "kind": "nominal"}
        elif spec.get("role") == "sensitive":
            kept[name] = spec
    return Schema(kept, stated.file)


def _show(data: dict[str, Any]) -> None:
    check = data.get("check")
    if check:
        told = "holds" if check["holds"] else "does not hold"
        out.print(verdict(check["model"], check["holds"], told), soft_wrap=True)
        if not check["holds"]:
            out.print(
                f"  {check['failing']:,} of {check['classes']:,} classes break it "
                f"({check['failing_records']:,} records)"
            )
        out.print()
    out.print(f"{data['records']:,} records in {data['classes']:,} classes\n")
    rows = grid("reached", "", "what it means")
    for name, value in data["reached"].items():
        lacking = " (∞: some class lacks a value)" if math.isinf(value) else ""
        rows.add_row(name, number(value), _MEANING[name.partition("(")[0]] + lacking)
    out.print(rows)
