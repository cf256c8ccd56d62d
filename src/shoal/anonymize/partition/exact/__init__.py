"""Optimal grouping with a proof: set partitioning by column generation, cuts and branching."""
