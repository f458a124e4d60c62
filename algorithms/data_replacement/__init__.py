"""Data replacement (paper 5): rows that stand in for the training rows, and classifiers trained on nothing else."""
