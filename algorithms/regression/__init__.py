"""Private regression: one pass over the rows, noise on the coefficients of the objective, one repair, one minimum."""
