"""Imports shoal before pytest does, which would replace `shoal.anonymize` with the module."""

import shoal  # noqa: F401
