"""Whether metrics predict which of two releases teaches more: de Spoelberch (2020)."""
