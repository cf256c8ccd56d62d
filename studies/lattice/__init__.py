"""What differential privacy costs those who learn: Li (2019)."""
