"""Tables to files: CSV or Parquet, one file or a folder of parts, completely or not at all.

    rows ─ `canonical` order ─→ `escape_formulas` ─→ `write_output` ─→ staged files ─→ renamed

order     Rows in the order of the source would reveal their original positions, so rows are sorted
          by their published values.
formulas  A text that begins with =, +, -, @, their full-width forms, a tab or a line break is a
          formula to a spreadsheet unless it is a number; it gets a single quote in front. A
          spreadsheet that expects semicolons splits the cells of a file with commas, so a formula
          after a semicolon, a tab or a line break inside a text gets a quote too. Names of columns
          are cells like others. Where a text already has such quotes it gets one more, so that
          different cells stay different.
staging   Everything is written beside the target, so that it can be checked as written before it is
          renamed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, OutputError
from shoal.files.parquet_checks import parquet_writer
from shoal.support.addresses import AddressPath, FolderPath, address_of, on_this_disk
from shoal.support.arrays import Codes, Counts, narrowest
from shoal.support.files import MANIFEST, replace_file, replace_folder
from shoal.support.memory import return_memory
from shoal.support.object_stores import Store
from shoal.support.options import check_choice
from shoal.support.outputs import as_output
from shoal.support.progress import report
from shoal.table import encoding
from shoal.table.column import Column, Role
from shoal.table.encoding import combined, nested_texts, texts
from shoal.table.frames import as_dates
from shoal.table.table import Table

BATCH = 1 << 18  # rows handed over at once
PART_ROWS = 16 * BATCH  # about 4 million
Parts = Literal["parquet", "csv"]
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ENDINGS = (*_DELIMITERS, ".parquet")
Order = Literal["canonical", "original"]
_NUMBER = re.compile(r"(?:(?<![\w.])-)?\d+(?:\.\d+)?")
IS_NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
MAX_NATURAL = 100_000  # distinct texts that are compared by their numbers, not by characters

_FIRST = r"[=@＝＠+\-＋－\t\r\n](?s:.)"  # a cell that begins so is run
_SPLIT = r'[;\t\r\n][ "]*'  # where another spreadsheet would begin a new cell
# what is run there; a number up to the next cell, the end or a bracket, as in [-5;-3], is not
_INSIDE = r"(?:[=@＝＠]|[+\-＋－](?:[^0-9.,:;\t\r\n]|[0-9.,:]+[^0-9.,:;\t\r\n\])}]))"
FORMULA = rf"^{_FIRST}|{_SPLIT}{_INSIDE}"
_ESCAPABLE = rf"^'*{_FIRST}"
_ESCAPED = rf"^'+{_FIRST}"
_ESCAPED_INSIDE = rf"({_SPLIT})'('*{_INSIDE})"
NUMBER = r"^[+-][0-9.,:]+([eE][+-]?[0-9]+)?%?$"


def write_output(
    table: Any, path: str | Path, *, force: bool = False, parts: Parts = "parquet"
) -> None:
    """Write an Arrow table to a file or a folder of parts, completely or not at all."""
    return_memory(table.num_rows)
    if not writes_parts(path) and address_of(path) is None:
        write_table(table, Path(path), force=force)
        return
    if is_text_output(path, parts):
        table = dates_at_midnight(table)
    starts = range(0, table.num_rows, BATCH)
    batches = (decoded(table.slice(start, BATCH)) for start in starts)
    with staged(path, force=force, parts=parts) as staging:
        staging.write(batches, decoded(table.slice(0, 0)).schema, table.num_rows)


@contextmanager
def staged(path: str | Path, *, force: bool = False, parts: Parts = "parquet") -> Iterator[Staging]:
    """Yield the staging of an output; it replaces the target when the block ends without error.

    An output at an address is staged on the disk and copied there at the end.
    """
    path = on_this_disk(path)
    address, target = address_of(path), Path(path)
    if address is not None:
        ending = None if writes_parts(path) else check_ending(target)
        with Store(address).uploaded(ending) as place:
            yield Staging(AddressPath(address), place, ending is None, f".{parts}")
        return
    if writes_parts(path):
        with as_output(replace_folder(target, force=force), target) as folder:
            yield Staging(target, folder, in_parts=True, ending=f".{parts}")
        return
    check_ending(target)
    with as_output(replace_file(target, force=force), target) as temporary:
        yield Staging(target, temporary, in_parts=False)


@dataclass
class Staging:
    """The files of an output before they are renamed.

    path: the name in messages.
    place: the temporary file, or the temporary folder of parts.
    in_parts: whether it is a folder.
    ending: the ending of each part.
    files, rows: the files so far, and the number of rows in each.
    """

    path: Path
    place: Path
    in_parts: bool
    ending: str = ".parquet"
    files: list[Path] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def write(self, batches: Iterable[Any], schema: Any, total: int) -> None:
        """Write tables of at most `BATCH` rows each, all but the last of exactly as many."""
        writer, done = self._open(schema), 0
        try:
            for batch in batches:
                if self.in_parts and self.rows[-1] >= PART_ROWS:
                    writer.close()
                    writer = self._open(schema)
                writer.write_table(batch)
                self.rows[-1] += batch.num_rows
                done += batch.num_rows
                report("write", done, total)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise OutputError(
                f"{self.path}: a column's type does not fit this format; write Parquet instead"
            ) from None
        finally:
            writer.close()
        if self.in_parts:
            self.write_manifest(schema)

    def _open(self, schema: Any) -> Any:
        file = self.place
        if self.in_parts:
            file = self.place / f"part-{len(self.files):05}{self.ending}"
        self.files.append(file)
        self.rows.append(0)
        return open_writer(file, schema)

    def write_manifest(self, schema: Any) -> None:
        """Write which parts there are, and their numbers of rows."""
        content = {
            "format": 1,
            "columns": schema.names,
            "rows": sum(self.rows),
            "parts": [
                {"name": file.name, "rows": rows, "bytes": file.stat().st_size}
                for file, rows in zip(self.files, self.rows, strict=True)
            ],
        }
        text = json.dumps(content, indent=2, ensure_ascii=False)
        (self.place / MANIFEST).write_text(f"{text}\n", encoding="utf-8")


def writes_parts(path: str | Path) -> bool:
    """Return whether a name means a folder of parts: it has no ending, or ends in a slash.

    >>> writes_parts("release"), writes_parts("release.v2/"), writes_parts("release.csv")
    (True, True, False)
    """
    ends = isinstance(path, FolderPath) or str(path).endswith(("/", os.sep))
    return ends or not Path(path).suffix


def is_text_output(path: str | Path, parts: Parts = "parquet") -> bool:
    """Return whether an output is text; reject an unknown ending.

    Parameters:
        parts: The format of the parts, if the name means a folder.

    >>> is_text_output("release.csv"), is_text_output("release"), is_text_output("release", "csv")
    (True, False, True)
    """
    check_choice("parts", parts, get_args(Parts))
    return parts == "csv" if writes_parts(path) else check_ending(Path(path)) != ".parquet"


def write_table(table: Any, path: Path, *, force: bool = False, private: bool = False) -> None:
    """Write an Arrow table to one file; with `private` only its owner may read it."""
    if check_ending(path) in _DELIMITERS:
        table = dates_at_midnight(table)
    with as_output(replace_file(path, force=force, private=private), path) as temporary:
        try:
            with open_writer(temporary, decoded(table.slice(0, 0)).schema) as writer:
                for start in range(0, table.num_rows, BATCH):
                    writer.write_table(decoded(table.slice(start, BATCH)))
                    report("write", min(start + BATCH, table.num_rows), table.num_rows)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise OutputError(
                f"{path}: a column's type does not fit this format; write Parquet instead"
            ) from None


def dates_at_midnight(table: Any) -> Any:
    """Return a table for a text file: times that are all at midnight are dates."""
    columns = [as_dates(table.column(name)) for name in table.column_names]
    return pa.table(columns, names=table.column_names)


def check_ending(path: Path) -> str:
    """Return the ending, which decides the format, or reject it."""
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise OutputError(
            f"{path}: cannot write this kind of file; end the name in {', '.join(_ENDINGS)}"
        )
    return ending


def open_writer(path: Path, schema: Any) -> Any:
    """Return a writer with `write_table` and `close`, by the file's ending."""
    ending = check_ending(path)
    if ending == ".parquet":
        return parquet_writer(path, schema)
    return _TextWriter(path, schema, _DELIMITERS[ending])


class _TextWriter:
    """Writes CSV with quotes only where needed, numbers and times in full."""

    def __init__(self, path: Path, schema: Any, delimiter: str) -> None:
        self._delimiter = delimiter
        signs = f"{delimiter}'"  # a name in single quotes would be read as quoted
        header = _lines([_quoted(pa.array([name]), signs) for name in schema.names], delimiter)
        self._handle = path.open("wb")
        self._handle.write(header)

    def __enter__(self) -> _TextWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write_table(self, table: Any) -> None:
        """Write some more rows."""
        if table.num_rows:
            cells = [_text(table.column(name), self._delimiter) for name in table.column_names]
            self._handle.write(_lines(cells, self._delimiter))

    def close(self) -> None:
        """Finish the file."""
        self._handle.close()


def _lines(columns: list[Any], delimiter: str) -> Any:
    """Join columns of text to the bytes of complete lines."""
    kind = pa.large_string()
    nothing = '""' if len(columns) == 1 else ""  # an empty line would not be read as a row
    cells = [column.cast(kind).fill_null(nothing) for column in columns]
    lines = pc.binary_join_element_wise(*cells, pa.scalar(delimiter, kind))
    every = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return pc.binary_join(every, pa.scalar("\n", kind))[0].as_buffer().to_pybytes() + b"\n"


def decoded(table: Any) -> Any:
    """Return the table with its dictionaries decoded."""
    columns = [
        combined(table.column(name), name)
        if pa.types.is_dictionary(table.schema.field(name).type)
        else table.column(name)
        for name in table.column_names
    ]
    return pa.table(columns, names=table.column_names)


def _text(cells: Any, delimiter: str) -> Any:
    """Return cells as text for the file, converted once for each distinct value."""
    plain = combined(cells, "")
    if pa.types.is_nested(plain.type):
        raise pa.ArrowNotImplementedError("nested values have no text")
    encoded = plain.dictionary_encode()
    distinct = pa.array(texts(encoded.dictionary), pa.string())
    return _quoted(distinct, delimiter).take(encoded.indices)


def _quoted(distinct: Any, signs: str) -> Any:
    """Return texts, quoted if they are empty or contain a delimiter, a quote or a line break."""
    special = pc.match_substring_regex(distinct, f'^$|[{re.escape(signs)}"\r\n]')
    doubled = pc.replace_substring(distinct, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), distinct)


def count_formulas(data: Any) -> dict[str, int]:
    """Return for each column of an Arrow table how many cells a spreadsheet would run.

    The name of a column is one of its cells.

    >>> count_formulas(pa.table({"note": ["=1+1", "-5", "+a", "@x", "a"], "sum": [1, 2, 3, 4, 5]}))
    {'note': 3}
    """
    counts = dict.fromkeys(data.column_names, 0)
    for name in data.column_names:
        counts[name] += has_formulas(pa.array([name], pa.string()))
        cells = _distinct(data.column(name))
        if cells is not None:
            runs = _matches(cells.dictionary, FORMULA).take(cells.indices)
            counts[name] += pc.sum(runs).as_py() or 0
    return {name: count for name, count in counts.items() if count}


def escape_formulas(data: Any) -> Any:
    """Return an Arrow table whose cells and names of columns no spreadsheet runs.

    >>> escape_formulas(pa.table({"note": ["=1+1", "'=1+1", "-5"]})).column("note").to_pylist()
    ["'=1+1", "''=1+1", '-5']
    """
    for index, name in enumerate(data.column_names):
        cells = _distinct(data.column(name))
        if cells is None:
            continue
        data = data.set_column(index, name, escape_texts(cells.dictionary).take(cells.indices))
    return data.rename_columns(escape_names(data.column_names))


def has_formulas(texts: Any) -> bool:
    """Return whether a spreadsheet would run one of the distinct cells of a column."""
    return encoding.is_text(texts.type) and bool(pc.any(_matches(texts, FORMULA)).as_py())


def escape_names(names: Sequence[str]) -> list[str]:
    """Return names of columns that no spreadsheet runs.

    >>> escape_names(["age", "=1+1", "a;=1+1"])
    ['age', "'=1+1", "a;'=1+1"]
    """
    escaped: list[str] = escape_texts(pa.array(names, pa.string())).to_pylist()
    return escaped


def unescape_names(names: Sequence[str], expected: Collection[str]) -> tuple[str, ...]:
    """Return the names of a file's columns without the quotes that escape them.

    They count as escaped if more of the expected names are found without these quotes.

    >>> unescape_names(["age", "'=1+1"], expected=["=1+1"])
    ('age', '=1+1')
    """
    plain = _unescaped(pa.array(names, pa.string())).to_pylist()
    known = [len(set(expected).intersection(each)) for each in (names, plain)]
    return tuple(plain if known[1] > known[0] else names)


def escape_texts(texts: Any) -> Any:
    """Return an Arrow array of texts that no spreadsheet runs."""
    texts = pc.replace_substring_regex(texts, rf"({_SPLIT})('*{_INSIDE})", r"\1'\2")
    quoted = pc.binary_join_element_wise(pa.scalar("'", texts.type), texts, "")
    return pc.if_else(_matches(texts, _ESCAPABLE), quoted, texts)


def unescape_formulas(data: Any, original: Table) -> Any:
    """Return released cells without the quotes that escape them, if they are escaped.

    They count as escaped if none of them would run and some have a quote that neither the values
    nor the labels of the original have.
    """
    columns = {column.name: column for column in original if column.role is not Role.IDENTIFIER}
    named = [name for name in columns if data.column_names.count(name) == 1]
    distinct = (_distinct(data.column(name)) for name in named)
    if any(has_formulas(cells.dictionary) for cells in distinct if cells is not None):
        return data
    quoted = {
        name: cells for name in named if (cells := _quoted_formula(data.column(name))) is not None
    }
    if all(_are_known(cells, columns[name]) for name, cells in quoted.items()):
        return data
    for name, cells in quoted.items():
        read = _unescaped(cells.dictionary).take(cells.indices)
        data = data.set_column(data.column_names.index(name), name, read)
    return data


def _quoted_formula(cells: Any) -> Any:
    """Return the distinct cells of a column if one of them is escaped, else None."""
    distinct = _distinct(cells)
    if distinct is None or not pc.any(_looks_escaped(distinct.dictionary)).as_py():
        return None
    return distinct


def _unescaped(texts: Any) -> Any:
    """Return an Arrow array of texts without the quotes that `escape_texts` adds."""
    plain = pc.utf8_slice_codeunits(texts, 1)
    bare = pc.if_else(_matches(texts, _ESCAPED), plain, texts)
    return pc.replace_substring_regex(bare, _ESCAPED_INSIDE, r"\1\2")


def _looks_escaped(texts: Any) -> Any:
    inside = pc.match_substring_regex(texts, _ESCAPED_INSIDE)
    return pc.or_(_matches(texts, _ESCAPED), pc.fill_null(inside, False))


def _are_known(cells: Any, column: Column) -> bool:
    """Return whether all texts that look escaped occur in the original as they are."""
    levels = () if column.hierarchy is None else column.hierarchy.levels
    known = {*encoding.texts(column.values), *(text for each in levels for text in each.labels)}
    looks = cells.dictionary.filter(_looks_escaped(cells.dictionary))
    return set(looks.to_pylist()) <= known


def _distinct(cells: Any) -> Any:
    """Return text cells as a dictionary array, None for cells that are not text."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if not encoding.is_text(kind):
        return None
    joined = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if isinstance(joined, pa.ChunkedArray):  # no chunks
        joined = pa.array([], kind)
    return joined if pa.types.is_dictionary(joined.type) else joined.dictionary_encode()


def _matches(texts: Any, pattern: str) -> Any:
    """Return which texts match and are not numbers; a missing text does not match."""
    found = pc.match_substring_regex(texts, pattern)
    number = pc.match_substring_regex(texts, NUMBER)
    return pc.fill_null(pc.and_not(found, number), False)


def check_order(order: str) -> None:
    """Reject an unknown order."""
    if order not in get_args(Order):
        raise InputError(f"order must be one of {', '.join(get_args(Order))}, not {order!r}")


def canonical(published: Any) -> Counts:
    """Return the positions of an Arrow table's rows in the order of their published text.

    Rows are sorted by the first column, then the next; missing values come last. Texts that are all
    numbers are sorted by value, others by the numbers in them: "[5, 9]" comes before "[10, 14]".
    Rows that are equal in all columns are interchangeable.
    """
    if not published.num_rows:
        return np.zeros(0, dtype=np.int64)
    ranks = [_ranks(published.column(name), name) for name in published.column_names]
    # lexsort sorts by its last key first
    return np.lexsort(ranks[::-1]).astype(np.int64)


def _ranks(cells: Any, name: str) -> Codes:
    """(rows,) the rank of each cell's text among those of its column."""
    if pa.types.is_nested(cells.type):
        encoded = pa.array(nested_texts(cells), pa.string()).dictionary_encode(
            null_encoding="encode"
        )
    else:
        one = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        kept = isinstance(one, pa.DictionaryArray) and not one.indices.null_count
        encoded = one if kept else encoding.combined(one, name).dictionary_encode("encode")
    ranks = rank_values(encoded.dictionary)
    found: Codes = ranks.astype(narrowest(len(ranks)))[
        encoded.indices.to_numpy(zero_copy_only=False)
    ]
    return found


def rank_values(values: Any) -> Codes:
    """(values,) the rank of each value's text; values with the same text have the same rank."""
    many = _many_texts(values)
    if many is not None:
        return _rank_many(many)
    labels = _labels(values)
    ranks = np.empty(len(labels), dtype=np.int32)
    ranks[_sorted(labels)] = np.arange(len(labels), dtype=np.int32)
    # two values with the same text look the same in the file
    first: dict[str | None, int] = {}
    same = [first.setdefault(text, place) for place, text in enumerate(labels)]
    found: Codes = ranks[same]
    return found


def _many_texts(values: Any) -> Any:
    """Return texts that are too many to be compared by their numbers, None if these are not."""
    if len(values) <= MAX_NATURAL or not encoding.is_text(values.type):
        return None
    texts = encoding.combined(values, "")
    numbers = pc.all(pc.match_substring_regex(texts, IS_NUMBER))  # missing ones do not count
    return None if numbers.as_py() in (True, None) else texts


def _rank_many(texts: Any) -> Codes:
    """(texts,) ranks by character, without an object for each text."""
    if _are_ascending(texts):
        return np.arange(len(texts), dtype=np.int32)
    encoded = texts.dictionary_encode("encode")
    ranks = _by_code_point(encoded.dictionary)
    found: Codes = ranks[encoded.indices.to_numpy(zero_copy_only=False)]
    return found


def _are_ascending(texts: Any) -> bool:
    """Return whether all texts differ and are sorted by character, at most one missing one last."""
    known = texts[:-1] if not texts[-1].is_valid else texts
    return not known.null_count and pc.all(pc.less(known[:-1], known[1:])).as_py() is not False


def _labels(values: Any) -> Sequence[str | None]:
    plain = encoding.combined(values, "")
    return encoding.texts(plain.cast(pa.string()) if pa.types.is_null(plain.type) else plain)


def _sorted(labels: Sequence[str | None]) -> Counts:
    """Return the positions of texts in order."""
    texts = pa.array(labels, pa.string())
    missing = np.array([text is None for text in labels], dtype=np.bool_)
    if pc.all(pc.match_substring_regex(texts.drop_null(), IS_NUMBER)).as_py():
        numbers = np.array([float(text or 0) for text in labels])
        plain = _by_code_point(texts)
        return np.lexsort((plain, numbers, missing)).astype(np.int64)
    if len(labels) > MAX_NATURAL:
        return np.lexsort((_by_code_point(texts), missing)).astype(np.int64)
    keys = [(text is None, _natural(text or ""), text or "") for text in labels]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _by_code_point(texts: Any) -> Codes:
    order = pc.sort_indices(texts).to_numpy(zero_copy_only=False)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def _natural(text: str) -> list[tuple[int, float, str]]:
    """Split a text so that its numbers compare by value.

    >>> sorted(["[10, 14]", "[5, 9]"], key=_natural)
    ['[5, 9]', '[10, 14]']
    """
    parts, end = [], 0
    for found in _NUMBER.finditer(text):
        parts += [(0, 0.0, text[end : found.start()]), (1, float(found[0]), "")]
        end = found.end()
    return [*parts, (0, 0.0, text[end:])]
