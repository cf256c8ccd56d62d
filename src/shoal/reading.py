"""Reading: the public names of `shoal.files` and of released tables, which moved there."""

from shoal.files.formats import Format
from shoal.files.reading import read, read_arrow
from shoal.files.schema import Schema
from shoal.release.released_files import Unclaimed, read_released
from shoal.table.roles import UnassignedColumns, unassigned_message

__all__ = [
    "Format",
    "Schema",
    "UnassignedColumns",
    "Unclaimed",
    "read",
    "read_arrow",
    "read_released",
    "unassigned_message",
]
