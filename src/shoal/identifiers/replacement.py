"""What a replacement of an identifier is, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.core.publishing.replaced import Replaced
from shoal.errors import InputError
from shoal.identifiers.keys import Key
from shoal.support.wording import option


@dataclass(frozen=True)
class Secrets:
    """The key of a release and the domain in which its replacements join.

    Parameters:
        key: The key, if there is one.
        domain: The recipient or project: replacements of two domains have nothing in common.
    """

    key: Key | None = None
    domain: str = ""

    def derive(self, column: str, purpose: str, *context: str) -> bytes:
        """Return the bytes that a replacement depends on.

        Raises:
            InputError: There is no key, or no domain.
        """
        if self.key is None:
            raise InputError(
                f"column {column!r}: its replacement ({purpose}) needs a key; make one with "
                f"`shoal keys new -o key.bin` and pass it with {_key_option()}"
            )
        if not self.domain:
            raise InputError(
                f"column {column!r}: its replacement ({purpose}) needs a domain: name the "
                f"recipient or project with {option('domain')}; only releases of one domain join"
            )
        return self.key.derive(purpose, self.domain, *context)

    @property
    def record(self) -> dict[str, Any]:
        """The domain and the fingerprint of the key, as plain data."""
        assert self.key is not None
        return {"domain": self.domain, "key": self.key.fingerprint}


@dataclass(frozen=True)
class Replacement:
    """How the cells of an identifier are replaced; its fields are its options.

    Attributes:
        name: Its name in a schema.
        links: Whether equal cells show that rows belong to one person.
    """

    name: ClassVar[str] = ""
    links: ClassVar[bool] = True

    def publish(self, column: str, cells: Any, secrets: Secrets) -> Replaced:
        """Return the published form of a column.

        Parameters:
            column: The name of the column.
            cells: (rows,) its cells, as an Arrow array.
            secrets: The key and the domain.
        """
        raise NotImplementedError


def _key_option() -> str:
    named = option("key_file", "key.bin")
    return named if named.startswith("--") else "key=Key.read('key.bin')"
