"""How a file writes its cells: encoding, separator, numbers, dates, and what stands for a missing value."""
