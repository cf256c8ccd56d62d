"""Grouping to the proven optimum: set partitioning by columns, cuts and branches."""
