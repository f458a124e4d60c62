"""Kinds of claims that a paper may make: one class in one file each, found by name."""
