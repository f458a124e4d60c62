"""A finished run as its folder holds it, and all that is said of it."""
