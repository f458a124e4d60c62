"""Algorithms compared over data sets: ranks and leads, kinds of data sets, and which method qualifies."""
