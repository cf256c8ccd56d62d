"""Addresses of object stores, file systems and databases, such as s3://bucket/name.

Addresses are shown in messages and reports, so one that holds a secret is refused.
"""

from __future__ import annotations

import re
from pathlib import Path

from shoal.errors import InputError

# the part before the last colon is that of jdbc:postgresql://host; one letter is a drive
_ADDRESS = re.compile(r"\s*((?:[A-Za-z][A-Za-z0-9+.-]*:)*[A-Za-z][A-Za-z0-9+.-]+):/+")
# a password (what follows a colon, unless it is a port), or a setting such as a key or signature
_SECRET = re.compile(r"[^/@:]*:(?!\d+(/|$))[^@]*@|.*[?&;#][^/*?]*=", re.DOTALL)
DATABASE = re.compile(r"\s*postgres(?:ql)?:/{1,2}(.+)", re.DOTALL)
_PASSWORD = re.compile(
    r"[^/@]*:(?!\d+(/|$))[^@]*@|.*[?&][^=&]*(password|passwd|pwd|secret|token)[^=&]*=",
    re.IGNORECASE | re.DOTALL,
)
_OTHERS = ("postgres", "postgresql", "file")  # databases have a check, and files no credentials
# what stands before an @ there is a container or a name, elsewhere it may be a key or a token
_USERS = ("abfs", "abfss", "az", "ftp", "hdfs", "sftp", "smb", "ssh", "wasb", "wasbs", "webhdfs")


class AddressPath(type(Path())):  # type: ignore[misc]
    """A path that is an address, shown with both slashes after its scheme.

    >>> print(AddressPath("s3://bucket/visits"))
    s3://bucket/visits
    """

    def __str__(self) -> str:
        text = super().__str__()
        return address_of(text) or text


class FolderPath(AddressPath):
    """A path that was written with a slash at its end, so it means a folder."""


def address_of(path: str | Path) -> str | None:
    """Return a path as an address, None if it is an ordinary path.

    Anything that begins with a scheme and `://` is an address, also of an unknown store. A `Path`
    has lost one of the two slashes.

    Raises:
        InputError: The address holds a password, a key or a signature.

    >>> address_of(Path("s3://bucket/visits")), address_of("visits.csv"), address_of("C:/a.csv")
    ('s3://bucket/visits', None, None)
    """
    match = _ADDRESS.match(str(path))
    if match is None:
        return None
    scheme, rest = match[1], str(path)[match.end() :]
    if scheme not in _OTHERS and _holds_secret(scheme, rest):
        raise InputError(
            "leave passwords, keys and signatures out of the address; set them in the environment "
            "or in the configuration of the store"
        )
    slashes = ":///" if scheme == "file" else "://"
    return f"{scheme}{slashes}{rest}"


def _holds_secret(scheme: str, rest: str) -> bool:
    has_token = scheme.lower() not in _USERS and "@" in rest.partition("/")[0]
    return has_token or _SECRET.match(rest) is not None


def on_this_disk(path: str | Path) -> str | Path:
    """Return the path that a file:// address means; anything else stays as it is.

    >>> on_this_disk("file:///data/visits/"), on_this_disk("visits.csv")
    ('/data/visits/', 'visits.csv')
    """
    address = address_of(path)
    if address is None or not address.startswith("file://"):
        return path
    local = address.removeprefix("file://")
    return FolderPath(local) if isinstance(path, FolderPath) else local


def is_database(path: object) -> bool:
    """Return whether a source is the address of a database.

    Raises:
        InputError: The address holds a password.

    >>> is_database("postgresql://clinic@localhost/visits"), is_database("visits.csv")
    (True, False)
    """
    address = DATABASE.match(str(path))
    if address and _PASSWORD.match(address[1]):
        raise InputError(
            "leave the password out of the address: set PGPASSWORD, or keep it in ~/.pgpass"
        )
    return address is not None
