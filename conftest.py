"""Tests find their own helpers, and count on nobody's environment."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("quick", deadline=None)
settings.register_profile("deep", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
