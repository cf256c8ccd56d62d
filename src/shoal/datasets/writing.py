"""Writes the generated hospital table to files, chunk by chunk."""

from __future__ import annotations

from pathlib import Path

import yaml

from shoal.core.publishing.writing import check_ending, open_writer
from shoal.datasets import patient_chunks, patient_schema
from shoal.errors import InputError
from shoal.support.files import check_writable, replace_file
from shoal.support.progress import report


def write_patients(path: Path, rows: int, seed: int = 0, *, force: bool = False) -> Path:
    """Write the table and, next to it, its schema `<name>.yaml`; return the path of the schema."""
    check_ending(path)
    if rows < 1:
        raise InputError(f"rows must be 1 or more, not {rows}")
    chunks = patient_chunks(rows, seed)
    schema = path.with_suffix(".yaml")
    check_writable(schema, force=force)
    with replace_file(path, force=force) as temporary:
        done, (empty,) = 0, patient_chunks(0)
        with open_writer(temporary, empty.schema) as writer:
            for chunk in chunks:
                writer.write_table(chunk)
                done += chunk.num_rows
                report("generate", done, rows)
    with replace_file(schema, force=force) as temporary:
        temporary.write_text(schema_text(), encoding="utf-8")
    return schema


def schema_text() -> str:
    """Return the schema of the table as YAML."""
    text: str = yaml.safe_dump(patient_schema(), sort_keys=False, allow_unicode=True)
    return text
