"""Job: the cost of pseudonyms, encryption, linked tables and the check of linked events."""

from __future__ import annotations

import hmac
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs import answer, receive
from meter import cpu_seconds, metered

FOLDER, JOB = receive()

from shoal.identifiers import Context, FormatPreserving, Key, Pseudonym  # noqa: E402
from shoal.projects import Project, release_project  # noqa: E402
from shoal.risk.known_rows import count_events  # noqa: E402

KEY = Key(bytes(range(32)))
CONTEXT = Context(KEY, "benchmark")
SHARE = 20  # of the values that the loop hashes


def main() -> None:
    kinds = {"pseudonyms": pseudonyms, "ff1": ff1, "events": events, "project": project}
    answer(FOLDER, kinds[JOB["kind"]]())


def pseudonyms() -> dict[str, Any]:
    """Hash distinct values, once the kernel is loaded."""
    cells = pa.array([f"{number:010}" for number in range(JOB["count"])])
    Pseudonym().publish("id", cells.slice(0, 30_000), CONTEXT)
    with metered() as cost:
        Pseudonym().publish("id", cells, CONTEXT)
    some = [text.encode() for text in cells.slice(0, JOB["count"] // SHARE).to_pylist()]
    begun = cpu_seconds()
    for text in some:
        hmac.digest(KEY.secret, text, "sha256")
    loop = SHARE * (cpu_seconds() - begun)
    begun = cpu_seconds()
    with duckdb.connect() as database:
        database.register("data", pa.table({"id": cells}))
        database.execute("SELECT max(sha256(id)) FROM data").fetchall()
    hashed = cpu_seconds() - begun
    return {**cost, "loop": cost["cpu"] / loop, "duckdb": cost["cpu"] / hashed}


def ff1() -> dict[str, Any]:
    """Encrypt numbers."""
    cells = pa.array([f"{7919 * number % 10**16:016}" for number in range(JOB["count"])])
    with metered() as cost:
        FormatPreserving().publish("card", cells, CONTEXT)
    return {**cost, "count": JOB["count"]}


def events() -> dict[str, Any]:
    """Check linked events, half of them frequent, once the kernel is loaded."""
    people = np.repeat(np.arange(JOB["people"], dtype=np.int32), 20)
    random = np.random.default_rng(0)
    rare = random.integers(0, 100_000, len(people)).astype(np.int32)
    items = np.where(random.random(len(people)) < 0.5, rare % 100, rare)
    count_events(people[:100], items[:100] % 5, events=JOB["m"], k=5)
    with metered() as cost:
        found = count_events(people, items, events=JOB["m"], k=5)
    return {**cost, "count": found.people}


def project() -> dict[str, Any]:
    """Release six linked tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = tables(folder, JOB["people"])
        with metered() as cost:
            checked = release_project(made, folder / "out", k=5, key=KEY, domain="benchmark")
    return {**cost, "count": sum(table["rows"] for table in checked.tables.values())}


def tables(folder: Path, people: int) -> Project:
    """Write a table of people, four tables of events and a list of wards."""
    random = np.random.default_rng(0)

    def numbers(letter: str, values: Any) -> Any:
        return pa.array(np.char.add(letter, values.astype("U8")))

    def write(name: str, columns: dict[str, Any]) -> None:
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")

    zips = (10_000 + random.integers(0, 500, people)).astype("U5")
    sexes = np.array(["f", "m"])[random.integers(0, 2, people)]
    who = {"patient": numbers("p", np.arange(people)), "age": random.integers(0, 100, people)}
    write("patients", {**who, "sex": pa.array(sexes), "zip": pa.array(zips)})
    write("wards", {"ward": np.arange(40), "name": pa.array([f"ward {n}" for n in range(40)])})
    schema: dict[str, Any] = {
        "patients": {"key": "patient", "columns": dict.fromkeys(("age", "sex", "zip"), "quasi")},
        "wards": {"key": "ward", "columns": dict.fromkeys(("ward", "name"), "insensitive")},
    }
    for name, rows, parent, count in (
        ("visits", 5 * people, "patients", people),
        ("labs", 9 * people, "visits", 5 * people),
        ("drugs", 4 * people, "patients", people),
        ("bills", people, "patients", people),
    ):
        key, foreign = name[:-1], schema[parent]["key"]
        columns = {key: numbers(key[0], np.arange(rows))}
        columns[foreign] = numbers(foreign[0], random.integers(0, count, rows))
        schema[name] = {
            "key": key,
            "foreign": {foreign: parent},
            "columns": {"amount": "insensitive"},
        }
        if name == "visits":
            columns["ward"] = random.integers(0, 40, rows)
            schema[name]["foreign"]["ward"] = "wards"
        write(name, {**columns, "amount": random.random(rows).round(2)})
    return Project.of({"person": "patients", "tables": schema}, folder)


main()
