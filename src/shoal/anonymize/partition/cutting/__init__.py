"""Mondrian's engine: boxes, and the cuts that part them."""
