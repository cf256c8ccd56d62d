"""Files of statistics packages to Arrow tables: Stata, SPSS and SAS, by pyreadstat.

Values with labels become categories in the order of their codes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.core.values.encoding import without_codes
from shoal.errors import InputError
from shoal.reading.checks import check_names
from shoal.reading.formats import Format
from shoal.support.extras import requires

ENDINGS = (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt")


def read_survey(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return a file of Stata, SPSS or SAS as an Arrow table."""
    with requires("survey"):
        import pyreadstat

    try:
        frame, meta = _reader(pyreadstat, path)(
            str(path), apply_value_formats=False, user_missing=False
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
        # the cause may quote cells
        raise InputError(f"{path}: is damaged or of an unknown version; save it again") from None
    names = [str(name) for name in frame.columns]
    check_names(path, names)
    columns = {}
    for name in names:
        cells = pa.array(frame[name], from_pandas=True)
        labels = meta.variable_value_labels.get(name)
        cells = _labelled(cells, labels) if labels else _plain(cells)
        cells = _as_text(cells) if name in keep_text else cells
        columns[name] = without_codes(cells, form.missing_of(name))
    return pa.table(columns)


def _reader(pyreadstat: Any, path: Path) -> Callable[..., Any]:
    ending = path.suffix.lower()
    readers = {
        ".dta": pyreadstat.read_dta,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
        ".por": pyreadstat.read_por,
    }
    found: Callable[..., Any] = readers.get(ending, pyreadstat.read_sav)
    if found is pyreadstat.read_sas7bdat or found is pyreadstat.read_xport:
        return lambda name, **_: found(name)  # without labels in the file
    if found is pyreadstat.read_por:
        return lambda name, apply_value_formats, user_missing: found(
            name, apply_value_formats=apply_value_formats
        )
    return found


def _labelled(cells: Any, labels: dict[Any, str]) -> Any:
    """Return coded cells as ordered categories; a code without a label keeps its number."""
    codes = sorted({*labels, *cells.unique().drop_null().to_pylist()}, key=_rank)
    texts = [labels.get(code) or _code(code) for code in codes]
    if len(set(texts)) < len(texts):  # two codes of one label stay two values
        texts = [f"{text} ({_code(code)})" for code, text in zip(codes, texts, strict=True)]
    place = {code: index for index, code in enumerate(codes)}
    indices = pa.array([place.get(cell) for cell in cells.to_pylist()], pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()), ordered=True)


def _rank(code: Any) -> tuple[bool, Any]:
    return isinstance(code, str), code


def _code(code: Any) -> str:
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _plain(cells: Any) -> Any:
    """Return numbers without a fraction as whole numbers, blank texts as missing."""
    import pyarrow.compute as pc

    if pa.types.is_floating(cells.type):
        known = cells.drop_null()
        whole = pc.all(pc.equal(pc.floor(known), known)).as_py() if len(known) else False
        small = pc.max(pc.abs(known)).as_py() if len(known) else 0
        return cells.cast(pa.int64()) if whole and small <= 2**53 else cells
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        return pc.if_else(pc.equal(pc.utf8_trim_whitespace(cells), ""), None, cells)
    return cells


def _as_text(cells: Any) -> Any:
    return cells.cast(pa.string())
