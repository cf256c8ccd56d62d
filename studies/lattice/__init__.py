"""What differential privacy costs a learner: Li (2019)."""
