"""Metrics: what can be measured of predictions, by name."""
