"""A finished run as its folder holds it, all that is said of it, and what is published."""
