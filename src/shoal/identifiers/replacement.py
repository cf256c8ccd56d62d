"""The interface of replacements of identifiers, and what they are given.

Context ─ key, domain, people of the rows ─→ Replacement.publish(cells) ─→ Replaced
Coarsening.coarsen(cells) ─→ a quasi-identifier, which the guarantee covers
Drop: the column is not published, as any identifier without a replacement
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import pyarrow as pa

from shoal.errors import InputError
from shoal.identifiers.keys import Key
from shoal.support.wording import counted, option
from shoal.table.linked import Replaced

if TYPE_CHECKING:
    from shoal.identifiers.lookup import Lookup


@dataclass(frozen=True)
class Context:
    """The key of a release, the domain in which its replacements join, and the people of its rows.

    Parameters:
        key: The key, if there is one.
        domain: The recipient or project: replacements of two domains have nothing in common.
        person: (rows,) the person of each row as text, if the table names people.
        lookup: The sealed table of tokens, if there is one.
        values: Number of distinct values of the column, if its cells are replaced in batches.
    """

    key: Key | None = None
    domain: str = ""
    person: Any = field(default=None, repr=False)
    lookup: Lookup | None = None
    values: int | None = None

    def derive(self, column: str, purpose: str, *context: str) -> bytes:
        """Return the bytes that a replacement depends on.

        Raises:
            InputError: There is no key, or no domain.
        """
        if self.key is None:
            stated = option("key_file", "key.bin")
            stated = stated if stated.startswith("--") else "key=Key.read('key.bin')"
            raise InputError(
                f"column {column!r}: its replacement ({purpose}) needs a key; make one with "
                f"`shoal keys new -o key.bin` and pass it with {stated}"
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

    @property
    def links_rows(self) -> bool:
        """Whether equal cells show that rows belong to one person, with these options."""
        return self.links

    @property
    def by_cell(self) -> bool:
        """Whether the replacement of a cell depends on more than its text."""
        return False

    @property
    def type(self) -> Any:
        """The Arrow type of published cells."""
        return pa.string()

    def refuse_shared(self, column: str, shared: int) -> NoReturn:
        """Reject a column in which some replacements stand for several values.

        Parameters:
            column: The name of the column.
            shared: The number of such replacements.
        """
        raise InputError(
            f"column {column!r}: {counted(shared, 'replacement')} would stand for two people"
        )

    def publish(self, column: str, cells: Any, context: Context) -> Replaced | None:
        """Return the published form of a column, None to leave it out.

        Parameters:
            column: The name of the column.
            cells: (rows,) its cells, as an Arrow array.
            context: The key, the domain and the people of the rows.
        """
        raise NotImplementedError

    def reveal(self, column: str, cells: Any, context: Context) -> Any:
        """Return the original texts of published cells, for the holder of the key.

        Parameters:
            column: The name of the column.
            cells: (rows,) published cells, as an Arrow array.
            context: The key, the domain and the lookup table of the release.
        """
        raise InputError(f"column {column!r}: {self.name} cannot be reversed")


@dataclass(frozen=True)
class Coarsening(Replacement):
    """A replacement that shows a part of the identifier: the column becomes quasi-identifying.

    The guarantee then covers the coarser cells, and a method may generalize them further.
    """

    links: ClassVar[bool] = False

    def coarsen(self, column: str, cells: Any) -> Any:
        """Return the coarser cells.

        Parameters:
            column: The name of the column.
            cells: (rows,) its cells, as an Arrow array.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Drop(Replacement):
    """The column is left out of the release; this is the default, stated."""

    name: ClassVar[str] = "drop"
    links: ClassVar[bool] = False

    def publish(self, column: str, cells: Any, context: Context) -> None:
        """Return that nothing is published."""
