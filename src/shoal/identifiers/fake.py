"""Fake values: names, addresses and numbers that look real, made by Faker.

They keep software working that expects a name or a valid IBAN.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import pyarrow as pa

from shoal.errors import InputError
from shoal.identifiers.codes import distinct_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.imports import requires
from shoal.support.options import check_choice, check_flag
from shoal.support.wording import counted
from shoal.table.linked import Replaced

KINDS = (
    *("name", "first_name", "last_name", "address", "street_address", "city", "postcode"),
    *("phone_number", "email", "iban", "ssn", "company", "user_name", "ipv4"),
)


@dataclass(frozen=True)
class Fake(Replacement):
    """Values of the same kind that look real, such as names or IBANs with valid check digits.

    Parameters:
        kind: What to make: name, first_name, last_name, address, street_address, city, postcode,
            phone_number, email, iban, ssn, company, user_name or ipv4.
        locale: The country and language, such as `de_DE`.
        consistent: Make equal values from equal originals, with the key; refused if two originals
            get the same value, as joins would then mix people. Otherwise every cell is drawn at
            random, and nothing joins.
    """

    name: ClassVar[str] = "fake"
    kind: str = "name"
    locale: str = "en_US"
    consistent: bool = True

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_flag("consistent", self.consistent)

    @property
    def links_rows(self) -> bool:
        """Whether equal originals get equal values."""
        return self.consistent

    @property
    def by_cell(self) -> bool:
        """Whether every cell is drawn on its own."""
        return not self.consistent

    def refuse_shared(self, column: str, shared: int) -> NoReturn:
        """Reject fake values that stand for two originals."""
        raise InputError(
            f"column {column!r}: {counted(shared, 'fake value')} would stand for two people; add "
            "consistent: false, and publish a pseudonym for joins"
        )

    def publish(self, column: str, cells: Any, context: Context) -> Replaced:
        """Return fake cells for a column."""
        from importlib.metadata import version

        make = self._maker(column)
        indices, texts = distinct_texts(cells, column)
        if self.consistent:
            key = context.derive(column, self.name, self.kind)
            digests = [hmac.digest(key, t.encode(), hashlib.sha256) for t in texts.to_pylist()]
            seeds = [int.from_bytes(digest[:16], "big") for digest in digests]
            distinct = pa.array([make(seed) for seed in seeds], pa.string())
            shared = len(distinct) - len(distinct.unique())
            if shared:
                self.refuse_shared(column, shared)
            made = distinct.take(indices)
        else:
            blank = [cell is None for cell in indices.to_pylist()]
            drawn = [None if none else make(secrets.randbits(64)) for none in blank]
            made = pa.array(drawn, pa.string())
        scope = f"domain {context.domain!r}" if self.consistent else "drawn at random"
        return Replaced(
            column,
            made,
            links=self.links_rows,
            treatment=f"replaced by fake values ({self.kind}, {self.locale}), {scope}",
            record={
                "replace": self.name,
                "kind": self.kind,
                "locale": self.locale,
                "faker": version("faker"),
                **(context.record if self.consistent else {"consistent": False}),
            },
        )

    def _maker(self, column: str) -> Any:
        with requires("identifiers"):
            from faker import Faker
        try:
            faker = Faker(self.locale)
        except AttributeError:
            raise InputError(
                f"column {column!r}: no locale {self.locale!r}; use one such as de_DE"
            ) from None

        def make(seed: int) -> str:
            faker.seed_instance(seed)
            return str(getattr(faker, self.kind)()).replace("\n", ", ")

        return make
