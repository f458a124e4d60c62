"""Tables of results as pages of their own: a table explorer, and what changed from one to another."""
