"""Small built-in tables from published worked examples."""

from __future__ import annotations

import pyarrow as pa

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
