"""Kinds of claims that runs decide: one class in one file each, found by name."""
