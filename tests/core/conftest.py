"""Hypothesis without a stopwatch: a busy machine is no bug."""

from hypothesis import settings

settings.register_profile("shoal", deadline=None, max_examples=60)
settings.load_profile("shoal")
