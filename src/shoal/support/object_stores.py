"""Object stores and other file systems at addresses such as s3://bucket/name, through fsspec.

A store has no rename. So rows are written and checked elsewhere first, and copied when complete:

    rows in memory or on disk ─ `uploaded` ─→ temporary folder ─ copy ─→ address
    Spark ─ `staged` ─→ staging address ─ checks ─ `publish` ─→ address

The manifest of a folder is copied last: a folder without it is not complete.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from shoal.errors import InputError, MissingExtra, OutputError, ShoalError
from shoal.support.files import MANIFEST, temporary_folder
from shoal.support.progress import report

_PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "abfss": "adlfs",
    "az": "adlfs", "hdfs": "pyarrow", "http": "aiohttp", "https": "aiohttp", "sftp": "paramiko",
}  # fmt: skip
_CHUNK_BYTES = 1 << 20


def open_store(address: str, error: type[InputError] = InputError) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it.

    Parameters:
        error: The error to raise if the store cannot be used.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra("fsspec", "stores") from None
    scheme = address.partition(":")[0]
    try:
        opened: tuple[Any, str] = url_to_fs(address)
    except ImportError:
        package = _PACKAGES.get(scheme, f"the package of fsspec for {scheme}://")
        hint = f"; install it with: pip install {package}" if scheme in _PACKAGES else ""
        raise error(f"{address}: needs {package}{hint}") from None
    except ValueError:
        raise error(f"{address}: fsspec has no file system for {scheme}://") from None
    except Exception as failure:  # of any package, with any message
        raise error(
            f"{address}: cannot be reached ({type(failure).__name__}); check the address and the "
            "credentials"
        ) from None
    return opened


class Store:
    """A file or folder at an address, which does not exist yet.

    Attributes:
        address: Where the rows go.
        staging: The address beside it where Spark writes them first.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.staging = f"{self.address}.shoal-{secrets.token_hex(8)}"
        self._files, self._target = open_store(self.address, OutputError)
        _, self._staging = open_store(self.staging, OutputError)

    def check_new(self) -> None:
        """Reject an address that exists already."""
        with self._reached():
            self._files.invalidate_cache()
            if self._files.exists(self._target):
                raise OutputError(f"{self.address}: exists already; choose another name")

    @contextmanager
    def uploaded(self, ending: str | None) -> Iterator[Path]:
        """Yield a local path; what the block writes there is copied to the address afterwards.

        Nothing is copied if the block raises an error. If copying fails, what was copied is
        removed.

        Parameters:
            ending: The ending of the file that the block writes; None if it writes a folder.
        """
        self.check_new()
        with temporary_folder(Path(tempfile.gettempdir())) as folder:
            local = folder / ("rows" if ending is None else f"rows{ending}")
            if ending is None:
                local.mkdir()
            yield local
            self.check_new()
            with self._removed_on_failure():
                self._upload(local)

    def _upload(self, local: Path) -> None:
        if local.is_file():
            self._files.makedirs(self._files._parent(self._target), exist_ok=True)
            copies = [(local, self._target)]
        else:
            self._files.makedirs(self._target, exist_ok=True)
            # the manifest last
            ordered = sorted(local.iterdir(), key=lambda file: (file.name == MANIFEST, file.name))
            copies = [(file, f"{self._target}/{file.name}") for file in ordered]
        total = sum(file.stat().st_size for file, _ in copies)
        done = 0
        for file, target in copies:
            size = file.stat().st_size
            self._files.put_file(str(file), target)
            if self._files.info(target)["size"] != size:
                raise OutputError(f"{self.address}: a file arrived with another size; start again")
            done += size
            report("copy", done, total)

    def parts(self) -> list[str]:
        """Return the addresses of the parts that Spark wrote, in order."""
        with self._reached():
            paths = sorted(self._files.glob(f"{self._staging}/part-*.parquet"))
        return [f"{self.staging}/{path.rpartition('/')[2]}" for path in paths]

    @contextmanager
    def staged(self) -> Iterator[None]:
        """Remove the staging address after the block, whatever happens."""
        self.check_new()
        try:
            yield
        finally:
            with suppress(Exception):
                if self._files.exists(self._staging):
                    self._files.rm(self._staging, recursive=True)

    def publish(self, manifest: dict[str, Any]) -> None:
        """Move the parts to their address; the manifest, written last, declares them complete."""
        self.check_new()
        with self._removed_on_failure():
            self._files.makedirs(self._target, exist_ok=True)
            for number, part in enumerate(self.parts()):
                source = f"{self._staging}/{part.rpartition('/')[2]}"
                self._files.mv(source, f"{self._target}/part-{number:05}.parquet")
            text = json.dumps(manifest, indent=2, ensure_ascii=False)
            with self._files.open(f"{self._target}/{MANIFEST}", "wb") as handle:
                handle.write(f"{text}\n".encode())

    @contextmanager
    def _removed_on_failure(self) -> Iterator[None]:
        """Remove the target if the block fails or is interrupted."""
        try:
            with self._reached():
                yield
        except BaseException:
            with suppress(Exception):
                self._files.rm(self._target, recursive=True)
            raise

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except ShoalError:
            raise
        except Exception as error:  # of any package, with any message
            raise OutputError(
                f"{self.address}: cannot be written ({type(error).__name__}); check the address "
                "and the credentials"
            ) from None


def stored_digests(address: str) -> Sequence[tuple[str, int, str]]:
    """Return the name, size and SHA-256 of each file at an address, in order of name."""
    files, path = open_store(address)
    try:
        files.invalidate_cache()
        listed = [path] if files.isfile(path) else sorted(files.find(path))
        return [_digest(files, each) for each in listed]
    except Exception as error:  # of any package, with any message
        raise InputError(
            f"{address}: cannot be read ({type(error).__name__}); check the address and the "
            "credentials"
        ) from None


def _digest(files: Any, path: str) -> tuple[str, int, str]:
    sha256, size = hashlib.sha256(), 0
    with files.open(path, "rb") as handle:
        while chunk := handle.read(_CHUNK_BYTES):
            sha256.update(chunk)
            size += len(chunk)
    return path.rpartition("/")[2], size, sha256.hexdigest()
