"""Annealing: groups that records leave and enter until little more is saved."""
