"""Simulated annealing over groups of records."""
