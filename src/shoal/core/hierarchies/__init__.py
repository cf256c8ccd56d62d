"""Hierarchies: nested groupings of values, and recipes that build them."""
