"""The report: one page for each paper, an index, and what they say of privacy."""
