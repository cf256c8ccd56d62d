"""Object stores through fsspec: what Spark wrote to a staging address gets its final names."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from shoal.engines.stores import open_store
from shoal.errors import OutputError, ShoalError
from shoal.support.folders import MANIFEST


class Store:
    """A folder at an address, which does not exist yet.

    address: where the rows go. staging: where Spark writes them first.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.staging = f"{self.address}.shoal-{secrets.token_hex(8)}"
        self._files, self._target = open_store(self.address, OutputError)
        _, self._staging = open_store(self.staging, OutputError)

    def check_new(self) -> None:
        """Reject an address that exists already."""
        with self._reached():
            if self._files.exists(self._target):
                raise OutputError(f"{self.address}: exists already; choose another name")

    def parts(self) -> list[str]:
        """Return the addresses of the parts that Spark wrote, in order."""
        with self._reached():
            found = sorted(self._files.glob(f"{self._staging}/part-*.parquet"))
        return [f"{self.staging}/{path.rpartition('/')[2]}" for path in found]

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
        """Move the parts to their address; the manifest, which comes last, makes them complete."""
        self.check_new()
        try:
            with self._reached():
                self._files.makedirs(self._target, exist_ok=True)
                for number, part in enumerate(self.parts()):
                    source = f"{self._staging}/{part.rpartition('/')[2]}"
                    self._files.mv(source, f"{self._target}/part-{number:05}.parquet")
                text = json.dumps(manifest, indent=2, ensure_ascii=False)
                with self._files.open(f"{self._target}/{MANIFEST}", "wb") as handle:
                    handle.write(f"{text}\n".encode())
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
