"""Names that become files: of tables, columns, releases and uploads, checked or made in one place.

A name that someone stated is one plain file name, or an error. A name that Shoal makes from a text
is always one. Either becomes a path in `inside` or, to be written, in `new_inside`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shoal.errors import InputError, OutputError

_MAX_BYTES = 200  # of a name in UTF-8; file systems allow 255, with all endings
_SEPARATORS = r'[/\\:*?"<>|]'  # between folders, or not possible in a name on every system
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])( *\..*)?")


def check_file_name(what: str, name: Any) -> str:
    r"""Return a name, or raise an error if it is not one plain file name on every system.

    Parameters:
        what: What has the name, for the message.
        name: The name.

    >>> check_file_name("table", "visits.2024")
    'visits.2024'
    >>> for name in ("../src/patients", "a\x00", "nul", ""):
    ...     try:
    ...         check_file_name("table", name)
    ...     except InputError as error:
    ...         print(error)
    table '../src/patients': its name becomes a file name, so it cannot contain '/'
    table 'a\x00': its name becomes a file name, so it cannot contain control characters
    table 'nul': its name becomes a file name, and this one is reserved by some systems
    table '': its name becomes a file name, so it cannot be empty
    """
    why = _reason(name)
    if why:
        raise InputError(f"{what} {name!r}: its name becomes a file name, {why}")
    return str(name)


def _reason(name: Any) -> str:
    """Return why a name is not one plain file name, "" if it is one."""
    if not isinstance(name, str):
        return "so it must be text"
    if not name:
        return "so it cannot be empty"
    if _has_control(name):
        return "so it cannot contain control characters"
    if found := re.search(_SEPARATORS, name):
        return f"so it cannot contain {found[0]!r}"
    if name.startswith((".", " ")) or name.endswith((".", " ")):
        return "so it cannot begin or end with a dot or a space"
    if _DEVICES.fullmatch(name.casefold()):
        return "and this one is reserved by some systems"
    if len(name.encode()) > _MAX_BYTES:
        return f"so it must be shorter than {_MAX_BYTES} bytes"
    return ""


def check_file_names(what: str, names: Iterable[Any]) -> None:
    """Reject names of which one is no plain file name, or two are the same file on some system.

    >>> try:
    ...     check_file_names("table", ["visits", "Visits"])
    ... except InputError as error:
    ...     print(error)
    tables 'visits' and 'Visits': become the same file on some systems; rename one
    """
    known: dict[str, str] = {}
    for name in names:
        same = _same_file(check_file_name(what, name))
        if same in known:
            raise InputError(
                f"{what}s {known[same]!r} and {name!r}: become the same file on some systems; "
                "rename one"
            )
        known[same] = name


def file_name(text: str, otherwise: str, gap: str = "_") -> str:
    """Return a plain file name without dots that is made from a text.

    Parameters:
        otherwise: The name if the text has no letter or digit.
        gap: Stands for each run of other characters.

    >>> file_name("Age (years)", "column"), file_name("../..", "column"), file_name("NUL", "column")
    ('Age_years', 'column', 'NUL_')
    """
    kept = re.sub(r"[^\w-]+", gap, text).strip(gap)[:80].encode()[:_MAX_BYTES]
    name = kept.decode(errors="ignore").strip(gap) or otherwise
    return f"{name}{gap}" if _reason(name) else name


def file_names(texts: Iterable[str], otherwise: str) -> dict[str, str]:
    """Return a file name for each text, all different on every system.

    >>> file_names(["age", "Age (years)", "AGE"], "column")
    {'age': 'age', 'Age (years)': 'Age_years', 'AGE': 'AGE_2'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for text in texts:
        stem = name = file_name(text, otherwise)
        count = 1
        while _same_file(name) in taken:
            count += 1
            name = f"{stem}_{count}"
        taken.add(_same_file(name))
        found[text] = name
    return found


def inside(folder: Path, name: Any, what: str = "file") -> Path:
    """Return the path of a file in a folder, by its plain name."""
    return folder / check_file_name(what, name)


def new_inside(folder: Path, name: Any, what: str = "file") -> Path:
    """Return the path of a file to write, which is proven to lie in the folder.

    Neither the name nor a link that is there can lead out of it.
    """
    path = inside(folder, name, what)
    expected = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(expected):
        raise OutputError(f"{path}: leads out of its folder, so it is not written; remove the link")
    return path


def below(folder: Path, path: str, what: str) -> Path:
    r"""Return the path of a file in a folder or in a folder of it; a path must not lead out of it.

    Links in the folder are followed: they were made with the folder, not by the path.

    Parameters:
        folder: The folder.
        path: The path, relative to the folder.
        what: What states the path, for the message.

    >>> below(Path("data"), "2024/visits.csv", "from").as_posix()
    'data/2024/visits.csv'
    >>> for path in ("/etc/passwd", "../visits", "C:\\visits"):
    ...     try:
    ...         below(Path("data"), path, "from")
    ...     except InputError as error:
    ...         print(error)
    from '/etc/passwd': leads out of the folder data; name a file in it
    from '../visits': leads out of the folder data; name a file in it
    from 'C:\\visits': leads out of the folder data; name a file in it
    """
    parts = re.split(r"[/\\]", path)
    if ".." in parts or not parts[0] or re.match(r"[A-Za-z]:", path) or _has_control(path):
        raise InputError(f"{what} {path!r}: leads out of the folder {folder}; name a file in it")
    return folder / path


def _has_control(text: str) -> bool:
    """Return whether a text has characters that are invisible or change its direction."""
    return any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text)


def _same_file(name: str) -> str:
    """Return a text that is equal for names that some file system takes for the same."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded)
