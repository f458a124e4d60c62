"""A finished run as its folder holds it, what is published of it, and whether the prose of today fits it."""
