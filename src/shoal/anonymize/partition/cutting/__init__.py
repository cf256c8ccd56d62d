"""The engine of Mondrian: boxes and the cuts that divide them."""
