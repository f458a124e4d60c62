"""Closed-form laws of the discrete mechanisms, and the worst case of each over all small neighbouring tables."""
