"""Printed numbers: what a paper prints, and the verdict on each."""
