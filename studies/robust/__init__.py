"""Noise and votes against adversarial pictures: Liang (2020), chapter 4."""
