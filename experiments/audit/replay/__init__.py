"""Replays: record the mechanism calls of one training run, play them on a neighbouring table, compare the two runs."""
