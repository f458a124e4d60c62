"""Many trainings of an algorithm on one tiny table, and what is seen of each released model, as codes and numbers."""
