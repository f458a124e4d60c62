"""What repeats say for and against a claim, and when they say enough."""
