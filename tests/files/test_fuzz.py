"""Ten thousand damaged files: each is read, or refused in a sentence that quotes none of its cells.

Deterministic: a chunk's number is its seed, so a failure names the file that did it.
"""

import gzip
import io
import json
import random
import re
import signal
import warnings
from contextlib import contextmanager
from datetime import date, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal

TOKEN = "QXZW"  # in every cell of text, in no name
CHUNK = 250
CHUNKS = {"csv": 10, "csv.gz": 2, "jsonl": 8, "parquet": 8, "yaml": 6, "hierarchy": 6}
ROLES = {
    "name": "identifier",
    "age": {"role": "quasi", "kind": "numeric", "bounds": [0, 120]},
    "town": {"role": "quasi"},
    "seen": "quasi",
    "disease": "sensitive",
    "note": "insensitive",
}
ROWS = [
    {
        "name": f"{TOKEN}-{i}",
        "age": 20 + i,
        "town": f"{TOKEN} {i % 3}",
        "seen": str(date(2024, 1, 1) + timedelta(days=i)),
        "disease": f'{TOKEN}"{i % 2}' if i % 4 else f"{TOKEN},x",
        "note": f"{TOKEN}\n{i}" if i == 5 else f"0{i}.50",
    }
    for i in range(8)
]
TREE = "".join(f"{TOKEN} {i};{TOKEN}{i // 2};*\n" for i in range(3))
SCHEMA = """\
columns:
  name: identifier
  age: {role: quasi, kind: numeric, weight: 2, bounds: [0, 120], hierarchy: {intervals: [5, 10]}}
  town: {role: quasi, hierarchy: {tree: {QXZWa: ["QXZW 0", "QXZW 1"], QXZWb: ["QXZW 2"]}}}
  seen: {role: quasi, hierarchy: {dates: [month, year]}}
  disease: {role: sensitive}
  note: {role: insensitive}
file: {delimiter: ",", quote: '"', encoding: utf-8, missing: ["?", NA]}
"""


def csv_bytes():
    def field(value):
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if set(text) & set('",\n') else text

    lines = [",".join(ROWS[0]), *(",".join(map(field, row.values())) for row in ROWS)]
    return ("\n".join(lines) + "\n").encode()


def parquet_bytes():
    table = pa.Table.from_pylist(ROWS)
    seen = pa.array([date.fromisoformat(row["seen"]) for row in ROWS])
    town = table["town"].combine_chunks().dictionary_encode()
    table = table.set_column(3, "seen", seen).set_column(2, "town", town)
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="none")
    return buffer.getvalue()


WHOLE = {
    "csv": csv_bytes(),
    "csv.gz": gzip.compress(csv_bytes(), mtime=0),
    "jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "parquet": parquet_bytes(),
    "yaml": SCHEMA.encode(),
    "hierarchy": TREE.encode(),
}
INSERTED = [
    *(b"\0", b"\n", b"\r", b"\r\n", b'"', b"'", b",", b";", b"\t", b"|", b"{", b"}", b"[", b"]"),
    *(b":", b"\\", b"-", b"&", b"*", b"~", b"null", b"1e999", b"9" * 90, b"-0", b".inf", b".nan"),
    *(b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f\x90\x9f", b"\xef\xbb\xbf", b"\xff\xfe"),
    *(b"0000-00-00", b"2024-99-99", b"\x1b[31m", b"\xe2\x80\xa8", b"\x85", b"\x0c", b" " * 50),
]


SWAPPED = [
    *(b"5", b"-1", b"0", b"0.5", b"1e400", b".inf", b".nan", b"9" * 400, b"[]", b"{}", b"null"),
    *(b"yes", b"x", b"[5]", b"[a, b]", b"[[1]]", b"{a: 1}", b"{mask: right}", b"{mask: 5}"),
    *(b"{random: 3}", b"{ordering: 1}", b"{ordering: x}", b"{quantiles: []}", b"{quantiles: 4}"),
    *(
        b"{quantiles: [4, 2]}",
        b"{suppression:}",
        b"{frequency: [1]}",
        b"{frequency: x}",
        b"{dates: [year]}",
        b"{tree: []}",
        b"{tree: x}",
    ),
    *(b"{intervals: [0]}", b"{intervals: [1e-300]}", b"{intervals: [.nan]}", b"{intervals: 5}"),
    *(b"numeric", b"ordinal", b"nominal", b"quasi", b"sensitive", b"2024-01-01", b"!!binary aa"),
    *(b"*a", b"&a b", b"utf-16", b"base64", b"'", b"town", b"day", b"decade"),
]


def flip(raw, rng):
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)


def truncate(raw, rng):
    del raw[rng.randrange(1, len(raw)) :]


def behead(raw, rng):
    del raw[: rng.randrange(1, len(raw))]


def cut(raw, rng):
    start = rng.randrange(len(raw))
    del raw[start : start + rng.randrange(1, 30)]


def repeat(raw, rng):
    start = rng.randrange(len(raw))
    place = rng.randrange(len(raw))
    raw[place:place] = raw[start : start + rng.randrange(1, 120)] * rng.choice([1, 1, 1, 5])


def insert(raw, rng):
    place = rng.randrange(len(raw))
    raw[place:place] = rng.choice(INSERTED) * rng.choice([1, 1, 2])


def overwrite(raw, rng):
    start = rng.randrange(len(raw))
    raw[start : start + 4] = rng.randbytes(4)


def swap(raw, rng):
    """Put another value where one stands: what remains is mostly YAML, of another meaning."""
    found = rng.choice(list(re.finditer(rb"(?<=[\[:] |[\[,] )[^\n,:{}\[\] ]+", raw)) or [None])
    if found:
        raw[found.start() : found.end()] = rng.choice(SWAPPED)


MUTATIONS = [flip, flip, truncate, behead, cut, repeat, insert, insert, insert, overwrite]


def damaged(kind, rng):
    raw = bytearray(WHOLE[kind])
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        if len(raw) > 1:
            gently = kind == "yaml" and rng.random() < 0.8
            (swap if gently else rng.choice(MUTATIONS))(raw, rng)
    return bytes(raw)


@contextmanager
def time_limit(seconds):
    def give_up(*_):
        raise TimeoutError(f"over {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read(kind, path, folder):
    """Read a damaged file in its part, the other files being whole."""
    data = folder / "whole.csv"
    if kind == "hierarchy":
        shoal.Hierarchy.read(path)
        return shoal.read(data, roles=ROLES, hierarchies={"town": path})
    if kind == "yaml":
        shoal.Schema.read(path)
        return shoal.read(data, path)
    return shoal.read(path, roles=ROLES)


def in_a_name(kind, raw):
    """Whether damage has made a cell's text part of a column's name, which messages may hold."""
    token = TOKEN.encode()
    if kind == "jsonl":
        return bool(re.search(rb'"[^"]*' + token + rb'[^"]*"\s*:', raw))
    if kind != "csv":
        return False
    text = raw.replace(b"\0", b"").replace(b"\r", b"\n").lstrip(b"\n\xef\xbb\xbf\xff\xfe")
    header = text.split(b"\n")[0]
    return token in header or b'"' in header or b"'" in header  # an open quote runs on


@pytest.mark.parametrize(
    ("kind", "chunk"), [(kind, chunk) for kind, most in CHUNKS.items() for chunk in range(most)]
)
def test_a_damaged_file_is_read_or_refused_without_quoting_it(kind, chunk, tmp_path):
    rng = random.Random(f"{kind} {chunk}")
    (tmp_path / "whole.csv").write_bytes(WHOLE["csv"])
    path = tmp_path / f"damaged.{kind.replace('hierarchy', 'txt')}"
    outcomes = {"read": 0, "refused": 0}
    for number in range(CHUNK):
        raw = damaged(kind, rng)
        path.write_bytes(raw)
        try:
            with warnings.catch_warnings(), time_limit(30):
                warnings.simplefilter("ignore")
                table = read(kind, path, tmp_path)
            assert isinstance(table, shoal.Table)
            outcomes["read"] += 1
        except shoal.ShoalError as error:
            outcomes["refused"] += 1
            if error.__cause__ or (TOKEN in str(error) and not in_a_name(kind, raw)):
                pytest.fail(f"file {number} is quoted")
        except Exception as error:
            raise AssertionError(f"file {number} escapes as {type(error).__name__}") from error
    assert outcomes["refused"] > CHUNK // 10
    if kind in ("csv", "jsonl"):  # of the others, hardly any survives
        assert outcomes["read"] > CHUNK // 20


def test_the_files_are_ten_thousand():
    assert CHUNK * sum(CHUNKS.values()) == 10_000


@pytest.mark.parametrize("kind", WHOLE)
def test_the_whole_file_is_read(kind, tmp_path):
    path = tmp_path / f"whole.{kind.replace('hierarchy', 'txt')}"
    (tmp_path / "whole.csv").write_bytes(WHOLE["csv"])
    path.write_bytes(WHOLE[kind])
    assert len(read(kind, path, tmp_path)) == len(ROWS)
