"""Measuring the privacy that was really paid."""
