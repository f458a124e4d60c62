"""How methods are compared over data sets: scores, ranks, kinds of data, and the way from the floor to the ceiling."""
