"""Lower bounds of the loss of every release with classes of at least k records."""
