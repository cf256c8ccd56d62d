"""Partition methods: rows are grouped, and each group is published as one class."""
