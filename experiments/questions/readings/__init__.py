"""Readings of an ambiguous text: the cells that each needs, and how they are compared."""
