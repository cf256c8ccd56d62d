"""Verify an evidence pack: digests, figures of the released file, and what follows from them.

Every pack contains a copy of this file. It needs Python 3.11 and DuckDB, nothing of the tool that
wrote the pack. Exit status 0: everything is confirmed; 1: something differs; 2: wrong usage.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import json
import math
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILES = ("evidence.json", "index.html", "verify.py")
MANIFEST, SIGNATURE = "manifest.json", "signature.json"
FORMAT = {"name": "shoal-evidence", "version": 1}
ORIGIN = (
    "who wrote the pack. Anyone who changes the release can write a pack that verifies. Give "
    "--digest or --key with a SHA-256 that you received separately."
)
LEAST, PLACES = 5, 6  # counts of 1 to 4 are given in words; decimal places of figures
_PART = r"([01]\d|Q[1-4]|W[0-5]\d)"  # of a year
_BYTE = r"(25[0-5]|2[0-4]\d|1?\d?\d)"
CONTENT = {  # what cells of identifiers look like
    "e-mail address": r"[\w.+-]+@[\w-]+(\.[\w-]+)+",
    "web address": r"(?i)\b(https?://|www\.)\S+",
    "IP address": rf"(^|[^\d.])({_BYTE}\.){{3}}{_BYTE}($|[^\d.])",
    "social security number": r"(^|\D)\d{3}-\d{2}-\d{4}($|\D)",
    "account number (IBAN)": r"\b[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}\b",
    "vehicle number (VIN)": r"\b[A-HJ-NPR-Z0-9]{11}\d{6}\b",
    "device address (MAC)": r"(?i)\b([0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b",
    "telephone number": r"(^|[^\w.])(\(\d+\) ?|\d{3}[ ./-])\d{3}[ ./-]\d{4}($|\W)|\+\d[\d /-]{7,}",
    "date finer than a year": rf"(^|\D)(\d{{4}}-{_PART}|[0-3]?\d[./][01]?\d[./]\d{{2,4}})(\D|$)",
}


class PackError(Exception):
    """The pack or the released file is not what the pack states."""


def canonical(data: Any) -> bytes:
    """Return plain data as the bytes that the files of a pack contain."""
    return (json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode()


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def masked(count: int) -> int | str:
    """Return a count, in words if it is about fewer than five."""
    return f"fewer than {LEAST}" if 0 < count < LEAST else count


def look_up(data: Any, path: str) -> Any:
    """Return the part of nested data that a path such as `/measured/classes/smallest` names."""
    for name in path.split("/")[1:]:
        data = data[name.replace("~1", "/").replace("~0", "~")]
    return data


def judge(rule: dict[str, Any], evidence: dict[str, Any]) -> str:
    """Return the status that follows from a rule: the first condition that fails decides."""
    for condition in rule["conditions"]:
        value, limit = look_up(evidence, condition["figure"]), condition.get("limit")
        number = isinstance(value, int | float) and isinstance(limit, int | float)
        holds = {
            "equals": value == limit,
            "at least": number and value >= limit,
            "at most": number and value <= limit,
            "stated": value not in ("not stated", ["not stated"]),
        }[condition["is"]]
        if not holds:
            return str(condition["otherwise"])
    return str(rule["then"])


class Released:
    """The rows of a file or folder of parts in DuckDB; c0, c1, … are the columns of the file."""

    def __init__(self, path: Path, database: Any, error: type[Exception]) -> None:
        self._database, self._error = database, error
        parts = sorted(path.glob("part-*")) if path.is_dir() else [path]
        names = [re.sub(r"([*?[])", r"[\1]", str(file)).replace("'", "''") for file in parts]
        files = "[" + ", ".join(f"'{name}'" for name in names) + "]"  # exact names, not patterns
        if parts[0].suffix.lower() == ".parquet":
            kind, leaves = "VIEW", f"parquet_schema('{names[0]}') WHERE num_children IS NULL"
            self.names = [str(row[0]) for row in self.rows(f"SELECT name FROM {leaves}")]
            listed = ", ".join(f"c{i}" for i in range(len(self.names)))
            rows = f"(SELECT * FROM read_parquet({files}, hive_partitioning=false)) AS r({listed})"
        else:
            kind, sign = "TABLE", "\t" if path.suffix.lower() == ".tsv" else ","
            with parts[0].open(encoding="utf-8", newline="") as handle:
                self.names = next(csv.reader(handle, delimiter=sign), [])
            listed = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.names)))
            rows = (
                f"read_csv({files}, columns={{{listed}}}, delim='{sign}', header=true, quote='\"',"
                " escape='\"', nullstr='', allow_quoted_nulls=false, auto_detect=false,"
                " strict_mode=true, hive_partitioning=false, max_line_size=100000000)"
            )
        self.rows(f"CREATE TEMP {kind} released AS SELECT * FROM {rows}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        try:
            return list(self._database.execute(query).fetchall())
        except self._error:  # its message may contain cells
            raise PackError("the released file cannot be read") from None

    def one(self, query: str) -> Any:
        """Return the only value of a query."""
        return self.rows(query)[0][0]

    def column(self, name: str) -> str:
        """Return the column of a name."""
        if name not in self.names:
            raise PackError(f"the released file has no column {name!r}")
        return f"c{self.names.index(name)}"

    def numbers(self, column: str) -> list[list[str]]:
        """Return the numbers without sign in each distinct cell of a column."""
        cells = self.rows(f"SELECT DISTINCT CAST({column} AS VARCHAR) FROM released")
        return [re.findall(r"\d+(?:\.\d+)?", cell or "") for (cell,) in cells]


def measure(path: Path, roles: Any, checks: Any, memory: str | None = None) -> dict[str, Any]:
    """Return the figures of a released file, or of a folder of parts, from its rows only.

    roles: the role of each released column; checks: columns with ages and with postal codes, and
    the first three digits of areas with more than 20,000 people, None if they are not known.
    """
    import duckdb

    settings = {"memory_limit": memory} if memory else {}
    with (
        tempfile.TemporaryDirectory(prefix="evidence-") as spill,  # only its owner may enter it
        duckdb.connect(config={"temp_directory": spill, **settings}) as database,
    ):
        return _figures(Released(path, database, duckdb.Error), roles, checks)


def _figures(released: Released, roles: Any, checks: Any) -> dict[str, Any]:
    # the file may have quotes in names that a spreadsheet would run as formulas
    bare = {name.replace("'", ""): name for name in roles}
    released.names = [
        name if name in roles else bare.get(name.replace("'", ""), name) for name in released.names
    ]
    keys = ", ".join(released.column(name) for name, role in roles.items() if role == "quasi")
    sizes = f"SELECT count(*) AS n FROM released GROUP BY {keys}"
    found = released.rows(f"SELECT sum(n), count(*), min(n), max(n) FROM ({sizes})")[0]
    records, classes, smallest, largest = (int(n or 0) for n in found)
    every = ", ".join(released.column(n) for n in released.names if roles.get(n) != "identifier")
    unique = f"SELECT 1 FROM released GROUP BY {every} HAVING count(*) = 1"
    guarded = [name for name, role in roles.items() if role == "sensitive"]
    cells = [_identifier_cells(released, column) for column in range(len(released.names))]
    return {
        "records": records,
        "columns": released.names,
        "classes": {
            "number": classes,
            "smallest": smallest,
            "largest": largest,
            "maximum_risk": round(1 / smallest, PLACES) if smallest else 0.0,
            "average_risk": round(classes / records, PLACES) if records else 0.0,
        },
        "unique_records": masked(released.one(f"SELECT count(*) FROM ({unique})")),
        "sensitive": {name: _sensitive(released, keys, name, records) for name in guarded},
        "identifier_cells": {
            n: masked(sum(each)) for n, *each in zip(CONTENT, *cells, strict=True)
        },
        "ages": {n: _ages(released, released.column(n)) for n in checks["ages"]},
        "postcodes": {n: _areas(released, n, checks["large_areas"]) for n in checks["postcodes"]},
        "unique_columns": sum(_is_unique(released, n, roles, records) for n in released.names),
    }


def _sensitive(released: Released, keys: str, name: str, total: int) -> dict[str, Any]:
    """Return distinct l and t of one column; t compares each class with all released rows."""
    column = released.column(name)
    if not total:
        return {"distinct": 0, "t": 0.0, "distance": "equal"}
    ordered = released.one(f"SELECT count(TRY_CAST({column} AS DOUBLE)) FROM released") == total
    value = f"TRY_CAST({column} AS DOUBLE)" if ordered else column
    released.rows(
        "CREATE OR REPLACE TEMP TABLE counts AS "
        f"SELECT dense_rank() OVER (ORDER BY {keys}) AS class, value, n FROM "
        f"(SELECT {keys}, {value} AS value, count(*) AS n FROM released GROUP BY ALL)"
    )
    released.rows(
        "CREATE OR REPLACE TEMP TABLE total AS SELECT *, row_number() OVER (ORDER BY value) AS i, "
        "sum(p) OVER (ORDER BY value) AS below FROM "
        f"(SELECT value, sum(n) / {total}.0 AS p FROM counts GROUP BY value)"
    )
    least = released.one("SELECT min(l) FROM (SELECT count(*) AS l FROM counts GROUP BY class)")
    t = round(min(max(released.one(_ORDERED if ordered else _EQUAL), 0.0), 1.0), PLACES)
    return {"distinct": least, "t": t, "distance": "ordered" if ordered else "equal"}


_EQUAL = """SELECT max(moved) FROM (
        SELECT sum(greatest(n / size - p, 0)) AS moved FROM counts
        JOIN (SELECT class, sum(n) AS size FROM counts GROUP BY class) USING (class)
        JOIN total ON counts.value IS NOT DISTINCT FROM total.value GROUP BY class)"""
# Q, the cumulative distribution of a class, is constant from each of its values (position a) to the
# next (position b); P, that of all rows, is `below`, and `area` is the sum of P before a position.
# P crosses Q at most once between a and b, at position x.
_ORDERED = """WITH places AS (
        SELECT *, sum(below) OVER (ORDER BY i) - below AS area FROM total UNION ALL
        SELECT NULL, NULL, max(i) + 1, NULL, sum(below) FROM total),
    steps AS (SELECT class, i AS a, coalesce(lead(i) OVER w, (SELECT max(i) + 1 FROM total)) AS b,
        sum(n) OVER w / sum(n) OVER (PARTITION BY class) AS q,
        row_number() OVER w = 1 AS first
        FROM counts JOIN total USING (value) WINDOW w AS (PARTITION BY class ORDER BY i)),
    crossed AS (SELECT steps.*, greatest(least(coalesce(c.i + 1, a), b), a) AS x
        FROM steps ASOF LEFT JOIN total AS c ON q >= c.below)
    SELECT max(moved) FROM (
        SELECT sum(q * (x - a) - (at_x.area - at_a.area) + (at_b.area - at_x.area) - q * (b - x)
            + CASE WHEN first THEN at_a.area ELSE 0 END)
            / greatest((SELECT max(i) - 1 FROM total), 1) AS moved
        FROM crossed JOIN places AS at_a ON at_a.i = a JOIN places AS at_b ON at_b.i = b
        JOIN places AS at_x ON at_x.i = x GROUP BY class)"""


def _identifier_cells(released: Released, column: int) -> tuple[int, ...]:
    """Return how many cells of a column look like each kind of identifier."""
    cells = f"SELECT CAST(c{column} AS VARCHAR) AS cell, count(*) AS n FROM released GROUP BY 1"
    sums = (f"sum(n) FILTER (regexp_matches(cell, '{each}'))" for each in CONTENT.values())
    return tuple(int(n or 0) for n in released.rows(f"SELECT {','.join(sums)} FROM ({cells})")[0])


def _ages(released: Released, column: str) -> dict[str, Any]:
    """Return how many labels reach above 89, and how many of them lie entirely above."""
    labels = [sorted(map(float, found)) for found in released.numbers(column) if found]
    reach, above = (sum(label[end] > 89 for label in labels) for end in (-1, 0))
    return {"labels_reaching_above_89": reach, "labels_above_89": above}


def _areas(released: Released, name: str, large: list[str] | None) -> dict[str, Any]:
    """Return the most digits in a row, and the areas that are not stated as large."""
    runs = {run for found in released.numbers(released.column(name)) for run in found}
    areas = {run[:3] for run in runs if len(run) >= 3} - {"000"}
    small = None if large is None else len(areas - set(large))
    return {"digits": max(map(len, runs), default=0), "areas_not_large": small}


def _is_unique(released: Released, name: str, roles: dict[str, str], records: int) -> bool:
    """Return whether nearly every cell of a column differs: it may number people."""
    cells = f"SELECT count(DISTINCT {released.column(name)}) FROM released"
    asked = roles.get(name) not in ("quasi", "identifier") and records >= 2 * LEAST
    return asked and bool(released.one(cells) >= 0.95 * records)


def compare(stated: Any, found: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which two figures or nested figures differ."""
    if isinstance(stated, dict) and isinstance(found, dict):
        for name in sorted({*stated, *found}):
            yield from compare(stated.get(name), found.get(name), f"{path}/{name}")
    elif isinstance(stated, float) and isinstance(found, float):
        if not math.isclose(stated, found, abs_tol=2 * 10**-PLACES):
            yield path
    elif type(stated) is not type(found) or stated != found:
        yield path


def check_files(pack: Path, release: Path | None) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """Return the manifest, the evidence and the released file, after a check of every byte."""
    manifest, data = _read(pack / MANIFEST)
    expected = {name: manifest[name] for name in ("files", "release", "key")} | {"format": FORMAT}
    if data != canonical(expected) or set(manifest["files"]) != set(FILES):
        raise PackError(f"{MANIFEST}: was changed")
    for name in FILES:
        _check_digest(pack / name, name, manifest["files"][name])
    path = release or pack / manifest["release"]["path"]
    known = {*FILES, MANIFEST} | ({SIGNATURE} if manifest["key"] else set())
    others = [file for file in pack.iterdir() if file.name not in known and file.name[0] != "."]
    if any(not path.exists() or not file.samefile(path) for file in others):
        raise PackError("the folder contains a file that the manifest does not list")
    evidence, _ = _read(pack / "evidence.json")
    if evidence["release"] != manifest["release"]:
        raise PackError(f"{MANIFEST} and evidence.json describe different released files")
    parts = manifest["release"].get("parts", {})
    lines = "".join(f"{part['sha256']}  {name}\n" for name, part in sorted(parts.items()))
    if not parts:
        _check_digest(path, "the released file", manifest["release"])
    elif hashlib.sha256(lines.encode()).hexdigest() != manifest["release"]["sha256"]:
        raise PackError(f"{MANIFEST}: was changed")
    elif not path.is_dir() or {file.name for file in path.iterdir()} != set(parts):
        raise PackError("the released folder: a part is missing or was added")
    for name, part in parts.items():
        _check_digest(path / name, f"the released part {name}", part)
    return manifest, evidence, path


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    try:
        data = path.read_bytes()
        parsed = json.loads(data)
    except OSError:
        raise PackError(f"{path.name}: is missing") from None
    except (ValueError, RecursionError):
        raise PackError(f"{path.name}: was changed") from None
    if not isinstance(parsed, dict):
        raise PackError(f"{path.name}: was changed")
    return parsed, data


def _check_digest(path: Path, name: str, stated: dict[str, Any]) -> None:
    if not path.is_file():
        raise PackError(f"{name}: is missing")
    if (path.stat().st_size, digest(path)) != (stated["bytes"], stated["sha256"]):
        raise PackError(f"{name}: was changed")


def check_signature(pack: Path, manifest: dict[str, Any], key: str | None) -> str:
    """Return what is known of the signature, in words; a wrong one is a failure."""
    if manifest["key"] is None:
        if key is not None:
            raise PackError("the pack is not signed")
        return "none"
    signature, data = _read(pack / SIGNATURE)
    if data != canonical(signature) or set(signature) != {"algorithm", "public_key", "signature"}:
        raise PackError(f"{SIGNATURE}: was changed")
    public, signed = (base64.b64decode(signature[name]) for name in ("public_key", "signature"))
    fingerprint = hashlib.sha256(public).hexdigest()
    if fingerprint != manifest["key"] or signature["algorithm"] != "Ed25519":
        raise PackError(f"{SIGNATURE}: belongs to another key than the manifest states")
    if key is not None and key.lower() != fingerprint:
        raise PackError("the pack is signed with another key")
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        Ed25519PublicKey.from_public_bytes(public).verify(signed, (pack / MANIFEST).read_bytes())
    except ImportError:
        if key is not None:
            raise PackError("the signature cannot be checked: install cryptography") from None
        return "NOT CHECKED; install cryptography to check the signature"
    except (InvalidSignature, ValueError):
        raise PackError(f"{SIGNATURE}: does not match the manifest") from None
    return f"valid, of the public key with SHA-256 {fingerprint}"


def check_figures(evidence: dict[str, Any], path: Path, memory: str | None = None) -> None:
    """Recompute the figures of the released file and all that follows from them."""
    found = measure(path, evidence["roles"], evidence["checks"], memory)
    for place in compare(evidence["measured"], found):
        raise PackError(f"evidence.json: {place} differs from the released file")
    schema = hashlib.sha256(canonical(evidence["schema"]["stated"])).hexdigest()
    if schema != evidence["schema"]["sha256"]:
        raise PackError("evidence.json: the digest of the schema differs")
    excess = evidence["unit"]["smallest_class"] - found["classes"]["smallest"]
    if excess > 0 or (evidence["unit"]["counts_rows"] and excess):
        raise PackError("evidence.json: the size of the smallest class differs")
    for part in evidence["requested"] if found["records"] else []:  # models that rows decide
        name, options = part["name"], part["options"]
        if name == "k-anonymity" and found["classes"]["smallest"] < options["k"]:
            raise PackError("the released file does not have the requested k")
        guarded = found["sensitive"].get(options.get("column"))
        if name == "l-diversity" and guarded["distinct"] < options["l"]:
            raise PackError(f"the released file lacks the requested l in {options['column']!r}")
    for crosswalk in evidence["crosswalks"]:
        for row in crosswalk["rows"]:
            figure = row["figure"]
            if figure and figure["value"] != look_up(evidence, figure["path"]):
                raise PackError(f"evidence.json: a figure of {crosswalk['title']} differs")
            if row["rule"] and row["status"] != judge(row["rule"], evidence):
                raise PackError(f"evidence.json: a status of {crosswalk['title']} differs")


def verify(pack: Path, release: Path | None, stated: str | None, key: str | None) -> list[str]:
    """Verify a pack against digests of its manifest and key, if given, and return a summary."""
    manifest, evidence, path = check_files(pack, release)
    found = digest(pack / MANIFEST)
    if stated is not None and stated.lower() != found:
        raise PackError(f"{MANIFEST}: differs from the digest that you gave")
    signature = check_signature(pack, manifest, key)
    check_figures(evidence, path)
    classes = evidence["measured"]["classes"]
    lines = [
        "verified: every digest matches, and every figure of the released file is confirmed",
        f"classes: {classes['number']:,}, the smallest with {classes['smallest']:,} rows",
        f"manifest: {found}",
        f"signature: {signature}",
        "not recomputed: figures that need the original table, such as attacks and utility",
    ]
    return lines if stated or key else [*lines, f"NOT PROVEN: {ORIGIN}"]


def shown(text: str) -> str:
    """Return a text with the characters escaped that a terminal would obey or cannot show."""
    text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    encoding = sys.stdout.encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _sha256(text: str) -> str:
    """Return the hexadecimal digits of a digest; anything else, also nothing, is wrong usage."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text.strip()):
        raise argparse.ArgumentTypeError("needs a SHA-256 of 64 hexadecimal digits")
    return text.strip()


def _path(text: str) -> Path:
    """Return a path; an empty one would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("needs a path, but is empty")
    return Path(text)


def main(arguments: list[str] | None = None) -> int:
    """Verify a pack and return the exit status."""
    parser = argparse.ArgumentParser(description="Verify an evidence pack.")
    parser.add_argument("pack", nargs="?", type=_path, default=Path(__file__).resolve().parent)
    parser.add_argument(
        "--release", type=_path, help="the released file or folder, if it was moved"
    )
    parser.add_argument(
        "--digest", type=_sha256, help="the SHA-256 of manifest.json that you received"
    )
    parser.add_argument(
        "--key", type=_sha256, help="the SHA-256 of the public key that must have signed"
    )
    given, status = parser.parse_args(arguments), 1
    try:
        lines, status = verify(given.pack, given.release, given.digest, given.key), 0
    except PackError as error:
        lines = [f"NOT VERIFIED: {error}"]
    except ModuleNotFoundError:
        lines, status = ["NOT VERIFIED: install duckdb to recompute the figures"], 2
    except Exception:  # a forged pack may fail anywhere, and its failure proves nothing
        lines = ["NOT VERIFIED: the pack is not readable as an evidence pack"]
    sys.stdout.write("".join(f"{shown(line)}\n" for line in lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
