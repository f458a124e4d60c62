"""How cells are run: split, fit, measure; side by side, on this machine or a cluster."""
