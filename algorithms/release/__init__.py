"""Release: rows that stand in for the training rows, and classifiers that are trained on nothing else."""
