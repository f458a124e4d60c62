"""What there is, for who chooses: algorithms by kind, and what an algorithm or a data set is, on one screen."""
