"""Readings of an ambiguous text: the cells that each needs, and which of them explains what the paper prints."""
