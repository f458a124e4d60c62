"""Private forests: one engine, one file for each paper's rule."""
