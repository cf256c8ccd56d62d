"""Nearest neighbours: a tree over records, and groups gathered around seeds."""
