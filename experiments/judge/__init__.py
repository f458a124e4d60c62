"""What results mean: verdicts on printed numbers and claims, and which reading of a text explains what it prints."""
