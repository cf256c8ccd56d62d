"""Identifiers: keys, pseudonyms and other replacements of the columns that name people."""

from shoal.identifiers.keys import Key
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Replacement
from shoal.identifiers.replacements import REPLACEMENTS

__all__ = ["REPLACEMENTS", "Key", "Pseudonym", "Replacement"]
