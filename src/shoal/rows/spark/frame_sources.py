"""Frames as sources of rows in Spark: given by the user, or read from files and addresses."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.files.csv_files import BLANKS
from shoal.files.formats import Format
from shoal.files.requests import check_names
from shoal.rows.file_sources import Files, Scan, find_files
from shoal.rows.memory import Budget
from shoal.rows.spark.codes import functions
from shoal.rows.spark.sessions import CHECKED, check_zone, explained, find_session, types_of
from shoal.rows.store import Engine
from shoal.support.addresses import address_of
from shoal.support.files import temporary_folder

_TEXT = re.compile(r"\.(csv|tsv|txt)(\.gz)?$", re.IGNORECASE)
_DAMAGED = "damaged"  # a column with lines that do not have the fields of the header


@dataclass(frozen=True)
class SparkFiles:
    """Files of the machine, or an address, that Spark reads.

    name: as it was stated. master, budget: of the session.
    """

    name: Path
    master: str | None
    budget: Budget

    def __str__(self) -> str:
        return str(self._files) if self._address is None else self._address

    @property
    def _address(self) -> str | None:
        return address_of(self.name)

    @property
    def _files(self) -> Files:
        return find_files(self.name)

    @contextmanager
    def scan(self, form: Format, expected: set[str]) -> Iterator[SparkScan]:
        """Yield how to read the rows."""
        if self._address is not None:
            with self._read_address(form).scan(form, expected) as found:
                yield found
            return
        files = self._files
        with (
            files.scan(form, expected) as described,
            temporary_folder(Path(tempfile.gettempdir())) as folder,
        ):
            frame = (
                self._read_text(described, folder) if described.texts else self._read_parquet(files)
            )
            source = SparkFrame(frame, self.name, bool(described.texts), described.guesses)
            with source.scan(form, expected) as found:
                yield found

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the Spark engine."""
        return SparkFrame(scan.frame).engine(scan, folder, budget)

    def _session(self) -> Any:
        return find_session(self.master, self.budget)

    def _read_parquet(self, files: Files) -> Any:
        with explained(f"read {self.name}"):
            paths = [exact_address(path) for path in files.paths]
            return self._session().read.options(**CHECKED).parquet(*paths)

    def _read_text(self, scan: Scan, folder: Path) -> Any:
        """Return the cells of text files, read like a table in memory.

        folder: for copies in UTF-8 with even line ends, which only this process can open.
        """
        frames = []
        for number, text in enumerate(scan.texts):
            path = text.path
            if path != text.source:
                path = folder / f"{number}.csv{'.gz' if path.suffix.lower() == '.gz' else ''}"
                shutil.copyfile(text.path, path)
            options = {**text.options, "trim": text.trim}
            frames.append(self._read_csv(exact_address(path), text.names, options))
        joined = frames[0]
        for frame in frames[1:]:
            joined = joined.union(frame)
        return self._undamaged(joined)

    def _read_csv(self, path: str, names: Sequence[str], options: Mapping[str, Any]) -> Any:
        f = functions()
        if options.get("skip"):
            raise InputError(f"{self.name}: begins with empty lines; remove them for Spark")
        fields = ", ".join(f"c{j} string" for j in range(len(names)))
        reader = self._session().read.options(
            sep=options["delim"], quote=options["quote"], escape=options["quote"],
            header=options["header"], multiLine=True, nullValue="", emptyValue="",
            encoding=options.get("encoding", "UTF-8"), columnNameOfCorruptRecord=_DAMAGED,
            maxCharsPerColumn=-1, enforceSchema=True, ignoreLeadingWhiteSpace=options["trim"],
        )  # fmt: skip
        with explained(f"read {self.name}"):
            frame = reader.schema(f"{fields}, {_DAMAGED} string").csv(path)
        missing = [text for text in options["nullstr"] if text]
        cells = []
        for j, name in enumerate(names):
            cell = f.trim(f.col(f"c{j}"), f.lit(BLANKS)) if options["trim"] else f.col(f"c{j}")
            cell = f.nullif(cell, f.lit(""))
            cell = f.when(cell.isin(missing), f.lit(None)).otherwise(cell) if missing else cell
            cells.append(cell.alias(name))
        return frame.select(*cells, f.col(_DAMAGED).isNotNull().alias(_DAMAGED))

    def _undamaged(self, frame: Any) -> Any:
        """Return the frame without its column of damaged lines, of which there may be none."""
        f = functions()
        names = [f"c{j}" for j in range(len(frame.columns) - 1)]
        rows = frame.toDF(*names, _DAMAGED)
        kept = f.count_if(f.col(_DAMAGED)).alias("n"), *(f.count(f.col(name)) for name in names)
        with explained(f"read {self.name}"):
            wrong = rows.agg(*kept).toArrow().column("n")[0].as_py()
        if wrong:
            lines = "1 line has" if wrong == 1 else f"{wrong:,} lines have"
            raise InputError(f"{self.name}: {lines} another number of fields than the header")
        return rows.select(*names).toDF(*frame.columns[:-1])

    def _read_address(self, form: Format) -> SparkFrame:
        """Return the rows at an address; a text file has the stated format, or plain CSV."""
        address = self._address or ""
        if not _TEXT.search(address):
            with explained(f"read {address}"):
                frame = self._session().read.options(**CHECKED).parquet(address)
                return SparkFrame(frame, self.name)
        if form.header is False:
            raise InputError(f"{address}: needs a header with the names of the columns")
        sign = form.delimiter or ("\t" if ".tsv" in address.lower() else ",")
        options = {
            "delim": sign,
            "quote": form.quote or '"',
            "header": True,
            "encoding": form.encoding or "UTF-8",
            "nullstr": ["", *form.missing],
            "trim": bool(form.trim),
        }
        with explained(f"read {address}"):
            plain = self._session().read.options(sep=sign, quote=options["quote"], header=True)
            names = plain.csv(address).columns
        if form.trim:
            names = [name.strip(BLANKS) for name in names]
        return SparkFrame(self._undamaged(self._read_csv(address, names, options)), self.name, True)


def exact_address(path: Path) -> str:
    r"""Return an address that is only this file for Spark, which reads addresses as patterns.

    >>> exact_address(Path("/data/week[1] 50%.csv"))
    'file:///data/week\\[1\\] 50%.csv'
    """
    return "file://" + re.sub(r"([][{}*?\\])", r"\\\1", str(path.absolute()))


@dataclass(frozen=True, eq=False)
class SparkScan:
    """How rows of a frame are read; see `Scanned`."""

    name: Path
    frame: Any
    names: tuple[str, ...]
    types: Mapping[str, Any] | None
    guesses: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget.parse(None))


@dataclass(frozen=True, eq=False)
class SparkFrame:
    """The rows of a frame.

    name: how messages name it. text: whether all cells are text of a file, whose types are
    inferred. guesses: file settings that the data determines.
    """

    frame: Any
    name: Path = Path("the Spark frame")
    text: bool = False
    guesses: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "Spark frame" if self.name == Path("the Spark frame") else str(self.name)

    @contextmanager
    def scan(self, form: Format, expected: set[str]) -> Iterator[SparkScan]:
        """Yield how to read the rows."""
        if self.frame.isStreaming:
            raise InputError("a streaming frame has no end; anonymize a frame of all its rows")
        with explained("describe the frame"):
            names, types = tuple(self.frame.columns), types_of(self.frame)
        check_names(self.name, names)
        for name in expected & set(names):
            check_zone(name, types[name])
        if form.decimal not in (None, ".") and not self.text:
            raise InputError("decimal: numbers of a frame have no decimal mark; leave it out")
        known = None if self.text else types
        yield SparkScan(self.name, self.frame, names, known, self.guesses)

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the Spark engine; Spark has its own folders for working files."""
        from shoal.rows.spark.engine import SparkEngine

        return SparkEngine(replace(scan, budget=budget))
