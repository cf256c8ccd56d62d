"""`shoal verify`: whether any file keeps a guarantee, and how anonymous it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.anonymize import wanted_model
from shoal.cli.console import (
    Delimiter,
    Encoding,
    File,
    Json,
    Missing,
    Quasi,
    SchemaFile,
    Sensitive,
    about,
    emit,
    grid,
    notes,
    number,
    out,
    roles_of,
    verdict,
)

if TYPE_CHECKING:
    from shoal.core.table import Table
    from shoal.reading import Schema


def verify(
    file: File,
    k: Annotated[int | None, typer.Option("-k", help="k of k-anonymity.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model to check, such as 't-closeness(0.2, disease)'. Repeatable."),
    ] = None,
    schema: SchemaFile = None,
    quasi: Quasi = "",
    sensitive: Sensitive = "",
    original: Annotated[
        Path | None,
        typer.Option(help="The original: its distributions count as known. Default: FILE's own."),
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    json: Json = False,
) -> None:
    """Tell whether FILE, from Shoal or from anywhere, keeps a model, and what k, l, t it has.

    Exit status 1 if it does not.
    """
    from shoal.anonymize import check_askable
    from shoal.core.classes import Classes
    from shoal.core.verification import judge
    from shoal.privacy import profile
    from shoal.reading import UnassignedColumns, read

    wanted = wanted_model(k, model) if k is not None or model else None
    roles = roles_of(quasi, sensitive, "", "")
    known = _known(schema, roles)
    stated: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding}
    form = {name: value for name, value in stated.items() if value is not None}
    if missing:
        form["missing"] = tuple(missing)
    source = None
    if original is not None:
        with notes(unless=UnassignedColumns):
            source = read(original, schema, roles=roles, missing=missing)
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
        data["check"] = judge(classes, wanted).to_dict()
    emit(json, data, lambda: _show(data))
    if wanted is not None and not data["check"]["holds"]:
        raise typer.Exit(1)


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
    rows = grid("reached", "")
    for name, value in data["reached"].items():
        rows.add_row(name, number(value))
    out.print(rows)
