"""Lattice methods: every value of a column is published at one level of its hierarchy."""
