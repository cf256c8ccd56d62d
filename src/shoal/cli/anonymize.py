"""`shoal anonymize`: from a file to a verified release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import (
    Delimiter,
    Encoding,
    File,
    Identifier,
    Insensitive,
    Json,
    Missing,
    Quasi,
    SchemaFile,
    Sensitive,
    bars,
    emit,
    load,
    note,
    out,
    roles_of,
)
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.privacy.model import Model


def anonymize(
    file: File,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write: .csv, .tsv, .parquet.")
    ] = None,
    k: Annotated[int | None, typer.Option("-k", help="k of k-anonymity.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A further model, such as 'l-diversity(3, disease)'. Repeatable."),
    ] = None,
    schema: SchemaFile = None,
    quasi: Quasi = "",
    sensitive: Sensitive = "",
    identifier: Identifier = "",
    insensitive: Insensitive = "",
    method: Annotated[str, typer.Option(help="`shoal methods` lists them.")] = "mondrian",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-O", help="An option of the method: name=value. Repeatable."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For methods that draw at random.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="Write the rows in random order, repeatable with --seed."),
    ] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    json: Json = False,
) -> None:
    """Anonymize FILE, check the guarantee on the result, and write it.

    Nothing is written unless the check passes. Columns without a role are left out.
    """
    from shoal.anonymize import anonymize as run
    from shoal.cli.summary import show_summary, summarize
    from shoal.core.files import check_writable
    from shoal.core.writing import writer_for

    wanted = wanted_model(k, model)
    if output is not None:
        writer_for(output)
        check_writable(output, force=force)
    roles = roles_of(quasi, sensitive, identifier, insensitive)
    with bars():
        table = load(file, schema, roles, delimiter=delimiter, encoding=encoding, missing=missing)
        release = run(table, wanted, method, seed=seed, **method_options(option))
        if output is not None:
            release.write(output, force=force, shuffle=shuffle, seed=seed)
    data = summarize(release, output)
    emit(json, data, lambda: show_summary(data, out))
    if output is None and not json:
        note("nothing was written; name a file with -o")


def wanted_model(k: int | None, models: list[str] | None) -> Model:
    """Join what -k and --model ask for."""
    from shoal.privacy import KAnonymity, parse

    parts: list[Model] = [] if k is None else [KAnonymity(k)]
    parts += [parse(text) for text in models or []]
    if not parts:
        raise InputError("no guarantee asked for; give -k 5, or --model 'l-diversity(3, column)'")
    joined = parts[0]
    for part in parts[1:]:
        joined = joined & part
    return joined


def method_options(options: list[str] | None) -> dict[str, Any]:
    """Read `name=value` pairs; values are read as YAML, so numbers are numbers."""
    import yaml

    found = {}
    for text in options or []:
        name, mark, value = text.partition("=")
        if not mark:
            raise InputError(f"option {text!r} must be written name=value")
        try:
            found[name.strip().replace("-", "_")] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise InputError(f"option {name.strip()!r}: its value cannot be read") from None
    return found
