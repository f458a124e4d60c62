"""From tables to numbers: what is declared of columns, and how each cell is read by it."""
