"""The generated hospital table as files, written chunk by chunk."""

from __future__ import annotations

from pathlib import Path

import yaml

from shoal.core.files import check_writable, replace_file
from shoal.core.progress import report
from shoal.core.writing import open_writer
from shoal.datasets import patient_chunks, patient_schema


def write_patients(path: Path, rows: int, seed: int = 0, *, force: bool = False) -> Path:
    """Write the table, and its schema as `<name>.yaml` beside it; return the schema's path."""
    schema = path.with_suffix(".yaml")
    check_writable(schema, force=force)
    with replace_file(path, force=force) as temporary:
        done, writer = 0, None
        for chunk in patient_chunks(rows, seed):
            writer = writer or open_writer(temporary, chunk.schema)
            writer.write_table(chunk)
            done += chunk.num_rows
            report("generate", done, rows)
        if writer is not None:
            writer.close()
    with replace_file(schema, force=force) as temporary:
        text = yaml.safe_dump(patient_schema(), sort_keys=False, allow_unicode=True)
        temporary.write_text(text, encoding="utf-8")
    return schema
