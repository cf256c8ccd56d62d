"""Rows of a PostgreSQL database to Arrow tables, through the ADBC driver.

Nothing is downloaded at run time. A message never repeats the address, which may hold a password,
nor what the server says, which may quote cells.
"""

from __future__ import annotations

import re
from typing import Any

from shoal.errors import InputError
from shoal.support.extras import requires
from shoal.support.files import DATABASE


def read_query(address: str, query: str | None) -> Any:
    """Return the rows of a query as an Arrow table.

    address: such as postgresql://host/database; slashes may have been merged, as paths do.
    """
    found = DATABASE.match(address)
    if found is None:
        raise InputError("a database is named like postgresql://host/database")
    if not query:
        raise InputError(
            "a database needs a query (--query, in Python query=), such as 'SELECT * FROM patients'"
        )
    with requires("sql"):
        import adbc_driver_postgresql.dbapi as driver

    try:
        connection = driver.connect(f"postgresql://{found[1]}")
    except (driver.Error, OSError) as error:
        raise InputError(
            f"the database server cannot be reached{_state(error)}; check the address, the user "
            "and the password"
        ) from None
    with connection, connection.cursor() as cursor:
        try:
            cursor.execute(query)
            return cursor.fetch_arrow_table()
        except (driver.Error, OSError) as error:
            raise InputError(f"the database refuses the query{_state(error)}") from None


def _state(error: Exception) -> str:
    """Return the standard code of an error, which names its kind and nothing else."""
    state = getattr(error, "sqlstate", None)
    return f" (SQLSTATE {state})" if state and re.fullmatch(r"\w{5}", str(state)) else ""
