"""Runs that are given, by whatever program made them: read as a long table, and judged."""
