"""Kinds of claims that are decided without runs of their own: by what is printed, and by computing."""
