"""Kinds of tables that a paper may have: one class in one file each."""
