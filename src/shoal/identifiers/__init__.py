"""Identifiers: keys, pseudonyms and other replacements of the columns that name people."""

from shoal.identifiers.coarsening import Clip, Mask, Round
from shoal.identifiers.content import count_identifiers
from shoal.identifiers.drop import Drop
from shoal.identifiers.fake import Fake
from shoal.identifiers.format_preserving import FormatPreserving
from shoal.identifiers.keys import Key
from shoal.identifiers.lookup import Lookup, Token
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.redact import Redact
from shoal.identifiers.replacement import Context, Replacement
from shoal.identifiers.replacements import REPLACEMENTS
from shoal.identifiers.shares import join_shares, split_key
from shoal.identifiers.shift import Shift

__all__ = [
    "REPLACEMENTS",
    "Clip",
    "Context",
    "Drop",
    "Fake",
    "FormatPreserving",
    "Key",
    "Lookup",
    "Mask",
    "Pseudonym",
    "Redact",
    "Replacement",
    "Round",
    "Shift",
    "Token",
    "count_identifiers",
    "join_shares",
    "split_key",
]
