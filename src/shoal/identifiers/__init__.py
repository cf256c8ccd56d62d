"""Identifiers: keys, pseudonyms and other replacements of the columns that name people."""

from shoal.identifiers.coarsening import Clip, Mask, Round, Shift
from shoal.identifiers.content import Redact, count_identifiers
from shoal.identifiers.fake import Fake
from shoal.identifiers.format_preserving import FormatPreserving
from shoal.identifiers.keys import Key, join_shares, split_key
from shoal.identifiers.lookup import Lookup, Token
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Context, Drop, Replacement
from shoal.identifiers.replacements import REPLACEMENTS

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
