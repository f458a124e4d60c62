"""Compiles the kernels of a checkout, unless that has been done: ``python -m algorithms.native``."""

from algorithms.native import is_plain

is_plain()
