"""Readings of a paper as tables and as specification curves."""
