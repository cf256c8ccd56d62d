"""Small built-in tables from published worked examples.

Writes the generated hospital table to files, chunk by chunk.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import yaml

from shoal.datasets import patient_chunks, patient_schema
from shoal.errors import InputError
from shoal.files.writing import check_ending, open_writer
from shoal.support.files import check_writable, replace_file
from shoal.support.progress import report
from shoal.table.table import Table


def health_record() -> Table:
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


def fars_sample() -> Table:
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
